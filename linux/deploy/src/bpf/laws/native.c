/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* The fixed-point laws as native functions, for tests and for simulations with these laws. */
#include "power.h"
#include "priority.h"

#define STATE void *s, struct window *w, const struct ack *ack

struct law {
	char name[8];
	__u64 params; /* 64-bit words of its parameters */
	void (*init)(STATE, const void *p);
	void (*on_ack)(STATE, const void *p);
	void (*on_congestion)(STATE, const void *p);
	void (*on_loss)(STATE, _Bool timeout, const void *p);
};

#define DEFINE(X) \
	_Static_assert(sizeof(struct X##_state) <= 64, "native.rs keeps 64 bytes"); \
	static void X##_native_init(STATE, const void *p) { X##_init(s, w, ack, p); } \
	static void X##_native_on_ack(STATE, const void *p) { X##_on_ack(s, w, ack, p); } \
	static void X##_native_on_congestion(STATE, const void *p) { X##_on_congestion(s, w, ack, p); } \
	static void X##_native_on_loss(STATE, _Bool timeout, const void *p) { X##_on_loss(s, w, ack, timeout, p); }

#define LAW(X) { \
	#X, sizeof(struct X##_params) / sizeof(__u64), \
	X##_native_init, X##_native_on_ack, X##_native_on_congestion, X##_native_on_loss, \
},

/* build.rs includes the laws and lists them in the order of NAMES. */
LAWS(DEFINE)

const struct law sf_laws[] = { LAWS(LAW) };

/* Every state of a law starts with its marks. */
__u64 sf_alpha(const struct marks *m) { return m->alpha; }

__u32 sf_fast_segment(const struct window *w, __u32 mss, __u64 room, const void *p)
{
	return fast_segment(w, mss, room, p);
}

__u64 sf_fast_window_bytes(const struct window *w, __u32 mss, const void *p) { return fast_window_bytes(w, mss, p); }

__u32 sf_priority_label(__u64 value) { return priority_label(value); }
__u32 sf_priority_dscp(__u64 value, __u32 lowest) { return priority_dscp(value, lowest); }

__u64 sf_log2_fixed(__u64 value) { return log2_fixed(value); }
__u64 sf_exp2_neg(__u64 z) { return exp2_neg(z); }
__u64 sf_power(__u64 alpha, __u64 w) { return power(alpha, w); }
