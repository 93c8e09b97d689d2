// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
/*
 * Chooses the congestion control of connections in a cgroup by their local port, at a stage that the loader sets.
 * The ports from FIRST_PORT on stand for `names`; the ports of the other ends are larger by PEER. Only for a test.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { FIRST_PORT = 5001, PEER = 100, NAMES = 6, NAME = 16, ALLOW = 1 };

const volatile struct {
	__u64 stage;		/* BPF_SOCK_OPS_* */
	__u64 state;		/* the new state, for BPF_SOCK_OPS_STATE_CB */
	char names[NAMES][NAME];
} choice SEC(".rodata.choice");

/* Copies the name that `port` stands for to `name`; false if there is none. */
static __always_inline _Bool is_named(__u32 port, char name[NAME])
{
	__u32 index = port - FIRST_PORT;

	if (index >= NAMES)
		return 0;
	for (__u32 i = 0; i < NAME; i++)
		name[i] = choice.names[index][i];
	return 1;
}

/* The flag without which the kernel does not call the program at `stage`; 0 if it always does. */
static __always_inline int flag_of(__u64 stage)
{
	switch (stage) {
	case BPF_SOCK_OPS_RTO_CB: return BPF_SOCK_OPS_RTO_CB_FLAG;
	case BPF_SOCK_OPS_RETRANS_CB: return BPF_SOCK_OPS_RETRANS_CB_FLAG;
	case BPF_SOCK_OPS_STATE_CB: return BPF_SOCK_OPS_STATE_CB_FLAG;
	case BPF_SOCK_OPS_RTT_CB: return BPF_SOCK_OPS_RTT_CB_FLAG;
	default: return 0;
	}
}

/* Chooses once: stages with a flag may come again. */
SEC("sockops")
int sock_ops(struct bpf_sock_ops *ctx)
{
	int flag = flag_of(choice.stage);
	char name[NAME];

	/* An accepted socket takes the flags over from its listener. */
	if (flag && (ctx->op == BPF_SOCK_OPS_TCP_CONNECT_CB || ctx->op == BPF_SOCK_OPS_TCP_LISTEN_CB))
		bpf_sock_ops_cb_flags_set(ctx, flag);
	if (ctx->op == choice.stage && (ctx->op != BPF_SOCK_OPS_STATE_CB || ctx->args[1] == choice.state) &&
	    is_named(ctx->local_port, name)) {
		bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
		bpf_sock_ops_cb_flags_set(ctx, 0);
	}
	return ALLOW;
}

static __always_inline int chosen(struct bpf_sock_addr *ctx, __u32 port)
{
	char name[NAME];

	if (is_named(port, name))
		bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	return ALLOW;
}

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *ctx)
{
	return chosen(ctx, bpf_ntohs(ctx->user_port) - PEER);
}

SEC("cgroup/connect6")
int connect6(struct bpf_sock_addr *ctx)
{
	return chosen(ctx, bpf_ntohs(ctx->user_port) - PEER);
}

SEC("cgroup/bind4")
int bind4(struct bpf_sock_addr *ctx)
{
	return chosen(ctx, bpf_ntohs(ctx->user_port));
}

SEC("cgroup/bind6")
int bind6(struct bpf_sock_addr *ctx)
{
	return chosen(ctx, bpf_ntohs(ctx->user_port));
}
