// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
/* Data about flows that applications state and read: the options of include/shortflow.h. */
#include "maps.h"
#include "laws/law.h"
#include "../../include/shortflow.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { REFUSE = 0, GO_ON = 1, EINVAL = 22, ENOTSUP = 95, ENOMEM = 12 };

static int refuse(int error)
{
	bpf_set_retval(-error);
	return REFUSE;
}

/*
 * Passes on an option of the kernel. A program sees at most one page of the value, and older kernels refuse a
 * longer value (EFAULT). With a length of 0, they take the application's own value.
 */
static int not_ours(struct bpf_sockopt *ctx)
{
	if (ctx->optval_end - ctx->optval < ctx->optlen)
		ctx->optlen = 0;
	return GO_ON;
}

SEC("cgroup/setsockopt")
int setsockopt(struct bpf_sockopt *ctx)
{
	__u64 *value = ctx->optval;
	struct bpf_tcp_sock *tp;
	struct flow none = {}, *flow;

	if (ctx->level != SOL_SHORTFLOW)
		return not_ours(ctx);
	if ((void *)(value + 1) > ctx->optval_end || ctx->optlen != sizeof(*value))
		return refuse(EINVAL);
	if (!ctx->sk)
		return refuse(ENOTSUP);
	tp = bpf_tcp_sock(ctx->sk);
	if (!tp)
		return refuse(ENOTSUP);
	flow = bpf_sk_storage_get(&flows, ctx->sk, &none, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return refuse(ENOMEM);
	switch (ctx->optname) {
	case SHORTFLOW_SIZE:
		flow->start = tp->bytes_acked + (tp->snd_nxt - tp->snd_una);
		flow->size = *value;
		break;
	case SHORTFLOW_DEADLINE_NS:
		if (*value && ctx->sk->state == TCP_LISTEN) /* the deadline would pass before connections come */
			return refuse(EINVAL);
		flow->deadline_ns = *value ? bpf_ktime_get_ns() + *value : 0;
		break;
	case SHORTFLOW_CLASS:
		if (*value > SHORTFLOW_LONG)
			return refuse(EINVAL);
		flow->role = *value;
		break;
	default:
		return refuse(EINVAL);
	}
	ctx->optlen = -1; /* the kernel has no such option */
	return GO_ON;
}

SEC("cgroup/getsockopt")
int getsockopt(struct bpf_sockopt *ctx)
{
	__u64 *value = ctx->optval, now = bpf_ktime_get_ns();
	struct flow none = {}, *flow;

	if (ctx->level != SOL_SHORTFLOW)
		return not_ours(ctx);
	if ((void *)(value + 1) > ctx->optval_end)
		return refuse(EINVAL);
	if (!ctx->sk || !bpf_tcp_sock(ctx->sk))
		return refuse(ENOTSUP);
	flow = bpf_sk_storage_get(&flows, ctx->sk, 0, 0);
	if (!flow)
		flow = &none;
	switch (ctx->optname) {
	case SHORTFLOW_SIZE:
		*value = flow->size;
		break;
	case SHORTFLOW_DEADLINE_NS:
		*value = flow->deadline_ns ? at_least(flow->deadline_ns, now + 1) - now : 0;
		break;
	case SHORTFLOW_CLASS:
		*value = flow->role;
		break;
	default:
		return refuse(EINVAL);
	}
	ctx->optlen = sizeof(*value);
	bpf_set_retval(0); /* the kernel, which has no such option, was asked first */
	return GO_ON;
}
