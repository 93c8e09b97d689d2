// SPDX-License-Identifier: Apache-2.0 OR MIT
/* D2TCP, SIGCOMM 2012. */
#define LAW d2tcp
#include "laws/d2tcp.h"
#include "sender.h"
