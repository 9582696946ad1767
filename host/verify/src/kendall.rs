//! Cases of Kendall's rank correlation.

use super::inputs::random;
use super::kind::{Cases, Kind, Primitive, Size};
use super::{CaseError, Sample};
use cuda_std::memory::Scalar;
use gridsync::device::Device;
use gridsync::primitives::kendall::{
    Correlatable, Correlator, Kendall, KendallError, kendall_on_cpu,
};
use gridsync::reference::kendall_by_pairs;
use gridsync_kernels::grid::merge_sort::TILE;
use std::any::type_name;
use std::marker::PhantomData;

/// The order of the two arrays of a case, and their ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// Few ties: any values. Every 16th is zero.
    Few,
    /// Many ties: each array has seven values.
    Many,
    /// All elements of x tied: it is constant.
    Constant,
    /// No ties, both in order.
    Sorted,
    /// No ties, and y in the reverse order of x.
    Reversed,
    /// Blocks of equal elements, of different lengths in x and y, out of order.
    Blocks,
}

impl Ties {
    /// All variants.
    pub const ALL: [Self; 6] =
        [Self::Few, Self::Many, Self::Constant, Self::Sorted, Self::Reversed, Self::Blocks];

    /// `len` elements of x and y.
    #[must_use]
    pub fn sample<T: Ranked>(self, len: usize, seed: u64) -> (Vec<T>, Vec<T>) {
        let any = |i: u64| random(seed, i);
        // They are small, so that they have the same order in any type.
        let rank = |i: u64| i as u32;
        let of = |i: u64| -> (T, T) {
            let last = len as u64 - 1;
            match self {
                Self::Few => (T::from_random(any(2 * i)), T::from_random(any(2 * i + 1))),
                Self::Many => {
                    (T::ranked(rank(any(2 * i) % 7)), T::ranked(rank(any(2 * i + 1) % 7)))
                }
                Self::Constant => (T::ranked(3), T::from_random(any(i))),
                Self::Sorted => (T::ranked(rank(i)), T::ranked(rank(i))),
                Self::Reversed => (T::ranked(rank(i)), T::ranked(rank(last - i))),
                Self::Blocks => {
                    (T::ranked(rank(any(i / 37) % 100)), T::ranked(rank(any(i / 53) % 100)))
                }
            }
        };
        (0..len as u64).map(of).unzip()
    }
}

/// An element type of the cases.
pub trait Ranked: Correlatable + Sample {
    /// A number for `rank`, which is below 2^24, in the order of the ranks. For signed types, ranks
    /// below 50 give negative numbers.
    fn ranked(rank: u32) -> Self;
}

macro_rules! ranked {
    ($($ty:ty: $middle:expr;)*) => {$(
        impl Ranked for $ty {
            fn ranked(rank: u32) -> Self {
                const MIDDLE: $ty = $middle;
                rank as $ty - MIDDLE
            }
        }
    )*};
}
ranked! { f32: 50.0; f64: 50.0; i32: 50; i64: 50; u32: 0; u64: 0; }

/// The longest arrays for which the CPU compares every pair too.
const BY_PAIRS: usize = 2100;

/// The correlation of arrays of `T`.
struct Correlation<T>(PhantomData<T>);

impl<T: Ranked> Cases for Correlation<T> {
    /// Correlates by each method, twice in one workspace, and compares every count with the CPU's.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        let Size::Pairs(len, ties, methods) = size else { return Err(size.mismatch()) };
        let (x, y) = ties.sample::<T>(len, seed);
        let case = format!("{ties:?} ties of {len} {}, seed {seed}", type_name::<T>());
        let failed = |error: KendallError| match error {
            KendallError::Device(error) => CaseError::Device(error),
            error => CaseError::Wrong(format!("{case}: {error}")),
        };
        let expected = kendall_on_cpu(&x, &y).map_err(failed)?;
        let held = |what: &str, got: Kendall| {
            if got.same(&expected) {
                return Ok(());
            }
            Err(CaseError::Wrong(format!("{case}: {what} gives {got:?}, the CPU {expected:?}")))
        };
        if len <= BY_PAIRS {
            held("a loop over all pairs", kendall_by_pairs(&x, &y))?;
        }
        let (x, y) = (device.upload(&x)?, device.upload(&y)?);
        for &method in methods {
            let mut correlator = Correlator::new(device, len)?.with_method(method);
            for time in ["the first time", "the second time"] {
                correlator.launch(&x, &y).map_err(failed)?;
                let got = correlator.result().map_err(failed)?;
                held(&format!("{method:?}, {time},"), got)?;
            }
        }
        Ok(())
    }
}

/// The kind of the correlation of arrays of `T`, called `name`, by these kernels.
pub(super) fn kind<T: Ranked + Scalar>(name: &'static str, kernels: &[&'static str]) -> Kind {
    let cases = Correlation::<T>(PhantomData);
    Kind::of::<T, T>(Primitive::Kendall, (name, "kendall"), kernels, TILE, cases)
}
