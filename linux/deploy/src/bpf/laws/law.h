/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/*
 * Shared part of the fixed-point laws: RFC 5681's window and the marked fraction of RFC 8257.
 * The laws use unsigned 64-bit integers and bounded loops only. native.c builds the same text for the tests.
 *
 *   quantity               unit     largest        rounding
 *   cwnd, ssthresh         2^-24    2^20 segments  down, growth in congestion avoidance to nearest
 *   step, weight, exponent 2^-24    2^40           down
 *   g, F, factors          2^-30    1              to nearest
 *   alpha, p = alpha^w     2^-60    1              down
 *
 * Errors of these widths, asserted by tests/laws:
 *   growth    2^-24 segments per ACK, plus 2^-24 of the step
 *   decrease  2^-24 segments, plus 2^-30 of cwnd, plus half the error of p (power.h)
 *   alpha     2^-31 (1 + 1/g): F is rounded at every update and g once; the average forgets older errors
 *             Below 2^-60 alpha counts as 0, which takes 645 unmarked windows with g = 1/16. alpha^(1/8) would then
 *             still be up to 2^-7.5: the laws leave out a decrease of up to 0.3 % of cwnd.
 */
#pragma once
#include <linux/types.h>

#define INLINE static inline __attribute__((always_inline))
#define SEGMENT (1ULL << 24)
#define WINDOW_MAX (SEGMENT << 20)
#define FACTOR (1ULL << 30)
#define UNIT (1ULL << 60)
#define NEVER (~0ULL)

enum role { ROLE_UNKNOWN, ROLE_SHORT, ROLE_LONG };

struct window { __u64 cwnd, ssthresh; };

/* An acknowledgement and its flow. Sequence numbers wrap. */
struct ack {
	__u64 sent;		/* bytes of the flow sent so far, without retransmissions */
	__u64 remaining;	/* bytes not yet acknowledged, sent or not; NEVER: no end */
	__u64 left_ns;		/* until the deadline; 0 after the deadline; NEVER: no deadline */
	__u64 srtt_ns;		/* 0 before the first sample */
	__u32 acked;		/* bytes */
	__u32 marked;		/* acknowledged bytes that arrived with a mark */
	__u32 segments;		/* acknowledged segments: 1, or more with delayed ACKs or GRO */
	__u32 snd_una, snd_nxt;	/* after this ACK */
	__u32 mss, flight;	/* bytes */
	__u8 role;
	_Bool ece, may_grow;
};

/* alpha, and the counts of the current window of data. */
struct marks { __u64 alpha; __u32 acked, marked, window_end; };

INLINE __u64 at_least(__u64 value, __u64 low) { return value < low ? low : value; }
INLINE __u64 at_most(__u64 value, __u64 high) { return value > high ? high : value; }
INLINE __u64 clamp64(__u64 value, __u64 low, __u64 high) { return at_most(at_least(value, low), high); }

/* value * factor / 2^30, rounded down; value below 2^63, factor at most 2^30. */
INLINE __u64 times(__u64 value, __u64 factor)
{
	return (value >> 30) * factor + ((value & (FACTOR - 1)) * factor >> 30);
}

/* Bits above the lowest one: floor(log2(value)), 0 for 0. */
INLINE __u32 magnitude(__u64 value)
{
	__u32 bits = 0;

	for (__u32 step = 32; step; step >>= 1) {
		__u32 shift = (value >> step != 0) * step;

		value >>= shift;
		bits += shift;
	}
	return bits;
}

/* part / whole in 2^-30, rounded to nearest; 1 if part is larger or both are 0. */
INLINE __u64 fraction(__u64 part, __u64 whole)
{
	__u32 bits = magnitude(whole), shift = bits > 32 ? bits - 32 : 0;

	part >>= shift;
	whole >>= shift;
	return part >= whole ? FACTOR : ((part << 30) + whole / 2) / whole;
}

