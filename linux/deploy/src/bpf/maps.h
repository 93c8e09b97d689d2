/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only */
/* The map that all programs share. libbpf pins the map where the loader says, or reuses a map pinned there. */
#pragma once
#include "flow.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");
