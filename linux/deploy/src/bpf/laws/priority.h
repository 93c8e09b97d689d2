/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/*
 * pECN's priority number in fields of an IP packet. Packets with lower numbers leave sooner; 0 is for ACKs.
 *
 *   flow label, 20 bits   the number up to 2^14, above that its 15 leading bits: numbers within 2^-14 are equal
 *   DSCP, 6 bits          four levels per doubling, from 2^lowest over 16 doublings
 *   class, DSCP / 8       two doublings per class
 */
#pragma once
#include "law.h"

#define LABEL_LAST 0xfffffU
#define DSCP_LAST 63U
/* Sizes from 1 KiB to 64 MiB, times from 16 microseconds to 1 second. */
#define LOWEST_BYTES 10
#define LOWEST_NS 14

INLINE __u32 priority_label(__u64 value)
{
	__u32 bits = magnitude(value);

	if (value == NEVER)
		return LABEL_LAST;
	if (bits < 14)
		return at_least(value, 1);
	return (bits - 13) << 14 | (value >> (bits - 14) & 0x3fff);
}

INLINE __u32 priority_dscp(__u64 value, __u32 lowest)
{
	__u32 bits = magnitude(value);

	if (value == NEVER)
		return DSCP_LAST;
	if (bits < lowest)
		return 1;
	return clamp64((bits - lowest) * 4 + (value >> (bits - 2) & 3), 1, DSCP_LAST);
}
