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

SEC("sockops")
int sock_ops(struct bpf_sock_ops *ctx)
{
	char name[NAME];

	if (choice.stage == BPF_SOCK_OPS_STATE_CB && ctx->op != BPF_SOCK_OPS_STATE_CB)
		bpf_sock_ops_cb_flags_set(ctx, BPF_SOCK_OPS_STATE_CB_FLAG);
	if (ctx->op == choice.stage && (ctx->op != BPF_SOCK_OPS_STATE_CB || ctx->args[1] == choice.state) &&
	    is_named(ctx->local_port, name))
		bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	return ALLOW;
}

SEC("cgroup/connect4")
int connect4(struct bpf_sock_addr *ctx)
{
	char name[NAME];

	if (is_named(bpf_ntohs(ctx->user_port) - PEER, name))
		bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	return ALLOW;
}

SEC("cgroup/bind4")
int bind4(struct bpf_sock_addr *ctx)
{
	char name[NAME];

	if (is_named(bpf_ntohs(ctx->user_port), name))
		bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, name, sizeof(name));
	return ALLOW;
}
