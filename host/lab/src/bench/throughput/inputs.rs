//! Inputs: the same for us and the peer, and fast to fill.

use bytemuck::Pod;
use gridsync::device::{Buffer, Device, DeviceError};
use gridsync_verify::{Dtype, Scalar};
use std::any::Any;

/// Elements after which an input repeats.
const PERIOD: usize = 1 << 24;

/// An element type of inputs.
///
/// The values are small integers, so that sums stay exact as long as possible. They are hashed,
/// because the power that a kernel draws, and so its clock, depends on its data. A peer uses the
/// same values.
pub(in crate::bench) trait Element: Pod + Scalar {
    /// The smallest of 16 values: −8, or 0 for unsigned types.
    const LEAST: i32;

    /// A small integer in this type.
    fn of(small: i32) -> Self;
}

macro_rules! elements {
    ($($ty:ty: $least:literal;)*) => {$(
        impl Element for $ty {
            const LEAST: i32 = $least;

            fn of(small: i32) -> Self {
                small as Self
            }
        }
    )*};
}
elements! { f32: -8; f64: -8; i32: -8; u32: 0; u64: 0; }

/// Element `i` of every input: the lowest four bits of a hash, plus the smallest value.
fn small<T: Element>(i: usize) -> i32 {
    (hash((i % PERIOD) as u32) % 16) as i32 + T::LEAST
}

/// Other values for inputs of f32. A peer uses the same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) enum Values {
    /// Uniform between 0 and 1.
    Uniform,
    /// Runs: `percent` percent of the elements of a period are greater by 1 than their predecessor.
    /// The others equal it.
    Runs { percent: u32 },
}

/// Element `i` of inputs of uniform values: the upper 24 bits of a hash, as a fraction of 2^24.
fn uniform(i: usize) -> f32 {
    (hash((i % PERIOD) as u32) >> 8) as f32 / (1 << 24) as f32
}

/// The first `n` elements of runs.
fn runs(n: usize, percent: u32) -> Vec<f32> {
    let mut grown = 0;
    let values = (0..n).map(|i| {
        // Branchless: a branch would be mispredicted half of the time.
        grown += u32::from(uniform(i) < percent as f32 / 100.0);
        grown as f32
    });
    values.collect()
}

/// The kinds of inputs of one type and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An [`Element`] each.
    Small,
    /// The two arrays of [`Stock::pairs`], alternating.
    Pairs,
    /// The elements of [`Stock::hashed`].
    Hashed,
    Of(Values),
}

/// Inputs of one type and length, each in a separate allocation.
struct Inputs<T> {
    kind: Kind,
    n: usize,
    buffers: Vec<Buffer<T>>,
}

/// The last requested inputs. The next caller may request the same.
#[derive(Default)]
pub(in crate::bench) struct Stock(Option<Box<dyn Any>>);

impl Stock {
    /// At least `count` inputs of `n` elements.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], after which nothing is held; or if a copy fails.
    pub(in crate::bench) fn inputs<T: Element>(
        &mut self,
        device: &Device,
        n: usize,
        count: usize,
    ) -> Result<&[Buffer<T>], DeviceError> {
        let period = |n| vec![(0..n).map(|i| T::of(small::<T>(i))).collect()];
        self.filled(device, n, count, Kind::Small, period)
    }

    /// The same with other values.
    ///
    /// # Errors
    /// As for [`inputs`](Self::inputs).
    pub(in crate::bench) fn of_values(
        &mut self,
        device: &Device,
        n: usize,
        count: usize,
        values: Values,
    ) -> Result<&[Buffer<f32>], DeviceError> {
        let period = |n| match values {
            Values::Uniform => vec![(0..n).map(uniform).collect()],
            Values::Runs { percent } => vec![runs(n, percent)],
        };
        self.filled(device, n, count, Kind::Of(values), period)
    }

    /// At least `count` pairs of inputs of `n` elements. Element `i` of the first input is
    /// `of(hash(2 i))`, and of the second `of(hash(2 i + 1))`. All callers with one `T` pass the
    /// same `of`.
    ///
    /// # Errors
    /// As for [`inputs`](Self::inputs).
    pub(in crate::bench) fn pairs<T: Pod>(
        &mut self,
        device: &Device,
        n: usize,
        count: usize,
        of: fn(u32) -> T,
    ) -> Result<&[[Buffer<T>; 2]], DeviceError> {
        let array = |n, first| (0..n).map(|i| of(hash((2 * i + first) as u32))).collect();
        let both = |n| vec![array(n, 0), array(n, 1)];
        let inputs = self.filled(device, n, 2 * count, Kind::Pairs, both)?;
        Ok(inputs.as_chunks().0)
    }

    /// At least `count` inputs of `n` elements. Element `i` is `of` of two hashes: those of `2 i`
    /// and of `2 i + 1`. All callers with one `T` pass the same `of`.
    ///
    /// # Errors
    /// As for [`inputs`](Self::inputs).
    pub(in crate::bench) fn hashed<T: Pod>(
        &mut self,
        device: &Device,
        n: usize,
        count: usize,
        of: fn([u32; 2]) -> T,
    ) -> Result<&[Buffer<T>], DeviceError> {
        let of = |i| of([2 * i as u32, 2 * i as u32 + 1].map(hash));
        self.filled(device, n, count, Kind::Hashed, |n| vec![(0..n).map(of).collect()])
    }

