//! Kendall's rank correlation, τ_b: whether two arrays order their indices alike.

use super::merge_sort::{first_of, geometry, levels, sort};
use super::scratch::Scratch;
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::memory::NoRoom;
use crate::parallel;
use crate::reference;
use bytemuck::Pod;
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync_entries::kendall::{
    kendall_order_f64, kendall_order_i64, kendall_order_u64, kendall_pairs_f32, kendall_pairs_f64,
    kendall_pairs_i32, kendall_pairs_i64, kendall_pairs_u32, kendall_pairs_u64, kendall_place_f32,
    kendall_place_i32, kendall_place_u32, kendall_rank_f64, kendall_rank_i64, kendall_rank_u64,
    kendall_runs, kendall_ties_of_keys, kendall_ties_of_ranks, kendall_tiles,
};
use gridsync_kernels::grid::kendall::{
    COUNTS, DISCORDANT, NAN, Ordered, PAIRS_TILE, Side, TIES_BOTH, TIES_X, TIES_Y,
};
use gridsync_kernels::grid::merge_sort::TILE;
use sealed::Work;
use std::marker::PhantomData;

pub use crate::reference::Kendall;

/// How pairs are counted. The counts are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Compares every element with every other: n²/2 comparisons, one launch. For up to 16 776 960
    /// elements.
    Pairs,
    /// Sorts the indices by x and y, and counts the inversions of y: n·log n steps, two launches
    /// for each doubling of n, and some more.
    Sort,
}

/// The longest arrays for which all pairs are compared: for elements of 32 bits, and of 64 bits,
/// which would have to be ranked before sorting.
// An H200, 2026-11-22, alone, µs by pairs and by sorting: f32 39 and 47 at 2^13, 94 and 56 at 2^14;
// f64 104 and 114 at 2^14, 390 and 137 at 2^15.
const PAIRS_UP_TO: [usize; 2] = [1 << 13, 1 << 14];

/// The same limit in the emulator, where a comparison costs more than a launch.
const PAIRS_UP_TO_EMULATED: usize = 512;

/// The most elements for which all pairs can be compared: one tile per block along y.
const MOST_BY_PAIRS: usize = Geometry::MOST_ALONG_Y as usize * PAIRS_TILE as usize;

/// Threads per block if each thread has its own element.
const THREADS: u32 = 256;

/// Why two arrays cannot be correlated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KendallError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The host has too little memory for the correlation.
    #[error(transparent)]
    Memory(#[from] NoRoom),
    /// One array is longer than the other.
    #[error("x has {x} elements and y {y}: correlate arrays of the same length")]
    Lengths {
        /// Length of x.
        x: usize,
        /// Length of y.
        y: usize,
    },
    /// More elements than the counts can hold.
    #[error(
        "{len} elements are too many: at most 4294967295 can be correlated; use a sample of them"
    )]
    TooLong {
        /// Length of each array.
        len: usize,
    },
    /// One grid is too small for all pairs of this many elements.
    #[error(
        "all pairs of {len} elements are too many for one launch: at most {most} elements can be compared with each other; let the length choose the method, or use Method::Sort"
    )]
    TooManyPairs {
        /// Length of each array.
        len: usize,
        /// The most elements that [`Method::Pairs`] supports.
        most: usize,
    },
    /// An element has no rank. Like SciPy's `nan_policy="raise"`.
    #[error(
        "{array}[{index}] is NaN, which has no rank: leave out the indices where x or y is NaN"
    )]
    NotANumber {
        /// `x` or `y`.
        array: char,
        /// The index of its first NaN.
        index: u64,
    },
}

/// An element type that can be correlated: f32, f64, i32, u32, i64 and u64.
pub trait Correlatable: Ordered<Bits: Send> + Pod + sealed::Keys {}

mod sealed {
    use super::{Device, DeviceError, Global, Kernel, Side};

    /// The memory that the launches work in.
    pub struct Work {
        pub(super) keys: Global<u64>,
        pub(super) spare: Global<u64>,
        /// For ranking; empty for elements of 32 bits.
        pub(super) values: Global<u64>,
        pub(super) counts: Global<u64>,
    }