INLINE void marks_init(struct marks *m, const struct ack *ack, __u64 initial_alpha)
{
	*m = (struct marks){ .alpha = at_most(initial_alpha, UNIT), .window_end = ack->snd_una };
}

/* RFC 8257 section 3.3, steps 1 to 8, for `amount` newly acknowledged bytes or packets, `marked` of them marked. */
INLINE void marks_on_ack(struct marks *m, const struct ack *ack, __u32 amount, __u32 marked, __u64 g)
{
	m->acked = at_most((__u64)m->acked + amount, ~0U);
	m->marked = at_most((__u64)m->marked + marked, ~0U);
	if ((__s32)(ack->snd_una - m->window_end) <= 0 || !m->acked)
		return;
	m->alpha = at_most(times(m->alpha, FACTOR - g) + fraction(m->marked, m->acked) * g, UNIT);
	m->window_end = ack->snd_nxt;
	m->acked = m->marked = 0;
}

/*
 * RFC 5681, Eq. 2 and 3, with `step` segments (2^-24, at most 128) per round trip. Of an ACK for several segments,
 * slow start counts as many as bring cwnd to ssthresh, as with one ACK per segment. The other segments count in
 * congestion avoidance.
 */
INLINE void grow(struct window *w, const struct ack *ack, __u64 step)
{
	__u64 segments = clamp64(ack->segments, 1, 255), cwnd = at_least(w->cwnd, 1), gain;

	if (cwnd < w->ssthresh) {
		__u64 slow = at_most((w->ssthresh - cwnd + SEGMENT - 1) >> 24, segments);

		gain = at_most(((__u64)ack->acked << 24) / at_least(ack->mss, 1), slow * SEGMENT);
		segments -= slow;
		cwnd = clamp64(cwnd + gain, 1, WINDOW_MAX);
	}
	gain = ((segments * step << 24) + cwnd / 2) / cwnd;
	w->cwnd = clamp64(cwnd + gain, 1, WINDOW_MAX);
}

/* Responds to ECN-Echo: multiplies cwnd by `factor` (2^-30), and ends slow start. */
INLINE void decrease(struct window *w, __u64 factor, __u64 floor)
{
	w->cwnd = clamp64(times(w->cwnd, at_most(factor, FACTOR)), floor, WINDOW_MAX);
	w->ssthresh = at_least(w->cwnd, 2 * SEGMENT);
}

/* The factor 1 - p/2 of a decrease in 2^-30; p in 2^-60. */
INLINE __u64 less_half(__u64 p) { return FACTOR - (at_most(p, UNIT) >> 31); }

/* Responds to a loss: halves the flight (RFC 5681, Eq. 4); after a timeout cwnd is one segment. */
INLINE void halve(struct window *w, const struct ack *ack, _Bool timeout)
{
	__u64 half = ((__u64)ack->flight << 23) / at_least(ack->mss, 1);

	w->ssthresh = clamp64(half, 2 * SEGMENT, WINDOW_MAX);
	w->cwnd = timeout ? SEGMENT : w->ssthresh;
}

/* A law whose only state is alpha. It starts with the sender's initial window, and responds to losses as RFC 5681. */
#define BY_MARKS(X) \
	struct X##_state { struct marks marks; }; \
	INLINE void X##_init(struct X##_state *s, struct window *w, const struct ack *ack, const struct X##_params *p) \
	{ \
		marks_init(&s->marks, ack, p->initial_alpha); \
	} \
	INLINE void X##_on_loss(struct X##_state *s, struct window *w, const struct ack *ack, _Bool timeout, \
				const struct X##_params *p) \
	{ \
		halve(w, ack, timeout); \
	}

/* A law whose window grows by one segment per round trip. */
#define GROWS_BY_A_SEGMENT(X) \
	INLINE void X##_on_ack(struct X##_state *s, struct window *w, const struct ack *ack, const struct X##_params *p) \
	{ \
		marks_on_ack(&s->marks, ack, ack->acked, ack->marked, p->g); \
		if (ack->may_grow) \
			grow(w, ack, SEGMENT); \
	}
