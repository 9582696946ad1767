//! Histograms of weights: the sum of the weights of all elements in each bin.
//!
//! The weights are sorted with their elements, so that those of a bin are adjacent, and each bin is
//! reduced. Thus they are added along the tree of a reduction, in the order of the sorted elements:
//! equal ones by index. So the bits are the same on every GPU, in the emulator and on the CPU.

use super::{Binned, Bins, Histogram};
use crate::device::{Buffer, Device, DeviceError};
use crate::parallel;
use crate::primitives::carried;
use crate::primitives::reduce::{Reducer, reduce_on_cpu};
use crate::primitives::sort::{Key, Moved, Order, Sorter, argsort_on_cpu};
use crate::reference::gather;
use gridsync_entries::reduce::Reducible;
use gridsync_kernels::grid::reduce::Shape;
use gridsync_kernels::op::{Carried, Operation, Sum};
use std::ops::Range;

/// A type of weights: f32 or f64. They are added in f64.
pub trait Weight: Moved + sealed::Weight {}

mod sealed {
    use super::Reducible;

    pub trait Weight: Sized {
        /// Their sum.
        type Sum: Reducible<Element = Self, Output = f64>;

        fn sum() -> Self::Sum;
    }
}

macro_rules! weights {
    ($($ty:ident)*) => {$(
        impl Weight for $ty {}
        impl sealed::Weight for $ty {
            type Sum = Sum<$ty, f64>;

            fn sum() -> Self::Sum {
                Sum::new()
            }
        }
    )*};
}
weights! { f32 f64 }

/// The sum of the weights in each bin, and how many there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weighed {
    /// The sums, 0 for a bin without elements.
    pub sums: Vec<f64>,
    /// The number of elements.
    pub counts: Vec<u64>,
}

/// Bins of up to this many weights are copied to the host, and added there: about as many as are
/// copied in the time of a launch.
const SHORT: usize = 1 << 12;

/// Bins that a core adds at a time.
const AT_ONCE: usize = 64;

/// The sum of the weights of the elements of `input` in each bin: [`Histogram::weigh`].
///
/// ```
/// use gridsync::device::Device;
/// use gridsync::primitives::histogram::{Bins, weighted_histogram};
///
/// let device = Device::emulator();
/// let input = device.upload(&[0.5f32, 2.5, 0.25, 9.0])?;
/// let weights = device.upload(&[1.5f32, 2.0, 0.25, 7.0])?;
/// let bins = Bins::even(0.0, 3.0, 3)?;
/// assert_eq!(weighted_histogram(&bins, &input, &weights)?, [1.75, 0.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As there.
pub fn weighted_histogram<T: Binned + Key, W: Weight>(
    bins: &Bins<T>,
    input: &Buffer<T>,
    weights: &Buffer<W>,
) -> Result<Vec<f64>, DeviceError> {
    Ok(Histogram::new(input.device(), bins.clone())?.weigh(input, weights)?.sums)
}

impl<T: Binned + Key> Histogram<T> {
    /// The sum of `weights` of the elements of `input` in each bin, added in f64. Those of a bin are combined like an array of so many elements by a
    /// [`Reducer`], in the order of the sorted elements, so the bits are the same everywhere.
    ///
    /// Takes as long as a sort of pairs, needs memory for one, and a launch for each bin of more than
    /// 4096 elements. Waits for the device.
    ///
    /// # Errors
    /// [`DeviceError::LengthMismatch`] if there are not as many weights as elements;
    /// [`DeviceError::OtherDevice`] if a buffer is not on this device; and if the device fails.
    pub fn weigh<W: Weight>(
        &mut self,
        input: &Buffer<T>,
        weights: &Buffer<W>,
    ) -> Result<Weighed, DeviceError> {
        let (device, len) = (self.device.clone(), input.len());
        if weights.len() != len {
            return Err(DeviceError::LengthMismatch { buffer: weights.len(), given: len });
        }
        let (mut keys, mut sorted) = (device.alloc::<T>(len)?, device.alloc::<W>(len)?);
        let mut counts = device.alloc::<u64>(self.bins.len())?;
        self.launch(input, &mut counts)?;
        let output = (&mut keys, &mut sorted);
        Sorter::new(&device, 0)?.launch_pairs(Order::ASCENDING, (input, weights), output)?;
        let counts = counts.download()?;
        let (mut below, mut end) = (0, len);
        while below < end {
            let middle = below + (end - below) / 2;
            let key = keys.download_part(middle..middle + 1)?[0];
            if self.bins.is_below(key) { below = middle + 1 } else { end = middle }
        }
        let sums = sums_on(&device, &sorted, &starts(below, &counts))?;
        Ok(Weighed { sums, counts })
    }
}