    /// At least `count` inputs of `n` elements. `periods` contains their first elements; the inputs
    /// use the periods in turn.
    fn filled<T: Pod>(
        &mut self,
        device: &Device,
        n: usize,
        count: usize,
        kind: Kind,
        periods: impl FnOnce(usize) -> Vec<Vec<T>>,
    ) -> Result<&[Buffer<T>], DeviceError> {
        let held = self.0.take().and_then(|held| held.downcast::<Inputs<T>>().ok());
        let held = match held {
            Some(held) if (held.kind, held.n) == (kind, n) && held.buffers.len() >= count => held,
            other => {
                // Drop this first: both the old and the new inputs may not fit.
                drop(other);
                let periods = periods(n.min(PERIOD));
                let buffers = periods.iter().cycle().take(count).map(|period| {
                    let buffer = device.alloc(n)?;
                    fill(&buffer, period)?;
                    Ok(buffer)
                });
                Box::new(Inputs { kind, n, buffers: buffers.collect::<Result<_, DeviceError>>()? })
            }
        };
        let held = self.0.insert(held).downcast_ref::<Inputs<T>>();
        Ok(&held.expect("it is what was just put there").buffers)
    }
}

/// Fills `buffer` with repetitions of `period`.
fn fill<T: Pod>(buffer: &Buffer<T>, period: &[T]) -> Result<(), DeviceError> {
    let mut at = 0;
    while at < buffer.len() {
        let part = &period[..period.len().min(buffer.len() - at)];
        let to = buffer.address() + (at * size_of::<T>()) as u64;
        // SAFETY: the allocation is live, and has at least the length of `part` after `to`.
        unsafe {
            let backend = buffer.device().backend();
            backend.upload(to, bytemuck::cast_slice(part))?;
        }
        at += part.len();
    }
    Ok(())
}

/// The exact sums of the first elements of an input.
pub(in crate::bench) struct ExactSums {
    /// The sums within a period.
    period: Vec<i64>,
}

impl ExactSums {
    /// The sums of inputs of `n` elements.
    pub(in crate::bench) fn of<T: Element>(n: usize) -> Self {
        let mut sum = 0;
        let sums = (0..n.min(PERIOD)).map(|i| {
            sum += i64::from(small::<T>(i));
            sum
        });
        Self { period: sums.collect() }
    }

    /// The sum of the elements up to and including element `i`.
    ///
    /// # Panics
    /// If `i` is out of range.
    pub(in crate::bench) fn up_to(&self, i: usize) -> i64 {
        let whole = match i / PERIOD {
            0 => 0,
            periods => periods as i64 * self.period[PERIOD - 1],
        };
        whole + self.period[i % PERIOD]
    }
}

/// The finaliser of MurmurHash3 (public domain, Austin Appleby).
fn hash(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// Bytes of `n` elements of `dtype`.
pub(super) fn bytes(dtype: Dtype, n: usize) -> u64 {
    dtype.size() as u64 * n as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Emulator, EmulatorConfig};

    fn device() -> Device {
        Device::new(Emulator::new(EmulatorConfig::default()))
    }

    #[test]
    fn an_input_repeats_its_period_to_the_last_element() {
        let buffer = device().alloc::<f32>(10).expect("there is room");
        fill(&buffer, &[1.0, 2.0, 3.0, 4.0]).expect("the emulator copies");
        let filled = buffer.download().expect("the emulator copies");
        assert_eq!(filled, [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0]);
    }

    #[test]
    fn elements_are_small_integers_of_both_signs_in_signed_types() {
        // The same values as in `fill` of host/lab/peers/throughput.cuh.
        let low: Vec<u32> = (0..4).map(|i| hash(i) % 16).collect();
        assert_eq!(low, [0, 7, 6, 7]);
        let (device, mut stock) = (device(), Stock::default());
        let inputs = stock.inputs::<i32>(&device, 4096, 2).expect("there is room");
        let values = inputs[1].download().expect("the emulator copies");
        assert_eq!(values.iter().min(), Some(&-8));
        assert_eq!(values.iter().max(), Some(&7));
        let inputs = stock.inputs::<u64>(&device, 4096, 1).expect("there is room");
        let values = inputs[0].download().expect("the emulator copies");
        assert_eq!(values.iter().max(), Some(&15));
    }

    #[test]
    fn both_inputs_of_every_pair_have_different_hashes() {
        let (device, mut stock) = (device(), Stock::default());
        let pairs = stock.pairs(&device, 2, 3, |hash| hash).expect("there is room");
        assert_eq!(pairs.len(), 3);
        for pair in pairs {
            let [x, y] = [0, 1].map(|i: usize| pair[i].download().expect("the emulator copies"));
            // The same values as in host/lab/peers/scipy_kendall.py.
            assert_eq!((x, y), (vec![hash(0), hash(2)], vec![hash(1), hash(3)]));
        }
    }

    #[test]
    fn inputs_that_are_requested_again_are_not_refilled() {
        let (device, mut stock) = (device(), Stock::default());
        let inputs = stock.inputs::<f64>(&device, 100, 2).expect("there is room");
        // SAFETY: the first element of a live buffer.
        unsafe {
            let first = bytemuck::bytes_of(&1000.0f64);
            let copied = device.backend().upload(inputs[0].address(), first);
            copied.expect("the emulator copies");
        }
        let mut first = |n, count| {
            let inputs = stock.inputs::<f64>(&device, n, count).expect("there is room");
            assert_eq!((inputs.len(), inputs[0].len()), (count, n));
            inputs[0].download().expect("the emulator copies")[0]
        };
        assert_eq!(first(100, 2), 1000.0);
        assert_eq!(first(101, 2), -8.0);
        assert_eq!(first(100, 2), -8.0);
    }
}
