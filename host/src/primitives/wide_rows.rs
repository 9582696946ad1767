//! Sums of the rows of a matrix of 64-bit integers, in 128 bits.

use super::{PartError, RowReducer};
use crate::device::{Buffer, Device};
use crate::memory;
use crate::parallel::{self, CHUNK};
use bytemuck::{Pod, Zeroable};
use cuda_std::memory::Scalar;
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::op::{Operation, Sum};

/// A 64-bit integer that is summed in two halves, whose sums do not wrap around.
pub trait Halves: Scalar + Pod {
    /// Its upper half, with the sign.
    type Upper: Scalar + Pod;
    /// The sum of upper halves, in 64 bits.
    type Sum: RowReducible<Element = Self::Upper, Output: Into<i128>> + Default;

    /// Its upper and its lower half.
    fn halves(self) -> (Self::Upper, u32);
}

macro_rules! halves {
    ($($whole:ty: $upper:ty, $sum:ty;)*) => {$(
        impl Halves for $whole {
            type Upper = $upper;
            type Sum = Sum<$upper, $sum>;

            #[inline]
            fn halves(self) -> ($upper, u32) {
                ((self >> 32) as $upper, self as u32)
            }
        }
    )*};
}
halves! { i64: i32, i64; u64: u32, u64; }

/// Sums the rows of matrices of one size on one device, exactly, like
/// [`WideSum`](gridsync_kernels::op::WideSum).
///
/// The upper and then the lower halves of the elements are copied to the device, and each is summed
/// in 64 bits by the kernels for 32-bit elements.
pub struct WideRowReducer<T: Halves> {
    device: Device,
    upper: Half<T::Sum>,
    lower: Half<Sum<u32, u64>>,
}

/// One half of all elements.
struct Half<O: RowReducible> {
    reducer: RowReducer<O>,
    host: Vec<O::Element>,
    device: Buffer<O::Element>,
}

impl<T: Halves> WideRowReducer<T> {
    /// Plans sums of `rows` rows of `columns` elements on `device`.
    ///
    /// # Errors
    /// [`PartError::Memory`] if the host has too little memory for a copy of the matrix, and if the
    /// device fails.
    ///
    /// # Panics
    /// If rows have more than 2^32 elements: the sum of their lower halves could wrap around.
    pub fn new(device: &Device, rows: usize, columns: usize) -> Result<Self, PartError> {
        assert!(columns as u64 <= 1 << 32, "rows of {columns} elements, more than 2^32");
        let (upper, lower) = (T::Sum::default(), Sum::new());
        Ok(Self {
            device: device.clone(),
            upper: Half::new(upper, device, rows, columns)?,
            lower: Half::new(lower, device, rows, columns)?,
        })
    }

    /// The sum of each row of `input`, and the time of the kernels in µs.
    ///
    /// # Errors
    /// As for [`RowReducer::launch`], and if the device fails.
    ///
    /// # Panics
    /// If `input` does not have rows × columns elements.
    pub fn reduce(&mut self, input: &[T]) -> Result<(Vec<i128>, f64), PartError> {
        let Self { device, upper, lower } = self;
        assert_eq!(input.len(), upper.host.len(), "rows × columns elements");
        let halves = input.chunks(CHUNK).zip(upper.host.chunks_mut(CHUNK));
        let halves = halves.zip(lower.host.chunks_mut(CHUNK));
        parallel::for_each(halves, &|_, ((input, upper), lower)| {
            for ((x, upper), lower) in input.iter().zip(upper).zip(lower) {
                (*upper, *lower) = x.halves();
            }
        });
        let (upper, us_of_upper) = upper.reduce(device)?;
        let (lower, us_of_lower) = lower.reduce(device)?;
        let sums = upper.into_iter().zip(lower).map(|(upper, lower)| {
            let upper: i128 = upper.into();
            (upper << 32) + i128::from(lower)
        });
        Ok((sums.collect(), us_of_upper + us_of_lower))
    }
}

impl<O: RowReducible<Element: Pod + Zeroable>> Half<O> {
    fn new(op: O, device: &Device, rows: usize, columns: usize) -> Result<Self, PartError> {
        let len = rows.saturating_mul(columns);
        let reducer = RowReducer::new(op, device, rows, columns)?;
        reducer.compile()?;
        Ok(Self { reducer, host: memory::zeroed(len)?, device: device.alloc(len)? })
    }

    /// The sum of each row, and the time of the kernel in µs.
    fn reduce(
        &mut self,
        device: &Device,
    ) -> Result<(Vec<<O as Operation>::Output>, f64), PartError> {
        self.device.copy_part_from(0, &self.host)?;
        let us = device.time(|| self.reducer.launch(&self.device))?;
        Ok((self.reducer.results()?, us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, EmulatorConfig};
    use crate::reference;
    use gridsync_kernels::op::WideSum;

    #[test]
    fn row_sums_of_64_bit_integers_do_not_wrap_around() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        for (rows, columns) in [(3, 1), (5, 77), (2, 5000), (0, 4)] {
            let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let unsigned: Vec<u64> = (0..rows * columns).map(|i| bits(i) | 1 << 63).collect();
            let mut reducer = WideRowReducer::new(&device, rows, columns).expect("there is room");
            for _ in 0..2 {
                let (sums, _) = reducer.reduce(&unsigned).expect("it should run");
                let expected =
                    reference::reduce_rows(WideSum::<u64>::new(), &unsigned, rows, columns);
                assert_eq!(sums, expected, "{rows} rows of {columns} u64");
            }
            let signed: Vec<i64> = unsigned.iter().map(|&x| x as i64).collect();
            let mut reducer = WideRowReducer::new(&device, rows, columns).expect("there is room");
            let (sums, _) = reducer.reduce(&signed).expect("it should run");
            let expected = reference::reduce_rows(WideSum::<i64>::new(), &signed, rows, columns);
            assert_eq!(sums, expected, "{rows} rows of {columns} i64");
        }
    }
}
