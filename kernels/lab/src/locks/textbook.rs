//! The textbook lock.

use cuda_std::prelude::*;
use gridsync_kernels::grid::lock::Lock;

/// The lock as it is often printed:
///
/// ```c
/// while (atomicCAS(&lock, 0, 1) != 0) {}
/// __threadfence();
/// // the critical section
/// __threadfence();
/// atomicExch(&lock, 0);
/// ```
///
/// It is correct. But every waiting thread writes to the word all the time, or tries to, and the
/// release has to queue up among these attempts. The fences are sequentially consistent, which is
/// more than an acquire and a release need.
#[derive(Debug)]
pub struct TextbookLock {
    word: Global<u32>,
}

impl TextbookLock {
    /// Attaches to the lock in `word`, one element, 0 before the first use. Called by every thread
    /// that wants to acquire it.
    #[device]
    pub fn attach(word: Global<u32>) -> Self {
        Self { word }
    }
}

impl Lock for TextbookLock {
    type Held = Global<u32>;

    #[device]
    fn acquire_unless(&mut self, mut give_up: impl FnMut() -> bool) -> Option<Global<u32>> {
        let mut taken = false;
        spin::until(|| {
            taken = self.word.compare_exchange(0, 0, 1, Ordering::Relaxed, Scope::Device) == 0;
            taken || give_up()
        });
        thread::device_fence();
        if taken { Some(self.word) } else { None }
    }

    #[device]
    unsafe fn release(word: Global<u32>) {
        thread::device_fence();
        word.exchange(0, 0, Ordering::Relaxed, Scope::Device);
    }
}
