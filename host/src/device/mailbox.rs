//! A few words that a kernel writes and the host reads, without a copy between them.

use super::{Device, DeviceError};
use cuda_std::memory::Global;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The most words of a mailbox.
pub(crate) const WORDS: usize = 4;

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
    /// The words that a launch may still write.
    awaited: usize,
}

impl Mailbox {
    /// A mailbox of `device`; none if it has none to lend. Then results have to be copied.
    ///
    /// # Errors
    /// Errors of the device.
    pub(crate) fn of(device: &Device) -> Result<Option<Self>, DeviceError> {
        let lent = device.backend().lend_mailbox()?;
        Ok(lent.map(|address| Self { device: device.clone(), address, awaited: 0 }))
    }

    /// Empties `words` words, for one launch that writes each of them once.
    ///
    /// # Errors
    /// As for [`wait`](Self::wait), if the last wait failed: the words are still awaited then.
    ///
    /// # Panics
    /// If there are not so many words.
    pub(crate) fn open(&mut self, words: usize) -> Result<Global<u32>, DeviceError> {
        assert!(words <= WORDS, "{words} of {WORDS} words");
        self.wait()?;
        self.words()[..words].iter().for_each(|word| word.store(EMPTY, Ordering::Relaxed));
        self.awaited = words;
        // SAFETY: the words are this mailbox's. It stays lent as long as a launch may write them.
        Ok(unsafe { Global::from_address(self.address, words) })
    }

    /// Forgets an opening that no launch followed.
    pub(crate) fn close(&mut self) {
        self.awaited = 0;
    }

    /// Waits for the words that the launch writes; none if there was no launch.
    ///
    /// # Errors
    /// Errors of the stream. Then nobody knows whether something is still going to write.
    pub(crate) fn wait(&mut self) -> Result<[u32; WORDS], DeviceError> {
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
        let mut found = [0; WORDS];
        for (found, word) in found.iter_mut().zip(awaited) {
            *found = word.load(Ordering::Acquire);
        }
        self.awaited = 0;
        Ok(found)
    }

    fn words(&self) -> &[AtomicU32; WORDS] {
        let words = std::ptr::with_exposed_provenance(self.address as usize);
        // SAFETY: the backend lends at least so many words, aligned, as long as it lives, and this
        // has its device. Only atomic accesses are made here, and single ones by the kernel.
        unsafe { &*words }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // What may still be written to is not lent to anybody else.
        if self.awaited == 0 {
            // SAFETY: it was lent by this backend, and no launch is going to write to it.
            unsafe { self.device.backend().take_mailbox_back(self.address) };
        }
    }
}
