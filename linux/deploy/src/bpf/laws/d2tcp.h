/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* D2TCP: SIGCOMM 2012, section 3. The reference is crates/cc/src/d2tcp.rs. */
#pragma once
#include "power.h"

#define LOG2_3 6807362106ULL /* 2^-32 */

struct d2tcp_params {
	__u64 clip_low, clip_high;	/* 2^-24 */
	__u64 expired;			/* 2^-24 */
	__u64 g;			/* 2^-30 */
	__u64 initial_alpha;		/* 2^-60 */
	__u64 cwnd_floor;		/* 2^-24 segments */
};

BY_MARKS(d2tcp)
GROWS_BY_A_SEGMENT(d2tcp)

/*
 * The deadline imminence d = (remaining / mss / (3/4 cwnd)) / (left / srtt), in 2^-24. It is computed as a
 * difference of logarithms, so no product overflows. The error is at most 2^-25 of d plus 2^-24.
 */
INLINE __u64 d2tcp_imminence(const struct window *w, const struct ack *ack, const struct d2tcp_params *p)
{
	__u64 needed, left, d;

	if (ack->left_ns == NEVER || ack->remaining == NEVER)
		return SEGMENT;
	if (!ack->left_ns)
		return p->expired;
	if (!ack->srtt_ns || !ack->remaining)
		return SEGMENT;
	needed = log2_fixed(ack->remaining) + log2_fixed(ack->srtt_ns) + (2ULL << 32);
	left = log2_fixed(at_least(ack->mss, 1)) + log2_fixed(at_least(w->cwnd, 1)) + log2_fixed(ack->left_ns) + LOG2_3;
	left += 6ULL << 32; /* the largest d is 2^30; cwnd has 24 bits of fraction */
	d = exp2_neg(left > needed ? left - needed : 0) >> 6;
	return clamp64(at_least(d, 1), p->clip_low, p->clip_high);
}

INLINE void d2tcp_on_congestion(struct d2tcp_state *s, struct window *w, const struct ack *ack,
				const struct d2tcp_params *p)
{
	decrease(w, less_half(power(s->marks.alpha, d2tcp_imminence(w, ack, p))), p->cwnd_floor);
}
