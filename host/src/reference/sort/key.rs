//! The elements that can be sorted, the orders in which they are, and what can move with them.

use bytemuck::Pod;
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync_entries::Entry;
use gridsync_entries::rank::{Collecting, Filtering, Keys, Sampling, Taking, TakingRows};
use gridsync_entries::sort::{Counting, CountingRows, OneBlock, Pass, ShortRows, Windows};
use gridsync_kernels::grid::sort::{self, Floats, Integers, Large, Nothing, Small, Word};

/// The order of a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Order {
    /// From the greatest to the smallest. Equal elements keep their order here too.
    pub is_descending: bool,
    /// Floats in the total order of IEEE 754: negative NaNs, −∞ … −0, +0 … +∞, positive NaNs.
    /// Otherwise −0 equals +0, and all NaNs are equal and greater than +∞, as in NumPy.
    pub is_total: bool,
}

impl Order {
    /// From the smallest to the greatest.
    pub const ASCENDING: Self = Self { is_descending: false, is_total: false };
    /// From the greatest to the smallest.
    pub const DESCENDING: Self = Self { is_descending: true, is_total: false };

    /// Every order.
    pub const ALL: [Self; 4] =
        [Self::ASCENDING, Self::DESCENDING, Self::ASCENDING.total(), Self::DESCENDING.total()];

    /// The same, but with floats in the [total order](Self::is_total).
    #[must_use]
    pub const fn total(self) -> Self {
        Self { is_total: true, ..self }
    }
}

/// An element type that can be sorted: f16, bf16, f32, f64, and integers of 8 to 64 bits.
///
/// # Safety
///
/// `Word` has the size of the element, and holds its bits.
pub unsafe trait Key: Scalar + Pod {
    /// The bits of an element.
    type Word: Word + Pod;
    /// The order that the kernels know.
    type Order: sort::Order<Word = Self::Word>
        + Entry<Counting<Self::Word>>
        + Entry<CountingRows<Self::Word>>
        + Entry<Pass<Self::Word, Nothing, Large>>
        + Entry<Pass<Self::Word, u32, Large>>
        + Entry<Pass<Self::Word, u64, Large>>
        + Entry<Pass<Self::Word, Nothing, Small>>
        + Entry<Pass<Self::Word, u32, Small>>
        + Entry<Pass<Self::Word, u64, Small>>
        + Entry<OneBlock<Self::Word, Nothing>>
        + Entry<OneBlock<Self::Word, u32>>
        + Entry<OneBlock<Self::Word, u64>>
        + Entry<Windows<Self::Word, Nothing>>
        + Entry<Windows<Self::Word, u32>>
        + Entry<Windows<Self::Word, u64>>
        + Entry<ShortRows<Self::Word, Nothing>>
        + Entry<ShortRows<Self::Word, u32>>
        + Entry<ShortRows<Self::Word, u64>>
        + Entry<Filtering<Self::Word>>
        + Entry<Collecting<Self::Word>>
        + Send
        + Sync;
    /// The kernels that need no order.
    type Keys: Entry<Sampling<Self::Word>>
        + Entry<Taking<Self::Word>>
        + Entry<TakingRows<Self::Word>>
        + Default;

    /// The order of these elements.
    fn order(order: Order) -> Self::Order;

    /// The nearest f64.
    fn to_f64(self) -> f64;
}

macro_rules! integers {
    ($($ty:ident as $word:ident, $is_signed:literal;)*) => {$(
        // SAFETY: the unsigned integer of this size.
        unsafe impl Key for $ty {
            type Word = $word;
            type Order = Integers<$word>;
            type Keys = Keys<$word>;

            fn order(order: Order) -> Integers<$word> {
                Integers::new($is_signed, order.is_descending)
            }

            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}
integers! {
    u8 as u8, false;
    u16 as u16, false;
    u32 as u32, false;
    u64 as u64, false;
    i8 as u8, true;
    i16 as u16, true;
    i32 as u32, true;
    i64 as u64, true;
}

macro_rules! floats {
    ($($ty:ident as $word:ident;)*) => {$(
        // SAFETY: the unsigned integer of this size.
        unsafe impl Key for $ty {
            type Word = $word;
            type Order = Floats<$word>;
            type Keys = Keys<$word>;

            fn order(order: Order) -> Floats<$word> {
                if order.is_total {
                    Floats::total(order.is_descending)
                } else {
                    Floats::numpy($ty::INFINITY.to_bits(), order.is_descending)
                }
            }

            fn to_f64(self) -> f64 {
                self.into()
            }
        }
    )*};
}
floats! {
    f16 as u16;
    bf16 as u16;
    f32 as u32;
    f64 as u64;
}

/// What can move with the keys of a sort: numbers of 4 or 8 bytes.
pub trait Moved: Scalar + Pod + sealed::Moved {}

/// A type of indices: u32, for at most 2^32 elements, or u64.
pub trait Index: Moved {
    /// The index as this type, which can hold it.
    fn of(index: usize) -> Self;
}

mod sealed {
    pub trait Moved {}
}

macro_rules! moved {
    ($($ty:ident)*) => {$(
        impl Moved for $ty {}
        impl sealed::Moved for $ty {}
    )*};
}
moved! { u32 i32 f32 u64 i64 f64 }

impl Index for u32 {
    fn of(index: usize) -> Self {
        index as Self
    }
}

impl Index for u64 {
    fn of(index: usize) -> Self {
        index as Self
    }
}
