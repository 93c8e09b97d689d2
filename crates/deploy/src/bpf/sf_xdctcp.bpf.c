// SPDX-License-Identifier: Apache-2.0 OR MIT
/* xDCTCP, UC San Diego 2015. */
#define LAW xdctcp
#include "laws/xdctcp.h"
#include "sender.h"