    /// Properties that differ between the types.
    pub trait Keys: Sized {
        /// The kernel that compares all pairs.
        type Pairs: Kernel<Args = (Global<Self>, Global<Self>, Global<u64>)>;

        /// Whether elements have to be ranked, in a separate array.
        const WIDE: bool;

        /// Submits the launches that fill the halves of the keys that belong to `side`.
        ///
        /// # Errors
        /// If a launch fails.
        ///
        /// # Safety
        /// `values` and the views in `work` have the same length, live until the launches have
        /// ended, and are not accessed by anything else.
        unsafe fn fill(
            device: &Device,
            values: Global<Self>,
            side: Side,
            work: &Work,
        ) -> Result<(), DeviceError>;
    }
}

/// One thread per element.
fn threads_for(len: usize) -> Geometry {
    Geometry::new(len.div_ceil(THREADS as usize) as u32, THREADS)
}

macro_rules! correlatable {
    ($ty:ty, $pairs:ident, place $place:ident) => {
        correlatable! { @ $ty, $pairs, false, device, values, side, work, {
            let args = (values, work.keys, work.counts, side as u32);
            // SAFETY: one thread per element; the caller upholds the rest of the contract of
            // `fill`.
            unsafe { device.launch::<$place>(&threads_for(values.len()), args) }
        }}
    };
    ($ty:ty, $pairs:ident, order $order:ident, rank $rank:ident) => {
        correlatable! { @ $ty, $pairs, true, device, values, side, work, {
            let geometry = threads_for(values.len());
            let to_sort = (values, work.values, work.counts, side as u32);
            let to_rank = (values, work.values, work.keys, side as u32);
            // SAFETY: one thread per element, and the values are sorted before they are ranked; the
            // caller upholds the rest of the contract of `fill`.
            unsafe {
                device.launch::<$order>(&geometry, to_sort)?;
                sort(device, [work.values, work.spare])?;
                device.launch::<$rank>(&geometry, to_rank)
            }
        }}
    };
    (@ $ty:ty, $pairs:ident, $wide:literal,
        $device:ident, $values:ident, $side:ident, $work:ident, $fill:block) => {
        impl Correlatable for $ty {}

        impl sealed::Keys for $ty {
            type Pairs = $pairs;
            const WIDE: bool = $wide;

            unsafe fn fill(
                $device: &Device,
                $values: Global<Self>,
                $side: Side,
                $work: &Work,
            ) -> Result<(), DeviceError> {
                $fill
            }
        }
    };
}
gridsync_entries::correlated_elements!(correlatable);

/// Correlates `x` and `y` on their device. To do this more than once, keep a [`Correlator`], which
/// allocates only when it is created.
///
/// # Errors
/// [`KendallError`]; a NaN is refused.
pub fn kendall<T: Correlatable>(x: &Buffer<T>, y: &Buffer<T>) -> Result<Kendall, KendallError> {
    let mut correlator = Correlator::new(x.device(), x.len())?;
    correlator.launch(x, y)?;
    correlator.result()
}

/// Correlates `x` and `y` on all cores of the CPU, with the same counts and a bit-identical τ.
///
/// # Errors
/// [`KendallError`], except errors of a device.
pub fn kendall_on_cpu<T: Correlatable>(x: &[T], y: &[T]) -> Result<Kendall, KendallError> {
    expect_ranks(x, y)?;
    Ok(reference::kendall(x, y))
}

/// Refuses host arrays that cannot be correlated.
pub(super) fn expect_ranks<T: Correlatable>(x: &[T], y: &[T]) -> Result<(), KendallError> {
    expect_lengths(x.len(), y.len())?;
    for (array, values) in [('x', x), ('y', y)] {
        if let Some(index) = first_nan(values) {
            let index = index as u64;
            return Err(KendallError::NotANumber { array, index });
        }
    }
    Ok(())
}

