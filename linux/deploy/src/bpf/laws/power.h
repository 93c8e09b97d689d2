/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/*
 * Logarithms and powers of two in fixed point, without tables.
 *
 * Errors:
 *   log2_fixed  too small by at most 2^-28: a mantissa of 31 bits is squared 32 times, each time rounded down
 *   exp2_neg    at most 2^-30 of the value plus 2^-60: twelve terms of the series; the rest is below 2^-39
 *   power       at most 2^-29 + 2^-28 w p, where p = alpha^w
 */
#pragma once
#include "law.h"

/* The verifier checks a global function once for all calls. It would follow every path of each inlined copy. */
#ifdef __bpf__
#define ONCE __attribute__((noinline))
#else
#define ONCE INLINE
#endif

#define LN2 2977044472ULL /* 2^-32 */

/* log2(value) in 2^-32; value at least 1. */
ONCE __u64 log2_fixed(__u64 value)
{
	__u32 bits = magnitude(value);
	__u64 mantissa = bits > 31 ? value >> (bits - 31) : value << (31 - bits), result = bits;

	for (int i = 0; i < 32; i++) {
		__u64 square = mantissa * mantissa >> 31, carry = square >> 32;

		mantissa = square >> carry;
		result = result << 1 | carry;
	}
	return result;
}

/* 2^-z in 2^-60, z in 2^-32. */
ONCE __u64 exp2_neg(__u64 z)
{
	__u64 y = (z & 0xffffffff) * LN2 >> 32, sum = 1ULL << 32;

	for (__u32 k = 12; k; k--)
		sum = (1ULL << 32) - (y * sum >> 32) / k; /* e^-y = 1 - y (1 - y/2 (1 - y/3 (...))) */
	return z >> 32 > 60 ? 0 : sum << 28 >> (z >> 32);
}

/* alpha^w in 2^-60; alpha in 2^-60, w in 2^-24. */
INLINE __u64 power(__u64 alpha, __u64 w)
{
	if (!alpha)
		return w ? 0 : UNIT;
	__u64 bits = (60ULL << 32) - log2_fixed(at_most(alpha, UNIT));

	if (bits && w >= (61ULL << 56) / bits)
		return 0;
	return exp2_neg(bits * w >> 24);
}
