// SPDX-License-Identifier: Apache-2.0 OR MIT
/* ATCP, University of Wisconsin-Madison. */
#define LAW atcp
#include "laws/atcp.h"
#include "sender.h"
