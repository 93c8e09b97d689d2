/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* DCTCP: SIGCOMM 2010, section 3; RFC 8257. The reference is crates/cc/src/dctcp.rs. */
#pragma once
#include "law.h"

struct dctcp_params {
	__u64 g;		/* 2^-30 */
	__u64 initial_alpha;	/* 2^-60 */
	__u64 cwnd_floor;	/* 2^-24 segments */
};

struct dctcp_state { struct marks marks; };

/* The window is the sender's initial one; a law may set another. */
INLINE void dctcp_init(struct dctcp_state *s, struct window *w, const struct ack *ack, const struct dctcp_params *p)
{
	marks_init(&s->marks, ack, p->initial_alpha);
}

INLINE void dctcp_on_ack(struct dctcp_state *s, struct window *w, const struct ack *ack, const struct dctcp_params *p)
{
	marks_on_ack(&s->marks, ack, ack->acked, ack->marked, p->g);
	if (ack->may_grow)
		grow(w, ack, SEGMENT);
}

INLINE void dctcp_on_congestion(struct dctcp_state *s, struct window *w, const struct ack *ack,
				const struct dctcp_params *p)
{
	decrease(w, less_half(s->marks.alpha), p->cwnd_floor);
}

INLINE void dctcp_on_loss(struct dctcp_state *s, struct window *w, const struct ack *ack, _Bool timeout,
			  const struct dctcp_params *p)
{
	halve(w, ack, timeout);
}
