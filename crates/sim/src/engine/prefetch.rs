//! [`prefetch`]: loads data into the cache ahead of its use.

/// Prefetches the first `lines` cache lines at `place`. Affects only the speed.
#[inline(always)]
pub(crate) fn prefetch<T>(place: *const T, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and never faults, wherever it points.
        #[expect(unsafe_code, reason = "there is no safe way to ask for it")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast::<i8>().wrapping_add(64 * line));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, lines);
}
