// SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
/*
 * A congestion control with the window law LAW of the header HEADER, both set by build.rs. The kernel detects losses
 * and retransmits. The program keeps the window itself and writes it to the socket on every ACK, because the kernel
 * changes the socket's window during recovery (proportional rate reduction, undo).
 */
#include HEADER
#include "maps.h"

/* The same values as in programs/segments.rs. */
enum { SIZES_MOST = 7, MARK_OF_SIZES = 0x53460000 };

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define TEXT_OF(a) #a
#define TEXT(a) TEXT_OF(a)
#define HOOK(result, name, args...) SEC("struct_ops") result BPF_PROG(name, args)
#define MY(name) JOIN(LAW, name)

#include "fallbacks.h"

/*
 * Shortens the receiver's delay of ACKs. With the kernel's default of 40 ms, a sender with a window below two segments
 * would wait for this delay in every round trip. The kernel refuses less than two ticks of its timer, which ticks
 * 1000, 250 or 100 times a second.
 */
INLINE void hurry_acks(struct sock *sk)
{
	int us = 2000;

	if (!bpf_setsockopt(sk, SOL_TCP, TCP_BPF_DELACK_MAX, &us, sizeof(us)))
		return;
	us = 8000;
	if (!bpf_setsockopt(sk, SOL_TCP, TCP_BPF_DELACK_MAX, &us, sizeof(us)))
		return;
	us = 20000;
	bpf_setsockopt(sk, SOL_TCP, TCP_BPF_DELACK_MAX, &us, sizeof(us)); /* if this fails too, the default stays */
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set by the loader, in the order of its sections: the text that the user typed, then its values in fixed point. */
const volatile struct config {
	char text[256];
	__u64 needs_ecn;
	__u64 sizes;		/* number of sizes below a full segment for which there are routes */
	__u64 device[2];	/* name of the device of these routes */
	struct MY(_params) law;
} config SEC(".rodata.config");

/* Roles by port, for applications that state no role. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u16);
	__type(value, __u64);
} ports SEC(".maps");

/* Earlier defaults: of network namespaces by their numbers, and of the host at number 0; see programs/defaults.rs. */
struct defaults {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, __u64);
	__type(value, char[NAME_MAX]);
};
struct defaults defaults SEC(".maps"), host SEC(".maps");

/* Progress of recovery. BEGINS: it has just begun. ADVANCES: the last ACK repaired something and showed no new loss. */
enum repair { STALLS, ADVANCES, BEGINS };

/* status.bpf.c reads the first two members. */
struct sender {
	struct window window;
	struct MY(_state) law;
	struct window prior;		/* before the loss that recovery repairs */
	__u32 snd_una, delivered_ce;	/* at the last ACK */
	__u32 cwr_end;			/* no further decrease for ECN until this byte is acknowledged */
	__u32 prior_rcv_nxt;
	__u32 delivered;		/* at the last ACK */
	__u32 lost;			/* total at the last ACK */
	__u32 pipe;			/* half segments that recovery leaves in the network */
	__u8 ce, is_loss;
	__u8 is_probed;			/* the phase became CWR since the last ACK was seen */
	__u8 has_paced;			/* the kernel paces because publish() said so */
	__u8 repair;			/* enum repair */
	__u8 size;			/* segments have 2^-size of the full segment */
	__u16 initial;			/* smallest window after a pause, in segments */
	__u16 full;			/* bytes of the full segment */
};
_Static_assert(sizeof(struct sender) <= 104, "the state fits into icsk_ca_priv");