/// The index of the first value that is not a number.
fn first_nan<T: Correlatable>(values: &[T]) -> Option<usize> {
    let is_nan = |&index: &usize| values[index].is_nan();
    parallel::find_first(values.len(), &|mut chunk| chunk.find(is_nan))
}

/// Refuses lengths that cannot be correlated.
fn expect_lengths(x: usize, y: usize) -> Result<(), KendallError> {
    if x != y {
        return Err(KendallError::Lengths { x, y });
    }
    if x > u32::MAX as usize {
        return Err(KendallError::TooLong { len: x });
    }
    Ok(())
}

/// Correlates arrays of one type on one device, and keeps the memory for that. All work runs on the
/// device, in stream order; the counts are exact for any length.
pub struct Correlator<T> {
    device: Device,
    keys: Scratch<u64>,
    spare: Scratch<u64>,
    /// Empty for elements of 32 bits.
    values: Scratch<u64>,
    counts: Buffer<u64>,
    /// The requested method.
    method: Option<Method>,
    /// Length of the arrays of the last launch; `None` if it failed.
    launched: Option<usize>,
    element: PhantomData<T>,
}

impl<T: Correlatable> Correlator<T> {
    /// Bytes of device memory per element of x and y, with the memory for sorting.
    pub const BYTES: usize = 2 * size_of::<T>() + if T::WIDE { 24 } else { 16 };