impl<T: Binned + Key> Bins<T> {
    /// The sum of `weights` of the elements of `input` in each bin, computed on all cores of the CPU.
    /// The bits are those of [`Histogram::weigh`].
    ///
    /// # Panics
    /// If there are not as many weights as elements.
    #[must_use]
    pub fn weigh_on_cpu<W: Weight>(&self, input: &[T], weights: &[W]) -> Weighed {
        assert_eq!(input.len(), weights.len(), "a weight for each element");
        let order: Vec<u64> = argsort_on_cpu(Order::ASCENDING, input);
        let mut sorted = weights.to_vec();
        gather(weights, &order, &mut sorted);
        let below = order.partition_point(|&index| self.is_below(input[index as usize]));
        let counts = self.count_on_cpu(input);
        Weighed { sums: sums(&sorted, 0, &starts(below, &counts)), counts }
    }
}

/// Where the bins start in the sorted array, and where the last one ends.
fn starts(below: usize, counts: &[u64]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(counts.len() + 1);
    starts.push(below);
    let mut start = below;
    for &count in counts {
        start += count as usize;
        starts.push(start);
    }
    starts
}

/// The sums of the bins between `starts`. The first of the weights is number `first`.
fn sums<W: Weight>(sorted: &[W], first: usize, starts: &[usize]) -> Vec<f64> {
    let of_bins = parallel::map_chunks(starts.len() - 1, AT_ONCE, &|bins: Range<usize>| {
        let of_bin = |bin: usize| {
            let weights = &sorted[starts[bin] - first..starts[bin + 1] - first];
            reduce_on_cpu(W::sum(), weights)
        };
        bins.map(of_bin).collect::<Vec<_>>()
    });
    of_bins.concat()
}