INLINE struct sender *sender_of(struct sock *sk)
{
	return (void *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* Prevents the compiler from folding in values that the loader has not set yet. */
INLINE const struct MY(_params) *params(void)
{
	const struct MY(_params) *p = (const void *)&config.law;

	barrier_var(p);
	return p;
}

INLINE _Bool has_started(const struct sender *s) { return s->window.cwnd; }

INLINE __u32 segments_of(__u64 window, __u32 low) { return clamp64(window >> 24, low, 1 << 20); }

INLINE __u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/*
 * The window in recovery, in segments. The first retransmission leaves at once. After that, one segment leaves for
 * every two that arrive, until cwnd is reached (RFC 9937 with a factor of 1/2). If fewer segments than cwnd are in
 * flight, the sender has lost more than its decrease. As many segments then leave as arrived, so that no burst follows
 * the loss. One more may leave at first, and after each ACK that repairs something and shows no new loss.
 */
INLINE __u32 recovering(struct tcp_sock *tp, struct sender *s, __u32 cwnd)
{
	__u32 arrived = tp->delivered - s->delivered;

	s->pipe = at_least(s->pipe, arrived) - arrived;
	return clamp64(at_least(cwnd, s->pipe / 2), 1, in_flight(tp) + arrived + (s->repair != STALLS));
}

/* Bytes of the segments that the window counts. */
INLINE __u32 full_segment(struct tcp_sock *tp, const struct sender *s)
{
	return clamp64(tp->mss_cache, config.sizes ? at_least(s->full, 1) : 1, 0xffff);
}

/*
 * Eq. 9 of FaST: with a window below one segment, segments have the size of the window, here rounded to powers of two.
 * Linux takes the size from the route, and the route from the mark (programs/segments.rs). Linux learns a new size when
 * a packet leaves by the new route. If segments shrink, a bare ACK is sent first; otherwise the next segment would leave
 * as IP fragments. If segments grow, one segment leaves with the old size. The pace of publish() compensates for this
 * segment and for the rounding. A connection that uses another device, IPv6 or a mark of the application keeps whole
 * segments.
 */
INLINE _Bool has_routes(struct sock *sk)
{
	__u64 name[2] = {};

	BPF_CORE_READ_STR_INTO(&name, sk, sk_dst_cache, dev, name);
	return name[0] == config.device[0] && name[1] == config.device[1] &&
	       BPF_CORE_READ(sk, sk_dst_cache, ops, family) == AF_INET;
}

INLINE void fit_segments(struct sock *sk, struct tcp_sock *tp, struct sender *s)
{
	__u8 size = 0;
	__u32 mark;

	s->full = full_segment(tp, s);
	for (__u8 i = 1; i <= SIZES_MOST; i++)
		size += i <= config.sizes && s->window.cwnd <= SEGMENT >> i;
	mark = s->size ? MARK_OF_SIZES + s->size : 0;
	if (sk->sk_mark != mark) { /* a mark of the application */
		s->size = 0;
		return;
	}
	if (!BPF_CORE_READ(sk, sk_dst_cache)) /* no packet has left by the new route yet */
		return;
	if (size && !has_routes(sk))
		size = 0;
	mark = size ? MARK_OF_SIZES + size : 0;
	if (size == s->size || bpf_setsockopt(sk, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)))
		return;
	if (size > s->size)
		bpf_tcp_send_ack(tp, tp->rcv_nxt);
	s->size = size;
}

/* True if the network namespace shrinks windows after a pause (RFC 2861). */
INLINE _Bool shrinks_idle(struct sock *sk)
{
	return sk->__sk_common.skc_net.net->ipv4.sysctl_tcp_slow_start_after_idle;
}

INLINE __u32 within_clamp(struct tcp_sock *tp, __u32 cwnd) { return at_least(at_most(cwnd, tp->snd_cwnd_clamp), 1); }

/* Writes the window to the socket. A window below one segment becomes a pace: segments are sent further apart. */
static __noinline void publish(struct tcp_sock *tp, struct sender *s, __u8 phase)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;
	__u64 rtt = tp->srtt_us >> 3, bytes;
	_Bool below = s->window.cwnd < SEGMENT;
	__u32 cwnd = segments_of(s->window.cwnd, 1);

	if (config.sizes)
		fit_segments(sk, tp, s);
	if (phase == CA_RECOVERY)
		cwnd = recovering(tp, s, cwnd);
	else if (!tp->packets_out && shrinks_idle(sk)) /* a pause may follow: restart() */
		cwnd = at_most(cwnd, s->initial);
	tp->snd_cwnd = within_clamp(tp, cwnd);
	s->delivered = tp->delivered;
	s->lost = tp->lost;
	tp->snd_ssthresh = segments_of(s->window.ssthresh, 2);
	if (!rtt)
		return;
	bytes = s->window.cwnd * full_segment(tp, s) >> 24;
	sk->sk_pacing_rate = clamp64((below ? bytes : 2 * bytes) * 1000000 / rtt, 1, sk->sk_max_pacing_rate);
	if (below && sk->sk_pacing_status == SK_PACING_NONE) {
		sk->sk_pacing_status = SK_PACING_NEEDED;
		s->has_paced = 1;
	} else if (!below && s->has_paced) {
		/* A rate that the application has set meanwhile stays, as does the pacing of fq. */
		if (sk->sk_pacing_status == SK_PACING_NEEDED && sk->sk_max_pacing_rate == ~0UL)
			sk->sk_pacing_status = SK_PACING_NONE;
		s->has_paced = 0;
	}
}

