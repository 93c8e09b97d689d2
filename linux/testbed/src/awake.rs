//! Keeps the processors awake during a run. A sleeping processor takes up to milliseconds to wake, above all on a
//! virtual machine, and the switch is late by that time.

use crate::sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Threads that keep each processor busy while nothing else runs on it. They end when this value is dropped, or with
/// the process.
#[derive(Debug)]
pub(crate) struct Awake {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// Keeps every processor awake that this process may use.
    pub(crate) fn all() -> Awake {
        let is_over = Arc::new(AtomicBool::new(false));
        let threads = sys::processors().into_iter().map(|processor| {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || {
                // Spins only at the lowest priority: at any other the loop would take time from the switch and the
                // hosts.
                if sys::run_on(&[processor]).and_then(|()| sys::when_idle()).is_ok() {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                }
            })
        });
        Awake { threads: threads.collect(), is_over }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threads_end_when_the_value_is_dropped() {
        let awake = Awake::all();
        assert_eq!(awake.threads.len(), sys::processors().len());
        assert!(!awake.threads.is_empty());
        drop(awake);
    }
}
