//! Words that a kernel writes and the host reads, without a copy between them.

use super::{Device, DeviceError};
use cuda_std::memory::Global;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What an empty word holds. A kernel may write it too: then its end says that the word is there.
const EMPTY: u32 = 0xffb7_3c91;

/// How long the host looks into the mailbox before it waits for the stream. A word is there about
/// a microsecond after the kernel has written it; after a wait for the stream a thread goes on some
/// microseconds later, which a kernel as long as this does not feel.
const LOOKING: Duration = Duration::from_micros(100);

/// Words in host memory that kernels of a device can write. One launch at a time fills it.
pub(crate) struct Mailbox {
    device: Device,
    /// Where the words are, for host and device.
    address: u64,
    /// How many there are.
    len: usize,
    /// The words that a launch may still write.
    awaited: usize,
}

impl Mailbox {
    /// A mailbox of `device` with room for `len` words; none if it has none to lend. Then results have to be
    /// copied.
    ///
    /// # Errors
    /// Errors of the device.
    pub(crate) fn of(device: &Device, len: usize) -> Result<Option<Self>, DeviceError> {
        let lent = device.backend().lend_mailbox(len)?;
        Ok(lent.map(|address| Self { device: device.clone(), address, len, awaited: 0 }))
    }

    /// Empties `words` words and lets `launch` put a launch into the stream that writes each of them once.
    ///
    /// # Errors
    /// Those of `launch`; and as for [`wait`](Self::wait) if the last wait failed, because the words are still
    /// awaited then.
    ///
    /// # Panics
    /// If there are not so many words.
    pub(crate) fn fill(
        &mut self,
        words: usize,
        launch: impl FnOnce(Global<u32>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        assert!(words <= self.len, "{words} of {} words", self.len);
        self.wait()?;
        self.words()[..words].iter().for_each(|word| word.store(EMPTY, Ordering::Relaxed));
        // SAFETY: the words are this mailbox's. It stays lent as long as a launch may write them.
        launch(unsafe { Global::from_address(self.address, words) })?;
        self.awaited = words;
        Ok(())
    }

    /// Waits for the words that the last launch writes; none if there was no launch since the last wait.
    ///
    /// # Errors
    /// Errors of the stream. Then nobody knows whether something is still going to write.
    pub(crate) fn wait(&mut self) -> Result<Vec<u32>, DeviceError> {
        let awaited = &self.words()[..self.awaited];
        let begun = Instant::now();
        // Each word says by itself that it is there.
        while awaited.iter().any(|word| word.load(Ordering::Acquire) == EMPTY) {
            if begun.elapsed() > LOOKING {
                self.device.synchronize()?;
                break;
            }
            std::hint::spin_loop();
        }
        let found = awaited.iter().map(|word| word.load(Ordering::Acquire)).collect();
        self.awaited = 0;
        Ok(found)
    }

    fn words(&self) -> &[AtomicU32] {
        let words = std::ptr::with_exposed_provenance(self.address as usize);
        // SAFETY: the backend lends so many words, aligned, as long as it lives, and this has its
        // device. Only atomic accesses are made here, and single ones by the kernel.
        unsafe { std::slice::from_raw_parts(words, self.len) }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // What may still be written to is not lent to anybody else.
        if self.awaited == 0 {
            // SAFETY: it was lent by this backend, and no launch is going to write to it.
            unsafe { self.device.backend().take_mailbox_back(self.address, self.len) };
        }
    }
}
