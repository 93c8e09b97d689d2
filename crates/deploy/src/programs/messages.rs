//! What libbpf says on its own. It speaks of errors that are expected too, such as a device without a filter, so it is
//! heard only where a command fails.

use libbpf_rs::{PrintLevel, set_print};
use std::sync::{Mutex, PoisonError};

static KEPT: Mutex<String> = Mutex::new(String::new());

/// From here on libbpf prints nothing.
pub fn keep() {
    set_print(Some((PrintLevel::Warn, |_, message| {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push_str(&message);
    })));
}

/// What it has said since the last time.
pub(super) fn taken() -> String {
    std::mem::take(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}
