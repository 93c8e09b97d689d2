// SPDX-License-Identifier: Apache-2.0 OR MIT
/* FaST, KSII TIIS 2014. */
#define LAW fast
#include "laws/fast.h"
#include "sender.h"