    /// Allocates the memory to correlate arrays of up to `longest` elements on `device`: nothing if
    /// all pairs are compared, otherwise 16 bytes per 32-bit element, and 24 bytes per 64-bit
    /// element.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(device: &Device, longest: usize) -> Result<Self, DeviceError> {
        let scratch = || Scratch::new("a rank correlation", device, 0, Device::alloc);
        let mut correlator = Self {
            device: device.clone(),
            keys: scratch()?,
            spare: scratch()?,
            values: scratch()?,
            counts: device.zeroed(COUNTS)?,
            method: None,
            launched: None,
            element: PhantomData,
        };
        if correlator.method_for(longest) == Method::Sort {
            correlator.make_room(longest)?;
        }
        Ok(correlator)
    }

    /// Always counts by `method`, instead of choosing the faster method for the length.
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    fn method_for(&self, len: usize) -> Method {
        let up_to = if self.device.properties().is_emulated() {
            PAIRS_UP_TO_EMULATED
        } else {
            PAIRS_UP_TO[usize::from(T::WIDE)]
        };
        let faster = if len <= up_to { Method::Pairs } else { Method::Sort };
        self.method.unwrap_or(faster)
    }

    /// Makes the driver compile the kernels for arrays of `len` elements now instead of at the
    /// first launch: they correlate zeros, enough for one level of merging.
    ///
    /// # Errors
    /// As for [`launch`](Self::launch).
    pub fn compile(&mut self, len: usize) -> Result<(), KendallError> {
        if self.device.properties().is_emulated() {
            return Ok(());
        }
        let method = self.method_for(len);
        let zeros = self.device.zeroed::<T>(len.min(2 * TILE))?;
        let asked = self.method.replace(method);
        let launched = self.launch(&zeros, &zeros);
        self.method = asked;
        launched
    }

    /// Grows the memory to sort arrays of `len` elements.
    fn make_room(&mut self, len: usize) -> Result<(), DeviceError> {
        self.keys.fit(len)?;
        self.spare.fit(len)?;
        self.values.fit(if T::WIDE { len } else { 0 })
    }

    /// Submits the count for `x` and `y` to the stream. Does not wait, and allocates only if they
    /// are longer than all earlier ones and the length passed to [`new`](Self::new).
    ///
    /// # Errors
    /// [`KendallError::Lengths`], [`KendallError::TooLong`] and, with [`Method::Pairs`],
    /// [`KendallError::TooManyPairs`]; [`DeviceError::OtherDevice`] if an array is on another
    /// device, [`DeviceError::InGraph`] if it would have to allocate and a graph has recorded a
    /// launch, and if a launch fails.
    pub fn launch(&mut self, x: &Buffer<T>, y: &Buffer<T>) -> Result<(), KendallError> {
        self.launched = None;
        self.device.expect_own(x)?;
        self.device.expect_own(y)?;
        let len = x.len();
        expect_lengths(len, y.len())?;
        let method = self.method_for(len);
        if method == Method::Pairs && len > MOST_BY_PAIRS {
            let most = MOST_BY_PAIRS;
            return Err(KendallError::TooManyPairs { len, most });
        }
        self.counts.zero()?;
        match method {
            _ if len == 0 => {}
            Method::Pairs => self.launch_pairs(x, y)?,
            Method::Sort => self.launch_sort(x, y)?,
        }
        self.launched = Some(len);
        Ok(())
    }

    fn launch_pairs(&self, x: &Buffer<T>, y: &Buffer<T>) -> Result<(), DeviceError> {
        let tiles = x.len().div_ceil(PAIRS_TILE as usize) as u32;
        let geometry = Geometry::new((tiles, tiles), PAIRS_TILE);
        let args = (x.view(), y.view(), self.counts.view());
        // SAFETY: a block for each pair of tiles; the arrays are of one length; all are borrowed,
        // and a dropped buffer waits for the stream.
        unsafe { self.device.launch::<T::Pairs>(&geometry, args) }
    }

    fn launch_sort(&mut self, x: &Buffer<T>, y: &Buffer<T>) -> Result<(), DeviceError> {
        let len = x.len();
        self.make_room(len)?;
        let work = Work {
            keys: self.keys.view().part(0, len),
            spare: self.spare.view().part(0, len),
            values: self.values.view().part(0, if T::WIDE { len } else { 0 }),
            counts: self.counts.view(),
        };
        // The keys do not change while y is sorted in the two halves of the other array.
        let halves = work.spare.cast::<u32>();
        let ranks = [halves.part(0, len), halves.part(len, len)];
        let blocks = geometry(len);
        let mut at = first_of(levels(len).count());
        // SAFETY: all views have length `len` and do not overlap; the grids are as the kernels
        // require; ties are counted in sorted arrays; `&mut self` and the stream order keep other
        // launches off the workspace, and a dropped buffer waits for the stream.
        unsafe {
            T::fill(&self.device, x.view(), Side::X, &work)?;
            T::fill(&self.device, y.view(), Side::Y, &work)?;
            sort(&self.device, [work.keys, work.spare])?;
            let args = (work.keys, work.counts);
            self.device.launch::<kendall_ties_of_keys>(&threads_for(len), args)?;
            let args = (work.keys, ranks[at], work.counts);
            self.device.launch::<kendall_tiles>(&blocks, args)?;
            for run in levels(len) {
                let args = (ranks[at], ranks[1 - at], run, work.counts);
                self.device.launch::<kendall_runs>(&blocks, args)?;
                at = 1 - at;
            }
            let args = (ranks[0], work.counts);
            self.device.launch::<kendall_ties_of_ranks>(&threads_for(len), args)
        }
    }

    /// The result for the arrays of the last launch. Waits for the device.
    ///
    /// # Errors
    /// [`KendallError::NotANumber`] if one of them contains a NaN, [`DeviceError::NoResult`] if
    /// nothing was launched or the last launch failed, and if the device fails.
    pub fn result(&self) -> Result<Kendall, KendallError> {
        let what = "rank correlation";
        let len = self.launched.ok_or(DeviceError::NoResult { what })? as u64;
        let counts = self.counts.download()?;
        for (array, side) in [('x', Side::X), ('y', Side::Y)] {
            let word = counts[NAN + side as usize];
            if word != 0 {
                let index = !word;
                return Err(KendallError::NotANumber { array, index });
            }
        }
        let [discordant, ties_x, ties_y, ties_both] =
            [DISCORDANT, TIES_X, TIES_Y, TIES_BOTH].map(|which| counts[which]);
        Ok(Kendall::of(len, discordant, ties_x, ties_y, ties_both))
    }
}
