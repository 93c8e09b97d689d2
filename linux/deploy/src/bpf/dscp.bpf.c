// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
/* Writes its priority into each TCP packet that leaves a device; crates/sim/src/host/priority.rs defines priorities. */
#include "maps.h"
#include "laws/priority.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { CONTINUE = -1, ETHERNET = 14, IP4 = 0x0800, IP6 = 0x86dd, TCP = 6 };
/* The numbers of the last two rules are classes, which packets carry unchanged. */
enum { BY_SIZE, BY_REMAINING, BY_SENT, BY_DEADLINE, BY_CLASS, BY_LEVELS };
#define CLASS_LAST 7U

/* Set by the loader: the rule, and for BY_LEVELS the thresholds in bytes sent, rising, NEVER in unused places. */
const volatile struct { __u64 by, thresholds[CLASS_LAST]; } rule SEC(".rodata.rule");

/* The number of thresholds that a flow has reached (PIAS). */
INLINE __u64 level(__u64 sent)
{
	__u64 reached = 0;

#pragma unroll
	for (__u32 i = 0; i < CLASS_LAST; i++)
		reached += sent >= rule.thresholds[i];
	return reached;
}

/* The priority number of the packet's flow under the rule. */
INLINE __u64 number(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk ? bpf_sk_fullsock(skb->sk) : 0;
	struct bpf_tcp_sock *tp = sk ? bpf_tcp_sock(sk) : 0;
	struct flow none = {}, *flow;
	__u64 sent;

	if (!tp)
		return NEVER;
	flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	if (!flow)
		flow = &none;
	sent = tp->bytes_acked + (tp->snd_nxt - tp->snd_una);
	sent = at_least(sent, flow->start) - flow->start;
	switch (rule.by) {
	case BY_SENT:
		return sent;
	case BY_LEVELS:
		return level(sent);
	case BY_CLASS:
		return flow->size ? priority_dscp(flow->size, LOWEST_BYTES) / 8 : NEVER;
	case BY_SIZE:
		return flow->size ? flow->size : NEVER;
	case BY_REMAINING:
		return flow->size ? at_least(flow->start + flow->size, tp->bytes_acked) - tp->bytes_acked : NEVER;
	case BY_DEADLINE:
		if (flow->deadline_ns) {
			__u64 now = bpf_ktime_get_ns();

			return at_least(flow->deadline_ns, now) - now;
		}
	}
	return NEVER;
}

/* True if payload follows the TCP header at `at`. */
INLINE _Bool has_payload(struct __sk_buff *skb, __u32 at)
{
	__u8 offset = 0;

	bpf_skb_load_bytes(skb, at + 12, &offset, sizeof(offset));
	return skb->len > at + (offset >> 4) * 4;
}

INLINE __u32 dscp_of(struct __sk_buff *skb)
{
	__u64 value = number(skb);

	if (rule.by >= BY_CLASS)
		return at_most(value, CLASS_LAST);
	return priority_dscp(value, rule.by == BY_DEADLINE ? LOWEST_NS : LOWEST_BYTES);
}

INLINE __u32 label_of(struct __sk_buff *skb)
{
	__u64 value = number(skb);

	return rule.by >= BY_CLASS ? at_most(value, CLASS_LAST) : priority_label(value);
}

INLINE void mark_ipv4(struct __sk_buff *skb)
{
	__u8 header[20];
	__be16 before, after;
	__u32 dscp = 0;

	if (bpf_skb_load_bytes(skb, ETHERNET, header, sizeof(header)) || header[9] != TCP)
		return;
	if (has_payload(skb, ETHERNET + (header[0] & 15) * 4))
		dscp = dscp_of(skb);
	before = *(__be16 *)header;
	header[1] = dscp << 2 | (header[1] & 3);
	after = *(__be16 *)header;
	if (before == after)
		return;
	bpf_l3_csum_replace(skb, ETHERNET + 10, before, after, sizeof(after));
	bpf_skb_store_bytes(skb, ETHERNET, header, 2, 0);
}

INLINE void mark_ipv6(struct __sk_buff *skb)
{
	__u8 header[8];
	__u32 label = 0;

	if (bpf_skb_load_bytes(skb, ETHERNET, header, sizeof(header)) || header[6] != TCP)
		return;
	if (has_payload(skb, ETHERNET + 40))
		label = label_of(skb);
	header[1] = (header[1] & 0xf0) | label >> 16;
	header[2] = label >> 8;
	header[3] = label;
	bpf_skb_store_bytes(skb, ETHERNET, header, 4, 0);
}

SEC("tc")
int dscp(struct __sk_buff *skb)
{
	if (skb->protocol == bpf_htons(IP4))
		mark_ipv4(skb);
	else if (skb->protocol == bpf_htons(IP6))
		mark_ipv6(skb);
	return CONTINUE;
}
