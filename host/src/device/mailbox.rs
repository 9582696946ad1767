//! Words that a kernel writes and the host reads, without a copy.

use super::{Device, DeviceError};
use cuda_std::memory::Global;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The value of an empty word. A kernel may write it too: then the end of the launch shows that the
/// word was written.
const EMPTY: u32 = 0xffb7_3c91;

/// How long the host polls the mailbox before it waits for the stream. A word arrives about a
/// microsecond after the kernel has written it. After a wait for the stream, a thread wakes up some
/// microseconds later, which is negligible for a kernel that runs for this long.
const LOOKING: Duration = Duration::from_micros(100);

/// Words in host memory that kernels of a device can write. Only one launch at a time fills it.
pub(crate) struct Mailbox {
    device: Device,
    /// The address of the words, for host and device.
    address: u64,
    /// Number of words.
    len: usize,
    /// Number of words that a launch may still write.
    awaited: usize,
}

impl Mailbox {
    /// A mailbox of `device` with room for `len` words; `None` if the device has none to lend. Then
    /// results have to be copied.
    ///
    /// # Errors
    /// If the device fails.
    pub(crate) fn of(device: &Device, len: usize) -> Result<Option<Self>, DeviceError> {
        let lent = device.backend().lend_mailbox(len)?;
        Ok(lent.map(|address| Self { device: device.clone(), address, len, awaited: 0 }))
    }

    /// Empties `words` words and calls `launch`, which must submit a launch that writes each of
    /// them once.
    ///
    /// # Errors
    /// If `launch` fails; and as for [`wait`](Self::wait) if the last wait failed, because its
    /// words are still awaited then.
    ///
    /// # Panics
    /// If the mailbox has fewer words.
    pub(crate) fn fill(
        &mut self,
        words: usize,
        launch: impl FnOnce(Global<u32>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        assert!(words <= self.len, "{words} of {} words", self.len);
        self.wait()?;
        self.words()[..words].iter().for_each(|word| word.store(EMPTY, Ordering::Relaxed));
        // SAFETY: the words belong to this mailbox, which stays lent as long as a launch may write
        // them.
        launch(unsafe { Global::from_address(self.address, words) })?;
        self.awaited = words;
        Ok(())
    }

    /// Waits for the words of the last launch. Returns nothing if there was no launch since the
    /// last wait.
    ///
    /// # Errors
    /// If the stream fails. Then it is unknown whether something will still write.
    pub(crate) fn wait(&mut self) -> Result<Vec<u32>, DeviceError> {
        let awaited = &self.words()[..self.awaited];
        let begun = Instant::now();
        // Each word shows whether it has arrived.
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
        // SAFETY: the backend lends this many words, aligned, as long as it lives, and this holds
        // its device. The host makes only atomic accesses, and the kernel single ones.
        unsafe { std::slice::from_raw_parts(words, self.len) }
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // A mailbox that may still be written to is not lent again.
        if self.awaited == 0 {
            // SAFETY: it was lent by this backend, and no launch will write to it.
            unsafe { self.device.backend().take_mailbox_back(self.address, self.len) };
        }
    }
}