/// The sums of the bins between `starts` of weights on a device: long ones are added there, and
/// short ones that follow each other are copied together.
fn sums_on<W: Weight>(
    device: &Device,
    sorted: &Buffer<W>,
    starts: &[usize],
) -> Result<Vec<f64>, DeviceError> {
    type Accumulator<W> = <<W as sealed::Weight>::Sum as Operation>::Accumulator;
    let bins = starts.len() - 1;
    let words = Accumulator::<W>::WORDS;
    let long: Vec<usize> = (0..bins).filter(|&bin| starts[bin + 1] - starts[bin] > SHORT).collect();
    let results = device.alloc::<u32>(long.len() * words)?;
    let mut reducer = Reducer::new(W::sum(), device)?;
    for (number, &bin) in long.iter().enumerate() {
        let part = starts[bin]..starts[bin + 1];
        let shape = Shape::of::<W>(part.len());
        let result = results.view().part(number * words, words);
        // SAFETY: the shape is made for the part, and the results outlive the launches, because the
        // download waits for them.
        unsafe { reducer.launch_in(shape, sorted, part, result)? };
    }
    let mut all = Vec::with_capacity(bins);
    let results = results.download()?;
    let ends = long.iter().copied().chain([bins]);
    let mut results = results.chunks(words);
    for bin in ends {
        let short = &starts[all.len()..=bin];
        let weights = sorted.download_part(short[0]..short[short.len() - 1])?;
        all.extend(sums(&weights, short[0], short));
        if let Some(result) = results.next() {
            let len = starts[bin + 1] - starts[bin];
            all.push(W::sum().finish_of(carried(result), len as u64));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::histogram::BinsError;

    /// Elements around the edges, in any order, with NaNs and zeros of both signs.
    fn elements(len: usize) -> Vec<f32> {
        let special = [f32::NAN, -0.0, 0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, -f32::NAN];
        let drawn = (0..len as u32).map(|i| (i * 40_503 % 1009) as f32 / 800.0 - 0.1);
        special.into_iter().chain(drawn).collect()
    }

    fn bits(sums: &[f64]) -> Vec<u64> {
        sums.iter().map(|sum| sum.to_bits()).collect()
    }

    #[test]
    fn weights_of_each_bin_are_added_with_the_same_bits_everywhere() -> Result<(), BinsError> {
        let input = elements(20_000);
        let weights: Vec<f32> = (0..input.len()).map(|i| 1.0 / (i + 1) as f32).collect();
        let device = Device::emulator();
        let on_device = device.upload(&input).expect("memory");
        let weights_there = device.upload(&weights).expect("memory");
        for bins in [
            Bins::even(0.0, 1.0, 1)?,
            Bins::even(0.0, 1.0, 3)?,
            Bins::even(-0.5, 1.5, 300)?,
            Bins::edges(&[-10.0, 0.0, 0.25, 0.250001, 100.0])?,
            Bins::edges(&[5.0, 6.0])?,
        ] {
            let Weighed { sums: on_cpu, counts } = bins.weigh_on_cpu(&input, &weights);
            assert_eq!(counts, bins.count_on_cpu(&input), "{bins:?}");
            let mut counter = Histogram::new(&device, bins.clone()).expect("a device");
            let there = counter.weigh(&on_device, &weights_there).expect("a device");
            assert_eq!((bits(&there.sums), there.counts), (bits(&on_cpu), counts), "{bins:?}");
            // As many 1s as elements.
            let ones = vec![1.0f64; input.len()];
            let counts: Vec<f64> = bins.count_on_cpu(&input).iter().map(|&n| n as f64).collect();
            assert_eq!(bins.weigh_on_cpu(&input, &ones).sums, counts, "{bins:?}");
            // All of a bin, in another order.
            let edges = bins.edge_list();
            for (bin, sum) in on_cpu.iter().enumerate() {
                let is_last = bin + 1 == bins.len();
                let is_inside = |x: f64| {
                    edges[bin] <= x && (x < edges[bin + 1] || is_last && x == edges[bin + 1])
                };
                let inside = input.iter().zip(&weights).filter(|(x, _)| is_inside(f64::from(**x)));
                let expected: f64 = inside.map(|(_, &weight)| f64::from(weight)).sum();
                assert!((sum - expected).abs() <= 1e-9 * expected, "bin {bin} of {bins:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn each_integer_has_the_sum_of_its_weights() -> Result<(), BinsError> {
        let input: Vec<i64> = (0..5000).map(|i| i * 37 % 11 - 5).collect();
        let weights: Vec<f64> = input.iter().map(|&x| x as f64 + 0.5).collect();
        let bins = Bins::numbers(-3..=6)?;
        let counts = bins.count_on_cpu(&input);
        let expected: Vec<f64> = counts
            .iter()
            .zip(-3..)
            .map(|(&count, x)| count as f64 * (f64::from(x) + 0.5))
            .collect();
        assert_eq!(bins.weigh_on_cpu(&input, &weights).sums, expected);
        let device = Device::emulator();
        let input = device.upload(&input).expect("memory");
        let weights = device.upload(&weights).expect("memory");
        assert_eq!(weighted_histogram(&bins, &input, &weights), Ok(expected));
        Ok(())
    }

    #[test]
    fn as_many_weights_as_elements_are_needed() {
        let device = Device::emulator();
        let (input, weights) = (device.upload(&[1.0f32, 2.0]), device.upload(&[1.0f32]));
        let (input, weights) = (input.expect("memory"), weights.expect("memory"));
        let bins = Bins::even(0.0, 3.0, 3).expect("bins");
        let refused = weighted_histogram(&bins, &input, &weights);
        assert_eq!(refused, Err(DeviceError::LengthMismatch { buffer: 1, given: 2 }));
    }
}
