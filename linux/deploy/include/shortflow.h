/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Data about a flow, which an application states by setsockopt(2) on its TCP socket:
 *
 *	uint64_t deadline = 20 * 1000 * 1000;
 *	setsockopt(fd, SOL_SHORTFLOW, SHORTFLOW_DEADLINE_NS, &deadline, sizeof(deadline));
 *
 * Any user may call it in a cgroup that `shortflow-linux load --cgroup` has been given. In other cgroups the call
 * fails with ENOPROTOOPT. Every value is a uint64_t. Sockets that a listening socket accepts inherit its values.
 * A deadline starts at once, so on a listening socket the call fails with EINVAL. getsockopt(2) returns the stated
 * value; for a deadline it returns the remaining time, or 1 after the deadline.
 */
#ifndef SHORTFLOW_H
#define SHORTFLOW_H

#define SOL_SHORTFLOW 0x5346

/* Bytes of the message that starts with the next byte sent; 0: unknown. */
#define SHORTFLOW_SIZE 1
/* Nanoseconds from now until the deadline of the message; 0: no deadline. */
#define SHORTFLOW_DEADLINE_NS 2
/* Urgency of the message. */
#define SHORTFLOW_CLASS 3

#define SHORTFLOW_UNKNOWN 0
#define SHORTFLOW_SHORT 1
#define SHORTFLOW_LONG 2

#endif
