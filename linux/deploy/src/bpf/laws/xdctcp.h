/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* xDCTCP: section III. The reference is crates/cc/src/xdctcp.rs. */
#pragma once
#include "law.h"

enum xdctcp_classify { XDCTCP_BY_ROLE, XDCTCP_BY_BYTES };

struct xdctcp_params {
	__u64 ns, nl;		/* 2^-30 */
	__u64 classify;
	__u64 threshold;	/* bytes */
	__u64 g;		/* 2^-30 */
	__u64 initial_alpha;	/* 2^-60 */
	__u64 cwnd_floor;	/* 2^-24 segments */
};

BY_MARKS(xdctcp)
GROWS_BY_A_SEGMENT(xdctcp)

/* The share of alpha by which a mark decreases the flow's window, in 2^-30. */
INLINE __u64 xdctcp_reduction(const struct ack *ack, const struct xdctcp_params *p)
{
	if (p->classify == XDCTCP_BY_ROLE && ack->role != ROLE_UNKNOWN)
		return ack->role == ROLE_SHORT ? p->ns : p->nl;
	return ack->sent < p->threshold ? p->ns : p->nl;
}

INLINE void xdctcp_on_congestion(struct xdctcp_state *s, struct window *w, const struct ack *ack,
				 const struct xdctcp_params *p)
{
	decrease(w, FACTOR - times(xdctcp_reduction(ack, p), s->marks.alpha >> 30), p->cwnd_floor); /* Eq. 3 and 4 */
}