/* The flow as the law sees it, without an acknowledgement. */
INLINE struct ack view(struct sock *sk, struct tcp_sock *tp)
{
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	struct ack ack = {
		.sent = tp->bytes_acked + (tp->snd_nxt - tp->snd_una), .remaining = NEVER, .left_ns = NEVER,
		.srtt_ns = (__u64)(tp->srtt_us >> 3) * 1000, .segments = 1, .snd_una = tp->snd_una,
		.snd_nxt = tp->snd_nxt, .mss = full_segment(tp, sender_of(sk)), .flight = tp->packets_out * tp->mss_cache,
	};

	if (!flow)
		return ack;
	ack.role = flow->role;
	if (flow->size)
		ack.remaining = at_least(flow->start + flow->size, tp->bytes_acked) - tp->bytes_acked;
	if (flow->deadline_ns) {
		__u64 now = bpf_ktime_get_ns();

		ack.left_ns = at_least(flow->deadline_ns, now) - now;
	}
	ack.sent = at_least(ack.sent, flow->start) - flow->start;
	return ack;
}

/* The role that the operator gave to the connection's remote port, or else to its local port. */
INLINE __u64 role_of_ports(struct sock *sk)
{
	__u16 port = bpf_ntohs(sk->__sk_common.skc_dport);
	__u64 *role = bpf_map_lookup_elem(&ports, &port);

	if (!role) {
		port = sk->__sk_common.skc_num;
		role = bpf_map_lookup_elem(&ports, &port);
	}
	return role ? *role : ROLE_UNKNOWN;
}

/*
 * The initial window: that of the route, or ten segments (RFC 6928). The socket's window does not tell: it is larger
 * if the connection started with another congestion control, and one segment if its SYN was lost.
 */
INLINE __u16 initial_window(struct sock *sk)
{
	struct dst_entry *route = sk->sk_dst_cache;
	__u32 window = 0;

	if (route)
		bpf_probe_read_kernel(&window, sizeof(window),
				      (__u32 *)(route->_metrics & ~(unsigned long)METRICS_FLAGS) + METRIC_INITCWND);
	return window ? at_most(window, 0xffff) : 10;
}

/*
 * Replaces our congestion control on a connection without ECN, which gets no marks. The namespace's default takes over,
 * or its earlier default if ours is the default now. If these fail, Reno takes over, which every kernel has. Fails while
 * another program sets the congestion control of this connection, such as a program that has just chosen ours.
 */
INLINE _Bool fall_back(struct sock *sk)
{
	char to[NAME_MAX] = {}, reno[NAME_MAX] = "reno", *before;
	__u64 number = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum), of_host = 0;

	BPF_CORE_READ_STR_INTO(&to, sk, __sk_common.skc_net.net, ipv4.tcp_congestion_control, name);
	if (to[0] == 's' && to[1] == 'f' && to[2] == '_') {
		before = bpf_map_lookup_elem(&defaults, &number);
		if (!before)
			before = bpf_map_lookup_elem(&host, &of_host);
		__builtin_memcpy(to, before ? before : reno, sizeof(to));
	}
	if (bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, to, sizeof(to))) {
		if (bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno)))
			return 0;
		__builtin_memcpy(to, reno, sizeof(to));
	}
	count_fallback(sk, to);
	return 1;
}

