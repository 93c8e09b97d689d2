/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* DCTCP: SIGCOMM 2010, section 3; RFC 8257. The reference is crates/cc/src/dctcp.rs. */
#pragma once
#include "law.h"

struct dctcp_params {
	__u64 g;		/* 2^-30 */
	__u64 initial_alpha;	/* 2^-60 */
	__u64 cwnd_floor;	/* 2^-24 segments */
};

BY_MARKS(dctcp)
GROWS_BY_A_SEGMENT(dctcp)

INLINE void dctcp_on_congestion(struct dctcp_state *s, struct window *w, const struct ack *ack,
				const struct dctcp_params *p)
{
	decrease(w, less_half(s->marks.alpha), p->cwnd_floor);
}
