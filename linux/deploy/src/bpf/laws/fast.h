/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* FaST: TIIS 2014, section 4, Algorithm 1. The reference is crates/cc/src/fast.rs. cwnd is vwnd. */
#pragma once
#include "law.h"

struct fast_params {
	__u64 probes;		/* packets */
	__u64 w_min;		/* 2^-24 segments */
	__u64 min_segment;	/* bytes */
	__u64 nagle;		/* 1: on */
	__u64 g;		/* 2^-30 */
	__u64 initial_alpha;	/* 2^-60 */
};

struct fast_state { struct marks marks; __u32 probes_left; };

/* SegmentSize (Eq. 9), in bytes. */
INLINE __u32 fast_full_segment(const struct window *w, __u32 mss, const struct fast_params *p)
{
	if (w->cwnd >= SEGMENT)
		return mss;
	return at_most(at_least(w->cwnd * mss >> 24, p->min_segment), mss);
}

/* Payload of the next segment if `room` bytes of the window are free. With a payload above `room`, the sender waits. */
INLINE __u32 fast_segment(const struct window *w, __u32 mss, __u64 room, const struct fast_params *p)
{
	__u32 full = fast_full_segment(w, mss, p);
	_Bool fills = !p->nagle && w->cwnd < p->w_min;

	return fills && room < full && room >= p->min_segment ? room : full;
}

/* Bytes that may be outstanding (Algorithm 1, l. 15). */
INLINE __u64 fast_window_bytes(const struct window *w, __u32 mss, const struct fast_params *p)
{
	return at_least(w->cwnd, SEGMENT) * fast_full_segment(w, mss, p) >> 24;
}

INLINE void fast_init(struct fast_state *s, struct window *w, const struct ack *ack, const struct fast_params *p)
{
	marks_init(&s->marks, ack, p->initial_alpha);
	s->probes_left = p->probes;
	w->cwnd = s->probes_left ? SEGMENT / 2 : p->w_min;
}

/* F counts ACKs (Eq. 1). Below w_min the window gains one segment per round trip, in proportion to acknowledged bytes. */
INLINE void fast_on_ack(struct fast_state *s, struct window *w, const struct ack *ack, const struct fast_params *p)
{
	__u64 segments = at_least(ack->segments, 1), mss = at_least(ack->mss, 1);

	marks_on_ack(&s->marks, ack, segments, at_most(((__u64)ack->marked + mss - 1) / mss, segments), p->g);
	if (s->probes_left) {
		if (!--s->probes_left)
			w->cwnd = p->w_min;
	} else if (ack->may_grow && w->cwnd < p->w_min) {
		w->cwnd += fraction((__u64)ack->acked << 24, w->cwnd * ack->mss) >> 6;
	} else if (ack->may_grow) {
		grow(w, ack, SEGMENT);
	}
}

INLINE void fast_on_congestion(struct fast_state *s, struct window *w, const struct ack *ack,
			       const struct fast_params *p)
{
	__u64 floor = at_most((p->min_segment << 24) / at_least(ack->mss, 1), SEGMENT / 2);

	if (s->probes_left)
		w->ssthresh = at_least(p->w_min, 2 * SEGMENT);
	else
		decrease(w, less_half(s->marks.alpha), at_least(floor, 1)); /* Eq. 8 */
}

INLINE void fast_on_loss(struct fast_state *s, struct window *w, const struct ack *ack, _Bool timeout,
			 const struct fast_params *p)
{
	__u64 vwnd = w->cwnd;

	halve(w, ack, timeout);
	if (timeout)
		s->probes_left = 0;
	else if (vwnd < p->w_min)
		w->cwnd = vwnd;
}