/* Starts the law on a connection. True if the law drives the connection from now on. */
static __noinline int start(struct sock *sk, _Bool is_last_chance)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct sender *s = sender_of(sk);
	struct flow none = {}, *flow;
	char self[NAME_MAX] = "sf_" TEXT(LAW);
	struct ack ack;

	if (config.needs_ecn && !(tp->ecn_flags & ECN_AGREED)) {
		if (fall_back(sk) || !is_last_chance)
			return 0;
		count_fallback(sk, self); /* a law that sees only losses is better than none */
	} else if (config.needs_ecn) {
		note_other_end(sk, 0);
	}
	hurry_acks(sk);
	flow = bpf_sk_storage_get(&flows, sk, &none, BPF_SK_STORAGE_GET_F_CREATE);
	if (flow && flow->role == ROLE_UNKNOWN)
		flow->role = role_of_ports(sk);
	ack = view(sk, tp);
	s->window.cwnd = clamp64((__u64)tp->snd_cwnd << 24, SEGMENT, WINDOW_MAX);
	s->window.ssthresh = clamp64((__u64)tp->snd_ssthresh << 24, 2 * SEGMENT, WINDOW_MAX);
	s->initial = initial_window(sk);
	MY(_init)(&s->law, &s->window, &ack, params());
	s->snd_una = tp->snd_una;
	s->cwr_end = tp->snd_una - 1;
	s->delivered_ce = tp->delivered_ce;
	s->prior_rcv_nxt = tp->rcv_nxt;
	s->prior = s->window;
	publish(tp, s, CA_OPEN);
	return 1;
}

/*
 * The kernel calls this hook once. A program or an application may have chosen the law during the handshake, before ECN
 * is agreed. A fallback fails within the call by which a program has chosen the law. In these cases is_ready() starts
 * the law.
 */
HOOK(void, MY(_start), struct sock *sk)
{
	if (sk->__sk_common.skc_state != TCP_SYN_SENT)
		start(sk, 0);
}

/* Hooks may come before the law has started: for the ACK of a SYN, or for its timeout. */
static __noinline int start_late(struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	return state != TCP_SYN_SENT && state != TCP_SYN_RECV && start(sk, 1);
}

/*
 * True if the law drives the connection. The first hook after the handshake comes when the first data leaves, or arrives
 * with an ECN mark. This hook starts the law, if it has not started. Every ACK calls this function, so the common answer
 * takes only a load and a branch.
 */
INLINE _Bool is_ready(struct sock *sk) { return has_started(sender_of(sk)) || start_late(sk); }

/* True if the window limits the sender, so that the window may grow (RFC 2861; tcp_is_cwnd_limited()). */
INLINE _Bool is_limited(struct tcp_sock *tp, const struct sender *s)
{
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited)
		|| (s->window.cwnd < s->window.ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out);
}

INLINE void on_ack(struct sock *sk, struct tcp_sock *tp, struct sender *s, __u8 phase)
{
	struct ack ack = view(sk, tp);

	ack.acked = tp->snd_una - s->snd_una;
	/* After a timeout, an ACK may cover data that had arrived before the timeout, so each ACK counts as one segment
	 * (RFC 3465 section 2.3), including the ACK that ends the phase. */
	ack.segments = s->is_loss ? 1 : at_least((ack.acked + ack.mss - 1) / ack.mss, 1);
	ack.ece = tp->delivered_ce != s->delivered_ce;
	/* After a loss, most data that an ACK covers had arrived, and was echoed, before the ACK. */
	ack.marked = at_most((__u64)(tp->delivered_ce - s->delivered_ce) * ack.mss, ack.acked);
	ack.may_grow = !ack.ece && phase != CA_RECOVERY && is_limited(tp, s);
	s->snd_una = tp->snd_una;
	s->delivered_ce = tp->delivered_ce;
	MY(_on_ack)(&s->law, &s->window, &ack, params());
	if ((__s32)(tp->snd_una - s->cwr_end) <= 0)
		return;
	s->cwr_end = tp->snd_una - 1; /* cwr_end follows snd_una, because sequence numbers wrap */
	if (ack.ece && phase != CA_RECOVERY) {
		s->cwr_end = tp->snd_nxt;
		MY(_on_congestion)(&s->law, &s->window, &ack, params());
	}
}

