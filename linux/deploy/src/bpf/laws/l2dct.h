/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* L2DCT: INFOCOM 2013, section II. The reference is crates/cc/src/l2dct.rs. */
#pragma once
#include "power.h"

enum l2dct_profile { L2DCT_LAS, L2DCT_SRPT, L2DCT_PS };

struct l2dct_params {
	__u64 profile;
	__u64 w_max, w_min;		/* 2^-24 */
	__u64 knee_low, knee_high;	/* bytes */
	__u64 g;			/* 2^-30 */
	__u64 initial_alpha;		/* 2^-60 */
	__u64 cwnd_floor;		/* 2^-24 segments */
};

BY_MARKS(l2dct)

/* The flow weight w_c. */
INLINE __u64 l2dct_weight(const struct ack *ack, const struct l2dct_params *p)
{
	__u64 s = p->profile == L2DCT_SRPT ? ack->remaining : ack->sent;

	if (p->profile == L2DCT_PS)
		return SEGMENT;
	if (s <= p->knee_low)
		return p->w_max;
	if (s >= p->knee_high)
		return p->w_min;
	return p->w_max - times(p->w_max - p->w_min, fraction(s - p->knee_low, p->knee_high - p->knee_low));
}

INLINE void l2dct_on_ack(struct l2dct_state *s, struct window *w, const struct ack *ack, const struct l2dct_params *p)
{
	__u64 k = SEGMENT;

	marks_on_ack(&s->marks, ack, ack->acked, ack->marked, p->g);
	if (!ack->may_grow)
		return;
	if (p->profile != L2DCT_PS)
		k = at_most((l2dct_weight(ack, p) << 24) / at_least(p->w_max, 1), SEGMENT); /* Eq. 1 */
	grow(w, ack, k); /* Eq. 4 */
}

INLINE void l2dct_on_congestion(struct l2dct_state *s, struct window *w, const struct ack *ack,
				const struct l2dct_params *p)
{
	decrease(w, less_half(power(s->marks.alpha, l2dct_weight(ack, p))), p->cwnd_floor); /* Eq. 2 and 3 */
}
