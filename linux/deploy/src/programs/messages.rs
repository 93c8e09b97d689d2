//! Messages of libbpf. They include expected errors, such as a device without a filter, so they are shown only if a
//! command fails.

use libbpf_rs::{PrintLevel, set_print};
use std::sync::{Mutex, PoisonError};

static KEPT: Mutex<String> = Mutex::new(String::new());

/// Collects libbpf's messages from now on instead of printing them.
pub fn keep() {
    set_print(Some((PrintLevel::Warn, |_, message| {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push_str(&message);
    })));
}

/// Returns the messages since the last call.
pub(crate) fn taken() -> String {
    std::mem::take(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner))
}
