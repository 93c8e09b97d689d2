//! Processors that stay awake. One that sleeps takes up to milliseconds to wake, on a virtual machine above all, and the
//! switch is late by as much.

use crate::sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A thread on each processor that runs while nothing else does. They end with this, or with the process.
#[derive(Debug)]
pub struct Awake {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// All processors that this process may use.
    pub fn all() -> Awake {
        let is_over = Arc::new(AtomicBool::new(false));
        let threads = sys::processors().into_iter().map(|processor| {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || {
                // With more than the lowest priority it would be in the way.
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
    fn it_ends_when_it_is_told_to() {
        let awake = Awake::all();
        assert_eq!(awake.threads.len(), sys::processors().len());
        assert!(!awake.threads.is_empty());
        drop(awake);
    }
}
