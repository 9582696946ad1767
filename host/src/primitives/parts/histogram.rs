//! Histograms, part by part.

use super::PartError;
use crate::device::{Buffer, Device};
use crate::memory;
use crate::parallel;
use crate::primitives::histogram::{Binned, Bins, Histogram};
use std::time::Instant;

/// Counts the elements of an array that is passed part by part, on the CPU or on a device with room
/// for one part.
pub struct PartHistogram<T: Binned> {
    bins: Bins<T>,
    on: On<T>,
    counts: Vec<u64>,
    us: f64,
}

enum On<T: Binned> {
    Device(Box<OnDevice<T>>),
    Cpu,
}

struct OnDevice<T: Binned> {
    device: Device,
    counter: Histogram<T>,
    elements: Buffer<T>,
    counts: Buffer<u64>,
    /// The counts of a part.
    of_part: Vec<u64>,
}

impl<T: Binned> PartHistogram<T> {
    /// Counts in `bins` on `device`, of parts of at most `part` elements.
    ///
    /// # Errors
    /// If the device fails, and [`PartError::Memory`] for the counts.
    pub fn new(bins: &Bins<T>, device: &Device, part: usize) -> Result<Self, PartError> {
        let counter = Histogram::new(device, bins.clone())?;
        counter.compile()?;
        let on = OnDevice {
            device: device.clone(),
            counter,
            elements: device.alloc(part)?,
            counts: device.alloc(bins.len())?,
            of_part: memory::zeroed(bins.len())?,
        };
        Ok(Self { on: On::Device(Box::new(on)), ..Self::on_cpu(bins)? })
    }

    /// Counts in `bins` on all cores of the CPU, of parts of any length.
    ///
    /// # Errors
    /// [`PartError::Memory`] for the counts.
    pub fn on_cpu(bins: &Bins<T>) -> Result<Self, PartError> {
        let counts = memory::zeroed(bins.len())?;
        Ok(Self { bins: bins.clone(), on: On::Cpu, counts, us: 0.0 })
    }

    /// Counts the elements of the next part.
    ///
    /// # Errors
    /// If the device fails, and [`PartError::Memory`] for counts of each core. Then the part was not
    /// counted, and may be retried.
    ///
    /// # Panics
    /// If it is longer than a part may be.
    pub fn next(&mut self, elements: &[T]) -> Result<(), PartError> {
        self.us += match &mut self.on {
            On::Cpu => {
                // Each core has its own counts, unless most would stay zero.
                let bins = self.bins.len();
                let each = parallel::cores().min(elements.len() / bins).max(1);
                memory::probe(each * bins * size_of::<u64>())?;
                let start = Instant::now();
                let counts = self.bins.count_on_cpu(elements);
                add(&mut self.counts, &counts);
                start.elapsed().as_secs_f64() * 1e6
            }
            On::Device(on) => {
                let OnDevice { device, counter, elements: input, counts, of_part } = &mut **on;
                input.copy_part_from(0, elements)?;
                let part = 0..elements.len();
                let us = device.time(|| counter.launch_part(input, part.clone(), counts))?;
                counts.download_to(0, of_part)?;
                add(&mut self.counts, of_part);
                us
            }
        };
        Ok(())
    }

    /// The number of elements in each bin.
    #[must_use]
    pub fn counts(self) -> Vec<u64> {
        self.counts
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

/// Adds the counts of a part.
fn add(counts: &mut [u64], of_part: &[u64]) {
    counts.iter_mut().zip(of_part).for_each(|(count, more)| *count += more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_counts_of_the_whole_array() {
        let input: Vec<i32> = (0..1000).map(|i| i * 37 % 101 - 50).collect();
        let bins = Bins::numbers(-40..=40).expect("they are few");
        let expected = bins.count_on_cpu(&input);
        let device = Device::emulator();
        for part in [300, 999, 1000, 5000] {
            let on_device = PartHistogram::new(&bins, &device, part).expect("an emulator");
            for mut counted in [PartHistogram::on_cpu(&bins).expect("few bins"), on_device] {
                for part in input.chunks(part) {
                    counted.next(part).expect("there is room");
                }
                assert_eq!(counted.counts(), expected, "parts of {part}");
            }
        }
    }
}
