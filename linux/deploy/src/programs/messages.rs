//! Messages of libbpf. Expected errors, such as a device without a filter, are among them, so they are shown
//! only if a command fails.

use libbpf_rs::{PrintLevel, set_print};
use std::sync::{Mutex, PoisonError};

static KEPT: Mutex<String> = Mutex::new(String::new());

/// From here on libbpf prints nothing.
pub fn keep() {
    set_print(Some((PrintLevel::Warn, |_, message| {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push_str(&message);
    })));
}

/// Takes the messages since the last call.
pub(super) fn taken() -> String {
    std::mem::take(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}
