/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* Flow data from applications and operators. */
#pragma once
#include "kernel.h"

/* One message on a connection. The storage of a listening socket is inherited by those that it accepts. */
struct flow {
	__u64 start;		/* bytes of the connection sent before it */
	__u64 size;		/* bytes; 0: not known */
	__u64 deadline_ns;	/* of the monotonic clock; 0: none */
	__u64 role;		/* enum role of laws/law.h */
};
