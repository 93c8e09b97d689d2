// SPDX-License-Identifier: Apache-2.0 OR MIT
/* L2DCT, INFOCOM 2013. */
#define LAW l2dct
#include "laws/l2dct.h"
#include "sender.h"
