// SPDX-License-Identifier: Apache-2.0 OR MIT
/* DCTCP, SIGCOMM 2010; RFC 8257. */
#define LAW dctcp
#include "laws/dctcp.h"
#include "sender.h"