INLINE void control(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct sender *s = sender_of(sk);
	__u8 phase = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	_Bool is_new;

	if (!is_ready(sk))
		return;
	s->is_probed = 0;
	is_new = (__s32)(tp->snd_una - s->snd_una) > 0;
	s->repair = s->repair == BEGINS || (is_new && tp->lost == s->lost) ? ADVANCES : STALLS;
	if (is_new)
		on_ack(sk, tp, s, phase);
	if (phase < CA_RECOVERY)
		s->is_loss = 0;
	publish(tp, s, phase);
}

HOOK(void, MY(_control), struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs) { control(sk); }

/* The hook before Linux 6.10. */
HOOK(void, MY(_control2), struct sock *sk, const struct rate_sample *rs) { control(sk); }

/*
 * Handles a loss that the kernel's tail loss probe has repaired. The kernel then enters and leaves CWR within one ACK.
 * With ECN-Echo it does not: control() comes between entering and leaving.
 */
INLINE void on_probed(struct sock *sk, struct tcp_sock *tp, struct sender *s)
{
	struct ack ack = view(sk, tp);

	ack.flight = tp->snd_nxt - s->snd_una; /* before this ACK */
	MY(_on_loss)(&s->law, &s->window, &ack, 0, params());
	s->cwr_end = tp->snd_nxt;
}

/* Calls the law's response to loss: when recovery starts, once per series of timeouts, and after a repair by a probe. */
HOOK(void, MY(_phase), struct sock *sk, __u8 phase)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct sender *s = sender_of(sk);
	__u64 ssthresh = s->window.ssthresh;
	_Bool is_probed = s->is_probed && (__s32)(tp->snd_una - s->snd_una) > 0;
	struct ack ack;

	if (!has_started(s))
		return;
	s->is_probed = phase == CA_CWR;
	if (phase < CA_CWR && is_probed)
		on_probed(sk, tp, s);
	if (phase != CA_RECOVERY && phase != CA_LOSS)
		return;
	ack = view(sk, tp);
	if (phase == CA_LOSS) /* after a long recovery, little of the flight is left in the network */
		ack.flight -= tp->sacked_out * tp->mss_cache;
	if (BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) < CA_RECOVERY) /* still the previous phase */
		s->prior = s->window;
	MY(_on_loss)(&s->law, &s->window, &ack, phase == CA_LOSS, params());
	if (s->is_loss)
		s->window.ssthresh = ssthresh;
	s->is_loss = phase == CA_LOSS;
	s->cwr_end = tp->snd_nxt;
	if (phase == CA_LOSS)
		return;
	s->pipe = 2 * (in_flight(tp) + 1);
	s->repair = BEGINS;
	s->delivered = tp->delivered;
	publish(tp, s, phase); /* a timer may start recovery without an ACK */
}

/* Returns ssthresh to the kernel. The loss of a SYN changes nothing. */
HOOK(__u32, MY(_ssthresh), struct sock *sk)
{
	struct sender *s = sender_of(sk);

	return has_started(s) ? segments_of(s->window.ssthresh, 2) : ((struct tcp_sock *)sk)->snd_ssthresh;
}

/* Restores the window after a spurious loss. */
HOOK(__u32, MY(_undo), struct sock *sk)
{
	struct window *w = &sender_of(sk)->window, *prior = &sender_of(sk)->prior;

	if (!has_started(sender_of(sk)))
		return ((struct tcp_sock *)sk)->snd_cwnd;
	w->cwnd = clamp64(prior->cwnd, w->cwnd, WINDOW_MAX);
	w->ssthresh = clamp64(prior->ssthresh, w->ssthresh, WINDOW_MAX);
	return segments_of(w->cwnd, 1);
}

/*
 * Restarts the window when data is sent and nothing was in the network. As with the kernel's own congestion controls,
 * each RTO since the last segment halves the window, down to the initial window (RFC 2861), unless the namespace switches
 * this off. The kernel leaves the restart to a congestion control with cong_control(), but reports the pause only after
 * it has cut the first packet, of up to 64 KB, to the old window. So publish() has left the initial window there.
 */
