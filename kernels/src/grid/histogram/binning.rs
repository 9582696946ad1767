//! How elements are assigned to bins.

use crate::grid::select::Comparable;
use crate::op::Widen;
use core::marker::PhantomData;
use cuda_std::launch::KernelArg;
use cuda_std::memory::Pack;
use cuda_std::prelude::*;

/// The bin of an element that is in none.
pub const NONE: u32 = u32::MAX;

/// Assigns elements to bins.
pub trait Binning: KernelArg + Copy {
    /// The type of the elements.
    type Element: Scalar;

    /// The bin of `element`, from 0. [`NONE`], or another number that is no smaller than the number
    /// of bins, if it is in none.
    fn bin(self, element: Self::Element) -> u32;

    /// Calls `count` with the bin of each element of a pack.
    #[inline(always)]
    fn each_bin(self, pack: PackOf<Self::Element>, count: impl Fn(u32)) {
        pack.for_each(|_, element| count(self.bin(element)));
    }
}

/// A pack of `T`.
pub type PackOf<T> = <T as Scalar>::Pack<T>;

/// An unsigned integer of 8 to 64 bits.
pub trait Unsigned: Scalar + Ord {
    /// The difference, modulo the number of values.
    #[must_use]
    fn minus(self, other: Self) -> Self;

    /// The same number, or [`NONE`] if it is greater.
    fn or_none(self) -> u32;
}

macro_rules! unsigned {
    ($($ty:ident, $number:ident => $or_none:expr;)*) => {$(
        impl Unsigned for $ty {
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn or_none(self) -> u32 {
                let $number = self;
                $or_none
            }
        }
    )*};
}
unsigned! {
    u8, number => number.into();
    u16, number => number.into();
    u32, number => number;
    u64, number => if number >> 32 == 0 { number as u32 } else { NONE };
}

/// A bin for each integer: `first` is in bin 0, the next in bin 1, and so on. The type has a number
/// for each bin of the histogram, so one that is less than `first` is in a bin after the last.
///
/// Signed integers are those of the unsigned type with the same bits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Numbers<U> {
    /// The number in bin 0.
    pub first: U,
}

// SAFETY: `repr(C)` of plain numbers.
unsafe impl<U: Unsigned> KernelArg for Numbers<U> {}

impl<U: Unsigned> Binning for Numbers<U> {
    type Element = U;

    #[inline(always)]
    fn bin(self, element: U) -> u32 {
        element.minus(self.first).or_none()
    }
}

/// The edges of bins of the same width, as `numpy.linspace` computes them: edge `k` is `k` × `step`
/// + `start`, rounded twice.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Edge 0.
    pub start: f64,
    /// The width of a bin.
    pub step: f64,
    /// The number of the last bin. Its upper edge is in it.
    pub last: u32,
}

// SAFETY: `repr(C)` of plain numbers; the host passes the padding along.
unsafe impl KernelArg for Steps {}

impl Steps {
    /// Edge `k`.
    #[inline(always)]
    #[must_use]
    pub fn edge(self, k: u32) -> f64 {
        f64::from(k) * self.step + self.start
    }
}

/// Bins of the same width, found in f32; only near an edge, in f64. Edges are rounded to f32.
///
/// Exact as long as the place of an element, in bins, is computed with an error below 1/2 − `far`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Single<T> {
    /// The edges.
    pub steps: Steps,
    /// The first and the last number that is in a bin. The first is edge 0.
    pub range: [f32; 2],
    /// Bins per unit.
    pub scale: f32,
    /// The distance from the middle of a bin, in bins, up to which an element is surely in it.
    pub far: f32,
    /// The type of the elements.
    pub elements: PhantomData<fn(T)>,
}

// SAFETY: `repr(C)` of plain numbers.
unsafe impl<T: Scalar> KernelArg for Single<T> {}

/// 1.5 × 2^23: the sum of it and a number between −2^22 and 2^22 is rounded to an integer.
const ROUND_F32: f32 = 12_582_912.0;

impl<T: Widen<f32>> Single<T> {
    /// The bin, and whether the element is so close to an edge that the bin is not sure.
    ///
    /// The number of an element that is outside by more is not that of a bin: the bits of a sum that
    /// is too large to be an integer are farther from those of `ROUND_F32`, and so are those of
    /// infinities and NaN.
    #[inline(always)]
    fn guess(self, element: T) -> (u32, bool) {
        // From the middle of bin 0, so that the nearest integer is the bin.
        let place = (element.widen() - self.range[0]).mul_add(self.scale, -0.5);
        let rounded = place + ROUND_F32;
        let past = place - (rounded - ROUND_F32);
        (rounded.to_bits().wrapping_sub(ROUND_F32.to_bits()), past.abs() > self.far)
    }
}

impl<T: Widen<f32>> Binning for Single<T> {
    type Element = T;

