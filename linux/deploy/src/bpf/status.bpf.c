// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
/* State of sockets, for `status`. */
#include "flow.h"
#include "laws/law.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* First members of each struct sender. */
struct beginning { struct window window; struct marks marks; };

struct connection { char name[16]; __u64 cwnd, alpha; struct flow flow; __u64 socket; };

/* `chosen` is 1 if an application or a program has set the congestion control of the socket. */
struct listener { char name[16]; __u64 port, inode, chosen; };

struct moved { char name[16]; __u64 listens, failed; };

/* Every open connection with one of our congestion controls, in all network namespaces. */
SEC("iter/bpf_sk_storage_map")
int connections(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	struct flow *flow = ctx->value;
	struct inet_connection_sock *icsk = (void *)sk;
	struct connection connection = {};
	struct beginning state;

	if (!sk || (sk->__sk_common.skc_state != TCP_ESTABLISHED && sk->__sk_common.skc_state != TCP_CLOSE_WAIT))
		return 0;
	BPF_CORE_READ_STR_INTO(&connection.name, icsk, icsk_ca_ops, name);
	bpf_core_read(&state, sizeof(state), &icsk->icsk_ca_priv);
	connection.cwnd = state.window.cwnd;
	connection.alpha = state.marks.alpha;
	if (flow)
		connection.flow = *flow;
	connection.socket = (unsigned long)sk;
	bpf_seq_write(ctx->meta->seq, &connection, sizeof(connection));
	return 0;
}

/* Every listening socket of the reader's network namespace. */
SEC("iter/tcp")
int listeners(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct inet_connection_sock *icsk = (void *)sk;
	struct listener listener = {};
	struct socket_alloc *file;

	if (!sk || sk->skc_state != TCP_LISTEN)
		return 0;
	BPF_CORE_READ_STR_INTO(&listener.name, icsk, icsk_ca_ops, name);
	listener.port = sk->skc_num;
	file = (void *)BPF_CORE_READ((struct sock *)sk, sk_socket);
	listener.chosen = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_setsockopt);
	listener.inode = file ? BPF_CORE_READ(file, vfs_inode.i_ino) : 0;
	bpf_seq_write(ctx->meta->seq, &listener, sizeof(listener));
	return 0;
}

/* Set by the loader: sockets whose congestion control has a name with the first `length` bytes of `from` get `to`. */
const volatile struct { char from[NAME_MAX], to[NAME_MAX]; __u64 length; } move SEC(".rodata.move");

/* Gives these sockets of the reader's network namespace the other congestion control. */
SEC("iter/tcp")
int moved(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;
	struct moved moved = {};
	struct tcp_sock *tp;
	char to[NAME_MAX];

	if (!sk)
		return 0;
	moved.listens = sk->skc_state == TCP_LISTEN;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	BPF_CORE_READ_STR_INTO(&moved.name, tp, inet_conn.icsk_ca_ops, name);
	for (__u32 i = 0; i < NAME_MAX; i++) {
		if (i < move.length && moved.name[i] != move.from[i])
			return 0;
		to[i] = move.to[i];
	}
	moved.failed = bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, to, sizeof(to)) != 0;
	bpf_seq_write(ctx->meta->seq, &moved, sizeof(moved));
	return 0;
}