INLINE void restart(struct sock *sk, struct tcp_sock *tp, struct sender *s)
{
	__u32 idle = (__u32)bpf_jiffies64() - tp->lsndtime, rto = at_least(tp->inet_conn.icsk_rto, 1);
	struct window *w = &s->window;

	if (tp->packets_out || !shrinks_idle(sk))
		return;
	if (idle > rto) {
		w->ssthresh = at_least(w->ssthresh, w->cwnd / 4 * 3);
		w->cwnd = at_least(w->cwnd >> at_most((idle - 1) / rto, 20), at_most(w->cwnd, (__u64)s->initial << 24));
		publish(tp, s, CA_OPEN);
	}
	tp->snd_cwnd = within_clamp(tp, segments_of(w->cwnd, 1));
}

/*
 * RFC 8257 section 3.2: when CE changes, data that waits for its ACK gets the old echo, and the packet with the change
 * gets the new echo at once. Data waits if it is above the last ACK. The ACK timer does not tell: since Linux 6.7, ACKs
 * also wait without the timer while the kernel handles packets that came during a call of the application
 * (tcp_backlog_ack_defer). After an ACK with the old echo, the kernel counts the packet as acknowledged too, and
 * ACK_OURS shows that it waits. ACK_NOW would not show this, because a packet with CWR sets ACK_NOW as well.
 */
INLINE void echo(struct tcp_sock *tp, struct sender *s, __u8 ce)
{
	__u8 pending = tp->inet_conn.icsk_ack.pending;

	if (ce != s->ce) {
		if ((__s32)(s->prior_rcv_nxt - tp->rcv_wup) > 0 || pending & ACK_OURS) {
			tp->ecn_flags = s->ce ? tp->ecn_flags | ECN_DEMAND_CWR : tp->ecn_flags & ~ECN_DEMAND_CWR;
			bpf_tcp_send_ack(tp, s->prior_rcv_nxt);
		}
		tp->inet_conn.icsk_ack.pending |= ACK_NOW | ACK_OURS;
	}
	s->ce = ce;
	s->prior_rcv_nxt = tp->rcv_nxt;
	tp->ecn_flags = ce ? tp->ecn_flags | ECN_DEMAND_CWR : tp->ecn_flags & ~ECN_DEMAND_CWR;
}

/* The hook for a restart since Linux 7.1. */
HOOK(void, MY(_restart), struct sock *sk)
{
	if (is_ready(sk))
		restart(sk, (struct tcp_sock *)sk, sender_of(sk));
}

HOOK(void, MY(_event), struct sock *sk, int event)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct sender *s = sender_of(sk);

	if ((event != EVENT_SENDS_AGAIN && event != EVENT_CE && event != EVENT_NO_CE) || !is_ready(sk))
		return;
	if (event == EVENT_SENDS_AGAIN)
		restart(sk, tp, s);
	else if (config.needs_ecn)
		echo(tp, s, event == EVENT_CE);
}

#define OPERATIONS \
	.init = (void *)MY(_start), .ssthresh = (void *)MY(_ssthresh), .undo_cwnd = (void *)MY(_undo), \
	.set_state = (void *)MY(_phase), .cwnd_event = (void *)MY(_event), \
	.flags = NON_RESTRICTED | NEEDS_ECN, .name = "sf_" TEXT(LAW)

/* The loader registers the operations that fit the kernel: since Linux 7.1, since 6.10, and before 6.10. */
SEC(".struct_ops.link")
struct tcp_congestion_ops JOIN(JOIN(sf_, LAW), _7) = {
	OPERATIONS, .cong_control = (void *)MY(_control), .cwnd_event_tx_start = (void *)MY(_restart),
};

SEC(".struct_ops.link")
struct tcp_congestion_ops JOIN(sf_, LAW) = { OPERATIONS, .cong_control = (void *)MY(_control) };

SEC(".struct_ops.link")
struct tcp_congestion_ops JOIN(JOIN(sf_, LAW), _2) = { OPERATIONS, .cong_control = (void *)MY(_control2) };
