/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* Data about flows, stated by applications and operators. */
#pragma once
#include "kernel.h"

/* One message on a connection. Sockets that a listening socket accepts inherit its storage. */
struct flow {
	__u64 start;		/* bytes of the connection sent before the message */
	__u64 size;		/* bytes; 0: unknown */
	__u64 deadline_ns;	/* of the monotonic clock; 0: none */
	__u64 role;		/* enum role of laws/law.h */
};