    #[inline(always)]
    fn bin(self, element: T) -> u32 {
        let x = element.widen();
        let [least, most] = self.range;
        // The edge that is nearest to the element.
        let place = (x - least) * self.scale;
        let edge = (place + ROUND_F32).to_bits().wrapping_sub(ROUND_F32.to_bits());
        let is_before = x < self.steps.edge(edge) as f32;
        // NaN is in no bin.
        let is_in = (x >= least) & (x <= most);
        if is_in { edge.wrapping_sub(is_before.into()).min(self.steps.last) } else { NONE }
    }

    #[inline(always)]
    fn each_bin(self, pack: PackOf<T>, count: impl Fn(u32)) {
        let guesses = T::map_pack(pack, |element| self.guess(element));
        let is_near = guesses.in_order(false, |is_near, (_, is_nearer)| is_near | is_nearer);
        // One branch for all, and one place that counts.
        let bins = if is_near {
            T::map_pack(pack, |element| self.bin(element))
        } else {
            Pack::from_fn(|i| guesses[i].0)
        };
        bins.for_each(|_, bin| count(bin));
    }
}

/// An element that is compared as f64.
pub trait Doubled: Scalar {
    /// Whether edges are rounded to f32, the type of the elements.
    const IS_F32: bool = false;

    /// The nearest f64.
    fn double(self) -> f64;
}

macro_rules! doubled {
    ($($ty:ident)*) => {$(
        impl Doubled for $ty {
            #[inline(always)]
            fn double(self) -> f64 {
                self as f64
            }
        }
    )*};
}
doubled! { f64 i32 u32 i64 u64 }

impl Doubled for f32 {
    const IS_F32: bool = true;

    #[inline(always)]
    fn double(self) -> f64 {
        self.into()
    }
}

/// Bins of the same width, found in f64: for numbers of more than 24 bits, and for bins of f32 that
/// are too narrow for [`Single`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Double<T> {
    /// The edges.
    pub steps: Steps,
    /// The first and the last number that is in a bin. The first is edge 0.
    pub range: [f64; 2],
    /// Bins per unit.
    pub scale: f64,
    /// The type of the elements.
    pub elements: PhantomData<fn(T)>,
}

// SAFETY: `repr(C)` of plain numbers.
unsafe impl<T: Scalar> KernelArg for Double<T> {}

/// 1.5 × 2^52, as [`ROUND_F32`]. The lowest bits of the sum are those of the integer.
const ROUND_F64: f64 = 6_755_399_441_055_744.0;

impl<T: Doubled> Binning for Double<T> {
    type Element = T;

    #[inline(always)]
    fn bin(self, element: T) -> u32 {
        let x = element.double();
        let [least, most] = self.range;
        let place = (x - least) * self.scale;
        let edge = (place + ROUND_F64).to_bits() as u32;
        let lower = self.steps.edge(edge);
        let lower = if T::IS_F32 { f64::from(lower as f32) } else { lower };
        let is_in = (x >= least) & (x <= most);
        let is_before = x < lower;
        if is_in { edge.wrapping_sub(is_before.into()).min(self.steps.last) } else { NONE }
    }
}

/// Bins between any edges, found by bisection.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Edges<T> {
    /// The least element of each bin, ascending, and then the greatest of all as often as needed:
    /// as many as a power of two that is greater than the number of bins.
    pub firsts: Global<T>,
    /// The greatest element of the last bin.
    pub most: T,
    /// The number of bins.
    pub bins: u32,
}

// SAFETY: `repr(C)` of a view and plain numbers.
unsafe impl<T: Comparable> KernelArg for Edges<T> {}

impl<T: Comparable> Edges<T> {
    /// Half the bins that may begin at or before an element, at the start of a bisection.
    #[inline(always)]
    fn half(self) -> u32 {
        self.firsts.len() as u32 / 2
    }

    /// A step of a bisection: how many bins surely begin at or before the element.
    #[inline(always)]
    fn step(self, before: u32, half: u32, element: T) -> u32 {
        let middle = before + half;
        if self.firsts.read(middle as usize - 1).is_at_most(element) { middle } else { before }
    }

    /// The bin of an element, given how many begin at or before it.
    #[inline(always)]
    fn last(self, before: u32, element: T) -> u32 {
        // NaN is in no bin.
        let bin = before.min(self.bins).wrapping_sub(1);
        if element.is_at_most(self.most) { bin } else { NONE }
    }
}

impl<T: Comparable> Binning for Edges<T> {
    type Element = T;

    #[inline(always)]
    fn bin(self, element: T) -> u32 {
        let (mut before, mut half) = (0, self.half());
        while half > 0 {
            before = self.step(before, half, element);
            half /= 2;
        }
        self.last(before, element)
    }

    // The steps of all elements of a pack together, so that their loads overlap. Short elements
    // would need too many registers.
    #[inline(always)]
    fn each_bin(self, pack: PackOf<T>, count: impl Fn(u32)) {
        if T::PACK > 4 {
            pack.for_each(|_, element| count(self.bin(element)));
            return;
        }
        let (mut before, mut half) = (<T::Pack<u32>>::splat(0), self.half());
        while half > 0 {
            before = Pack::from_fn(|i| self.step(before[i], half, pack[i]));
            half /= 2;
        }
        pack.for_each(|i, element| count(self.last(before[i], element)));
    }
}
