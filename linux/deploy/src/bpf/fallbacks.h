/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* Notes of connections without ECN, by the congestion control that they run and by the host at the other end. */
/* Connections that asked for `from` and run `to`; both are the same if the kernel refuses every other one. */
struct fallback { char from[NAME_MAX], to[NAME_MAX]; };
/* The number of these connections, and the address of the other end of the last one. */
struct fallen { __u64 connections; __be32 peer[4]; };

/* Connections since the load that asked for sf_* but have no ECN; programs/fallbacks.rs. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct fallback);
	__type(value, struct fallen);
} fallbacks SEC(".maps");

/* Hosts whose last connection had no ECN, and the time of this connection; programs/fallbacks.rs. */
struct other_end { char from[NAME_MAX]; __u64 namespace; __be32 peer[4]; };
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, struct other_end);
	__type(value, __u64);
} one_sided SEC(".maps");

INLINE void write_peer(struct sock *sk, __be32 peer[4])
{
	if (sk->__sk_common.skc_family == AF_INET) {
		peer[0] = peer[1] = 0;
		peer[2] = bpf_htonl(0xffff);
		peer[3] = sk->__sk_common.skc_daddr;
	} else {
		bpf_core_read(peer, 4 * sizeof(*peer), &sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32);
	}
}

/* Remembers that the other end of this connection did not agree to ECN, or forgets it. */
static __noinline int note_other_end(struct sock *sk, _Bool is_lacking)
{
	struct other_end end = { .from = "sf_" TEXT(LAW), .namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum) };
	__u64 now = bpf_ktime_get_ns();

	write_peer(sk, end.peer);
	if (is_lacking)
		bpf_map_update_elem(&one_sided, &end, &now, BPF_ANY);
	else
		bpf_map_delete_elem(&one_sided, &end);
	return 0;
}

INLINE void count_fallback(struct sock *sk, const char *to)
{
	struct fallback key = { .from = "sf_" TEXT(LAW) };
	struct fallen none = {}, *fallen;

	note_other_end(sk, 1);
	__builtin_memcpy(key.to, to, sizeof(key.to));
	bpf_map_update_elem(&fallbacks, &key, &none, BPF_NOEXIST);
	fallen = bpf_map_lookup_elem(&fallbacks, &key);
	if (!fallen)
		return;
	__sync_fetch_and_add(&fallen->connections, 1);
	write_peer(sk, fallen->peer);
}
