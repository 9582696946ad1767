//! The elements of histograms, and the kernels for them.

use super::way::{By, Launch, Way};
use bytemuck::Pod;
use cuda_std::{bf16, f16};
use gridsync_entries::Entry;
use gridsync_entries::histogram::Arguments;
use gridsync_kernels::grid::histogram::{Binning, Double, Edges, Numbers, Single, Steps};
use gridsync_kernels::grid::select::Comparable;
use std::marker::PhantomData;
use std::sync::Arc;

/// An element type of histograms: f16, bf16, f32, f64, and integers of 8 to 64 bits.
pub trait Binned: Comparable + Pod + sealed::Binned {
    /// The nearest f64: the number that is compared with edges.
    fn to_f64(self) -> f64;
}

/// An integer of 8 to 64 bits.
pub trait Integer: Binned + sealed::Integer {}

/// Bins of the same width between two numbers.
#[derive(Clone, Copy)]
pub struct Even {
    pub(super) steps: Steps,
    pub(super) high: f64,
}

impl Even {
    fn bins(self) -> f64 {
        f64::from(self.steps.last) + 1.0
    }

    /// The greater absolute value of the first and the last edge, in widths of a bin.
    fn greatest(self) -> f64 {
        self.steps.start.abs().max(self.high.abs()) / self.steps.step
    }
}

pub(super) mod sealed {
    use super::super::way::{Launch, Way};
    use super::{Arc, Comparable, Edges, Even};

    pub trait Binned: Comparable {
        /// The rank of the greatest value.
        const LAST_RANK: u64;

        /// The value that is greater than so many others, not counting NaN.
        fn of_rank(rank: u64) -> Self;

        /// An edge as it is for this type: an f32 for floats of up to 4 bytes.
        fn edge(edge: f64) -> f64;

        /// The way to find bins of the same width without a list of edges. `None` if such bins are
        /// too narrow for it, or the type has no kernel for it.
        fn even(even: Even) -> Option<Arc<dyn Way<Self>>>;

        /// The way to find bins by their edges.
        fn by_edges(edges: Edges<Self>) -> Box<dyn Launch<Self>>;
    }

    pub trait Integer: Binned {
        fn to_i128(self) -> i128;

        /// The way to find the bin of a number from `first`.
        fn by_numbers(first: Self) -> Arc<dyn Way<Self>>;
    }
}

/// The way in f32, if it is exact.
fn single<T: Binned>(even: Even) -> Option<Arc<dyn Way<T>>>
where
    Single<T>: Entry<Arguments<T>> + Binning<Element = T>,
{
    let Even { steps, high } = even;
    let scale = (even.bins() / (high - steps.start)) as f32;
    // The place of an element, in bins, is off by up to 2^-24 of itself for each of the difference,
    // the scale and the product, and an edge by 2^-24 of itself.
    let near = (even.bins() + even.greatest()) * 2f64.powi(-22);
    let single = Single {
        steps,
        range: [steps.start as f32, high as f32],
        scale,
        far: (0.5 - near) as f32,
        elements: PhantomData,
    };
    (scale.is_normal() && near <= 0.25).then(|| Arc::new(By(single)) as _)
}

/// The way in f64, if it is exact.
fn double<T: Binned>(even: Even) -> Option<Arc<dyn Way<T>>>
where
    Double<T>: Entry<Arguments<T>> + Binning<Element = T>,
{
    let Even { steps, high } = even;
    let scale = even.bins() / (high - steps.start);
    // As for f32, with 2^-53, but for edges that are rounded to f32.
    let of_edges = if T::edge(1.0 + f64::EPSILON) == 1.0 { -22 } else { -51 };
    let error = even.bins() * 2f64.powi(-51) + even.greatest() * 2f64.powi(of_edges);
    let double = Double { steps, range: [steps.start, high], scale, elements: PhantomData };
    (scale.is_normal() && error <= 0.25).then(|| Arc::new(By(double)) as _)
}

macro_rules! integers {
    ($($ty:ident as $unsigned:ident, $even:ident => $of_even:expr;)*) => {$(
        impl Binned for $ty {
            fn to_f64(self) -> f64 {
                self as f64
            }
        }

        impl sealed::Binned for $ty {
            const LAST_RANK: u64 = $unsigned::MAX as u64;

            fn of_rank(rank: u64) -> Self {
                Self::MIN.wrapping_add(rank as Self)
            }

            fn edge(edge: f64) -> f64 {
                edge
            }

            fn even($even: Even) -> Option<Arc<dyn Way<Self>>> {
                $of_even
            }

            fn by_edges(edges: Edges<Self>) -> Box<dyn Launch<Self>> {
                Box::new(By(edges))
            }
        }

        impl Integer for $ty {}

        impl sealed::Integer for $ty {
            fn to_i128(self) -> i128 {
                self.into()
            }

            fn by_numbers(first: Self) -> Arc<dyn Way<Self>> {
                Arc::new(By(Numbers { first: first as $unsigned }))
            }
        }
    )*};
}
integers! {
    i8 as u8, _even => None;
    u8 as u8, _even => None;
    i16 as u16, _even => None;
    u16 as u16, _even => None;
    i32 as u32, even => double(even);
    u32 as u32, even => double(even);
    i64 as u64, even => double(even);
    u64 as u64, even => double(even);
}

macro_rules! floats {
    ($($ty:ident as $bits:ident, $edge:expr, $even:ident => $of_even:expr;)*) => {$(
        impl Binned for $ty {
            fn to_f64(self) -> f64 {
                self.into()
            }
        }

        impl sealed::Binned for $ty {
            const LAST_RANK: u64 = 2 * Self::INFINITY.to_bits() as u64 + 1;

            fn of_rank(rank: u64) -> Self {
                let negative = Self::NEG_INFINITY.to_bits();
                let rank = rank as $bits;
                match rank.checked_sub(Self::INFINITY.to_bits() + 1) {
                    Some(magnitude) => Self::from_bits(magnitude),
                    None => Self::from_bits(negative - rank),
                }
            }

            fn edge(edge: f64) -> f64 {
                let rounded: fn(f64) -> f64 = $edge;
                rounded(edge)
            }

            fn even($even: Even) -> Option<Arc<dyn Way<Self>>> {
                $of_even
            }

            fn by_edges(edges: Edges<Self>) -> Box<dyn Launch<Self>> {
                Box::new(By(edges))
            }
        }
    )*};
}
floats! {
    f16 as u16, |edge| f64::from(edge as f32), even => single(even);
    bf16 as u16, |edge| f64::from(edge as f32), even => single(even);
    f32 as u32, |edge| f64::from(edge as f32), even => single(even).or_else(|| double(even));
    f64 as u64, |edge| edge, even => double(even);
}
