// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
/* The kernel's CUBIC, called through eBPF programs, so that the kernel measures it like our laws. Only for a test. */
#include "kernel.h"

enum tcp_ca_event { FIRST };

extern void cubictcp_init(struct sock *sk) __ksym;
extern __u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym;
extern void cubictcp_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern void cubictcp_state(struct sock *sk, __u8 phase) __ksym;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define HOOK(result, name, args...) SEC("struct_ops") result BPF_PROG(name, args)

HOOK(void, cubic_start, struct sock *sk) { cubictcp_init(sk); }
HOOK(__u32, cubic_ssthresh, struct sock *sk) { return cubictcp_recalc_ssthresh(sk); }
HOOK(void, cubic_grow, struct sock *sk, __u32 ack, __u32 acked) { cubictcp_cong_avoid(sk, ack, acked); }
HOOK(void, cubic_phase, struct sock *sk, __u8 phase) { cubictcp_state(sk, phase); }
HOOK(void, cubic_event, struct sock *sk, int event) { cubictcp_cwnd_event(sk, (enum tcp_ca_event)event); }
HOOK(void, cubic_acked, struct sock *sk, const struct ack_sample *sample) { cubictcp_acked(sk, sample); }
HOOK(__u32, cubic_undo, struct sock *sk) { return tcp_reno_undo_cwnd(sk); }
/* Measures the cost of an empty call for each ACK. */
HOOK(void, cubic_nothing, struct sock *sk, __u32 flags) {}

SEC(".struct_ops.link")
struct tcp_congestion_ops measured_cubic = {
	.init = (void *)cubic_start, .ssthresh = (void *)cubic_ssthresh, .cong_avoid = (void *)cubic_grow,
	.set_state = (void *)cubic_phase, .cwnd_event = (void *)cubic_event, .pkts_acked = (void *)cubic_acked,
	.undo_cwnd = (void *)cubic_undo, .in_ack_event = (void *)cubic_nothing, .flags = NON_RESTRICTED,
	.name = "measured_cubic",
};
