/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Flow data of an application, stated by setsockopt(2) on its TCP socket:
 *
 *	uint64_t deadline = 20 * 1000 * 1000;
 *	setsockopt(fd, SOL_SHORTFLOW, SHORTFLOW_DEADLINE_NS, &deadline, sizeof(deadline));
 *
 * Any user may, in a cgroup given to `shortflow-linux load --cgroup`; elsewhere the call fails with ENOPROTOOPT.
 * Every value is a uint64_t. Values of a listening socket hold for those that it accepts. A deadline begins
 * at once, so there the call fails with EINVAL. getsockopt(2) returns the stated value; for a deadline the time
 * left, and 1 when it has passed.
 */
#ifndef SHORTFLOW_H
#define SHORTFLOW_H

#define SOL_SHORTFLOW 0x5346

/* Bytes of the message that begins with the next byte sent; 0: not known. */
#define SHORTFLOW_SIZE 1
/* Nanoseconds from now until it should be complete; 0: no deadline. */
#define SHORTFLOW_DEADLINE_NS 2
/* Urgency of the message. */
#define SHORTFLOW_CLASS 3

#define SHORTFLOW_UNKNOWN 0
#define SHORTFLOW_SHORT 1
#define SHORTFLOW_LONG 2

#endif
