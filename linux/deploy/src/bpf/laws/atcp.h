/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* ATCP: sections V-C and VI. The reference is crates/cc/src/atcp.rs. */
#pragma once
#include "power.h"

enum atcp_middle { ATCP_LINEAR, ATCP_EXPONENTIAL };
enum atcp_base { ATCP_TCP, ATCP_DCTCP };

struct atcp_params {
	__u64 w_high, w_low;	/* 2^-24, w_low <= w_high */
	__u64 t1, t2;		/* bytes */
	__u64 middle;
	__u64 base;
	__u64 g;		/* 2^-30 */
	__u64 initial_alpha;	/* 2^-60 */
	__u64 cwnd_floor;	/* 2^-24 segments */
};

BY_MARKS(atcp)

/* Increase, in segments per round trip, of a flow that has sent `s` bytes. */
INLINE __u64 atcp_weight(__u64 s, const struct atcp_params *p)
{
	__u64 done, ratio;

	if (s <= p->t1)
		return p->w_high;
	if (s > p->t2)
		return p->w_low;
	done = fraction(s - p->t1, p->t2 - p->t1);
	if (p->middle == ATCP_LINEAR)
		return p->w_high - times(p->w_high - p->w_low, done);
	ratio = log2_fixed(at_least(p->w_high, 1)) - log2_fixed(at_least(p->w_low, 1));
	return times(p->w_high, exp2_neg(times(ratio, done)) >> 30);
}

INLINE void atcp_on_ack(struct atcp_state *s, struct window *w, const struct ack *ack, const struct atcp_params *p)
{
	if (p->base == ATCP_DCTCP)
		marks_on_ack(&s->marks, ack, ack->acked, ack->marked, p->g);
	if (ack->may_grow)
		grow(w, ack, atcp_weight(ack->sent, p));
}

INLINE void atcp_on_congestion(struct atcp_state *s, struct window *w, const struct ack *ack,
			       const struct atcp_params *p)
{
	decrease(w, p->base == ATCP_DCTCP ? less_half(s->marks.alpha) : FACTOR / 2, p->cwnd_floor);
}
