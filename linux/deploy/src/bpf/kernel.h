/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* The kernel's types and constants that the programs read. libbpf relocates offsets when it loads a program. */
#pragma once
#include <linux/bpf.h>
#include <linux/types.h>
#include <stdbool.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct tcp_congestion_ops;
struct netns_ipv4 {
	const struct tcp_congestion_ops *tcp_congestion_control;
	__u8 sysctl_tcp_slow_start_after_idle;
};
struct ns_common { unsigned int inum; };
struct net {
	struct ns_common ns;
	struct netns_ipv4 ipv4;
};
struct in6_addr { union { __be32 u6_addr32[4]; } in6_u; };
struct sock_common {
	__be32 skc_daddr;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
	__be16 skc_dport;
	__u16 skc_num;
	__u8 skc_state;
	struct { struct net *net; } skc_net;
};
struct net_device { char name[16]; };
struct dst_ops { unsigned short family; };
struct dst_entry {
	struct net_device *dev;
	struct dst_ops *ops;
	unsigned long _metrics;
};
struct socket {};
struct inode { unsigned long i_ino; };
struct socket_alloc { struct inode vfs_inode; };
struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
	struct dst_entry *sk_dst_cache;
	__u32 sk_mark;
	unsigned long sk_pacing_rate, sk_max_pacing_rate;
	__u32 sk_pacing_status;
};
struct inet_sock { struct sock sk; };
struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u8 icsk_ca_state : 5;
	__u8 icsk_ca_setsockopt : 1;
	__u32 icsk_rto;
	struct { __u8 pending; } icsk_ack;
	__u64 icsk_ca_priv[13];
};
struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 mss_cache, snd_cwnd, snd_cwnd_clamp, snd_ssthresh, packets_out, max_packets_out, rcv_nxt, rcv_wup, snd_nxt, snd_una, srtt_us;
	__u32 sacked_out, lost_out, retrans_out, lost, delivered, delivered_ce, lsndtime;
	__u64 bytes_acked;
	__u8 ecn_flags;
	__u8 is_cwnd_limited : 1;
};
struct rate_sample;
struct ack_sample { __u32 pkts_acked; };

struct seq_file;
struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	void *value;
};
struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};
#pragma clang attribute pop

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *);
	void (*set_state)(struct sock *, __u8);
	void (*cwnd_event)(struct sock *, int);
	void (*cong_control)(struct sock *, __u32, int, const struct rate_sample *);
	__u32 (*undo_cwnd)(struct sock *);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *);
	void (*cong_avoid)(struct sock *, __u32, __u32);
	void (*in_ack_event)(struct sock *, __u32);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	void (*cwnd_event_tx_start)(struct sock *);
};

enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECV = 3, TCP_CLOSE_WAIT = 8, TCP_LISTEN = 10 };
enum { AF_INET = 2 };
/* `TCP_CA_NAME_MAX`. */
enum { NAME_MAX = 16 };
enum { SOL_SOCKET = 1, SO_MARK = 36, SOL_TCP = 6, TCP_CONGESTION = 13 };
/* For the metrics of a route: flags in the lowest bits of the pointer to the metrics, and the index of initcwnd. */
enum { METRICS_FLAGS = 3, METRIC_INITCWND = 10 };
enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
/* Phases of loss recovery; an event of a sender, and two events of a receiver. */
enum { CA_OPEN, CA_DISORDER, CA_CWR, CA_RECOVERY, CA_LOSS };
enum { EVENT_SENDS_AGAIN = 0, EVENT_NO_CE = 4, EVENT_CE = 5 };
/* Bits of icsk_ack.pending: one of the kernel, and one that the kernel does not use. Each ACK clears all bits. */
enum { ACK_NOW = 16, ACK_OURS = 128 };
/* Bits of tcp_sock.ecn_flags: ECN agreed, by RFC 3168 or (in kernels of 2026) AccECN. Bits of tcp_congestion_ops.flags. */
enum { ECN_AGREED = 1 | 16, ECN_DEMAND_CWR = 4 };
enum { NON_RESTRICTED = 1, NEEDS_ECN = 2 };
