//! The kinds of kernels: one for each primitive of each row of the catalogue.

use super::{
    CaseError, Input, Keys, Lens, OnCpu, Ties, dot, histogram, kendall, range_sum, rank, reduce,
    reduce_rows, scan, scatter, segments, select, softmax, sort,
};
use cuda_std::memory::Scalar;
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::kendall::Method;
use gridsync::primitives::scan::Form;
use gridsync::primitives::sort::Order;
use gridsync_kernels::op::{
    And, ArgMax, ArgMin, CompensatedSum, Compose, Count, Describe, LogSumExp, Max, Min, Or,
    PeakToPeak, Product, ProductModulo, SkipNan, Sum, SumOfMagnitudes, SumOfSquares, Variance,
    WideSum, Xor,
};
use std::fmt;
use std::sync::LazyLock;

/// The result of the kernels of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// The reduction of an array.
    Reduce,
    /// The reduction of each row of a matrix.
    Rows,
    /// The scan of an array.
    Scan,
    /// A selection.
    Select,
    /// Sums of ranges.
    Ranges,
    /// Kendall's rank correlation.
    Kendall,
    /// A sort.
    Sort,
    /// A histogram.
    Histogram,
    /// A selection by rank.
    Rank,
    /// The reduction of each segment of an array.
    Segments,
    /// Runs and groups of equal keys.
    ByKey,
    /// The dot product of two arrays.
    Dot,
    /// Softmax of each row of a matrix.
    Softmax,
}

impl Primitive {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Reduce,
        Self::Rows,
        Self::Scan,
        Self::Select,
        Self::Ranges,
        Self::Kendall,
        Self::Sort,
        Self::Histogram,
        Self::Rank,
        Self::Segments,
        Self::ByKey,
        Self::Dot,
        Self::Softmax,
    ];
}

/// The size of a case.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// Elements of an array.
    Array(usize),
    /// Rows and columns of a matrix.
    Matrix(usize, usize),
    /// Three groups of four tiles, in blocks of two warps of this many rows. The last group has
    /// only one tile, with one element.
    Groups(u32),
    /// Elements of two arrays, their ties, and the methods by which they are correlated.
    Pairs(usize, Ties, &'static [Method]),
    /// Rows and columns, what the elements are, and the order in which each row is sorted. One row
    /// is an array.
    Keys(usize, usize, Keys, Order),
    /// Elements of an array, the lengths of the segments that are sorted, what the elements are, and
    /// their order.
    Segments(usize, Lens, Keys, Order),
    /// Elements of an array, and the lengths of the segments that are reduced.
    Ragged(usize, Lens),
    /// Elements of an array, and the bins that they are counted in.
    Bins(usize, usize),
    /// Rows and columns, what the elements are, their order, and how many of each row are selected:
    /// the first ones, and from a single row also those around the end of these.
    Ranks(usize, usize, Keys, Order, usize),
}

impl Size {
    /// The error for a size that is for another primitive.
    pub(super) fn mismatch(self) -> CaseError {
        CaseError::Wrong(format!("{self:?} is the size of another primitive's cases"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(len) => write!(f, "{len} elements"),
            Self::Matrix(rows, columns) => write!(f, "{rows} rows of {columns}"),
            Self::Groups(rows) => write!(f, "groups of tiles of {rows} rows"),
            Self::Pairs(len, ties, _) => write!(f, "{ties:?} ties of {len} places"),
            Self::Keys(1, len, keys, order) => {
                write!(f, "{keys:?} keys, {len} elements, {order:?}")
            }
            Self::Keys(rows, columns, keys, order) => {
                write!(f, "{keys:?} keys, {rows} rows of {columns}, {order:?}")
            }
            Self::Segments(len, lens, keys, order) => {
                write!(f, "{keys:?} keys, {len} elements in {lens:?} segments, {order:?}")
            }
            Self::Ragged(len, lens) => write!(f, "{len} elements in {lens:?} segments"),
            Self::Bins(len, bins) => write!(f, "{len} elements in {bins} bins"),
            Self::Ranks(rows, columns, keys, order, k) => {
                write!(f, "the first {k} of {}", Self::Keys(*rows, *columns, *keys, *order))
            }
        }
    }
}

/// The cases of a kind.
pub(super) trait Cases: Send + Sync {
    /// Runs the case of this size and seed, and checks its results.
    fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError>;

    /// The input of that case, and the CPU's results for it; of a scan, in this form.
    fn on_cpu(&self, size: Size, _seed: u64, _form: Form) -> Result<OnCpu, CaseError> {
        Err(size.mismatch())
    }
}

/// A kernel, or a few kernels with one purpose, for running cases over all of them.
pub struct Kind {
    /// The primitive.
    pub primitive: Primitive,
    /// Its name in the catalogue, such as `sum_f32`.
    pub name: &'static str,
    /// The name of the operation in the program.
    pub op: &'static str,
    /// The element type of the input.
    pub element: &'static str,
    /// The type of the accumulator, without the path of [`Indexed`](gridsync_kernels::op::Indexed)
    /// and similar types.
    pub accumulator: &'static str,
    /// The entry points in the PTX: first one for short rows, then one for long ones, if the
    /// primitive has both.
    pub kernels: Vec<&'static str>,
    /// The entry point of the scan by bulk copies, if it exists.
    pub bulk: Option<&'static str>,
    /// Elements per pack of 16 bytes.
    pub pack: usize,
    /// Elements per tile of a small array.
    pub tile: usize,
    /// Rows of a warp in a large array that is scanned or selected from.
    pub most_rows: u32,
    pub(super) cases: Box<dyn Cases>,
}

impl Kind {
    /// A kind of elements of `E` that are accumulated in `A`.
    pub(super) fn of<E: Scalar, A>(
        primitive: Primitive,
        (name, op): (&'static str, &'static str),
        kernels: &[&'static str],
        tile: usize,
        cases: impl Cases + 'static,
    ) -> Self {
        Self {
            primitive,
            name,
            op,
            element: short_name::<E>(),
            accumulator: short_name::<A>(),
            kernels: kernels.to_vec(),
            bulk: None,
            pack: E::PACK,
            tile,
            most_rows: 1,
            cases: Box::new(cases),
        }
    }

    /// Runs the case of this size and seed, and checks its results.
    ///
    /// # Errors
    /// [`CaseError::Wrong`] if a result differs from the true one by more than its bound, or from
    /// that of a second run or of the CPU in any bit, or if `size` is for another primitive; or if
    /// the device fails.
    pub fn run(&self, device: &Device, size: Size, seed: u64) -> Result<(), CaseError> {
        self.cases.run(device, size, seed)
    }

    /// The input of the case of this size and seed, and the CPU's results for it: of a reduction,
    /// or of a scan in this form.
    ///
    /// # Errors
    /// If `size` is for another primitive.
    pub fn on_cpu(&self, size: Size, seed: u64, form: Form) -> Result<OnCpu, CaseError> {
        self.cases.on_cpu(size, seed, form)
    }
}

/// The name of a type in the program: without its path.
fn short_name<T>() -> &'static str {
    let name = std::any::type_name::<T>();
    name.rsplit("::").next().unwrap_or(name)
}

/// Every kind of this primitive, except scans by operations with a parameter and compensated sums.
pub fn kinds(primitive: Primitive) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(move |kind| kind.primitive == primitive)
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let mut kinds = Vec::new();
    macro_rules! kind {
        (reduce $value:tt $row:tt) => {
            kind! { @ reduce $row }
        };
        (rows $value:tt $row:tt) => {
            kind! { @ reduce_rows $row }
        };
        (scan $value:tt (sum_compensated_f32: $($rest:tt)*)) => {};
        (scan $value:tt (sum_compensated_f64: $($rest:tt)*)) => {};
        (scan $value:tt ($name:ident: $op:literal $ty:ty { $example:expr }, $input:ident)) => {};
        (scan $value:tt $row:tt) => {
            kind! { @ scan $row }
        };
        (ranges $value:tt $row:tt) => {
            kind! { @ range_sum $row }
        };
        (segments [$blocks:literal] $row:tt) => {
            kind! { @ segments $row }
        };
        (segments $value:tt $row:tt) => {
            kind! { @ scatter $row }
        };
        (@ $module:ident ($name:ident: $op:literal $ty:ty $(as $twin:ty)?, $input:ident)) => {
            kinds.push($module::kind((stringify!($name), $op), <$ty>::new(), Input::$input));
        };
        (@ $module:ident ($name:ident: $op:literal $ty:ty { $example:expr }, $input:ident)) => {
            kinds.push($module::kind::<$ty>((stringify!($name), $op), $example, Input::$input));
        };
        ($primitive:ident $value:tt $row:tt) => {};
    }
    gridsync_entries::operations!(kind);
    macro_rules! selections {
        ($ty:ident $($rest:tt)*) => {
            kinds.push(select::within::<$ty>(concat!("select_", stringify!($ty))));
            kinds.push(select::unique::<$ty>(concat!("unique_", stringify!($ty))));
        };
    }
    gridsync_entries::selected_elements!(selections);
    macro_rules! correlations {
        ($ty:ident, $pairs:ident $(, $step:ident $kernel:ident)+) => {
            let kernels = [stringify!($pairs), $(stringify!($kernel)),+];
            kinds.push(kendall::kind::<$ty>(stringify!($ty), &kernels));
        };
    }
    gridsync_entries::correlated_elements!(correlations);
    macro_rules! sorts {
        ($ty:ident, $family:literal) => {
            let kernels = [
                concat!("sort_count_", $family),
                concat!("sort_count_rows_", $family),
                concat!("sort_", $family),
                concat!("sort_", $family, "_with_u32"),
                concat!("sort_", $family, "_with_u64"),
                concat!("sort_small_", $family),
                concat!("sort_small_", $family, "_with_u32"),
                concat!("sort_small_", $family, "_with_u64"),
                concat!("sort_one_block_", $family),
                concat!("sort_one_block_", $family, "_with_u32"),
                concat!("sort_one_block_", $family, "_with_u64"),
                concat!("sort_windows_", $family),
                concat!("sort_windows_", $family, "_with_u32"),
                concat!("sort_windows_", $family, "_with_u64"),
                concat!("sort_short_rows_", $family),
                concat!("sort_short_rows_", $family, "_with_u32"),
                concat!("sort_short_rows_", $family, "_with_u64"),
            ];
            kinds.push(sort::kind::<$ty>(stringify!($ty), &kernels));
            let of_ranks = [concat!("rank_filter_", $family), concat!("rank_collect_", $family)];
            kinds.push(rank::kind::<$ty>(stringify!($ty), of_ranks));
        };
    }
    gridsync_entries::sorted_elements!(sorts);
    sorts! { i8, "int_8" }
    sorts! { u8, "int_8" }
    sorts! { i16, "int_16" }
    sorts! { u16, "int_16" }
    kinds.extend(histogram::kinds());
    macro_rules! keys {
        ($ty:ident, $($kernel:tt)+) => {
            kinds.push(segments::kind_by_key::<$ty>(stringify!($ty)));
        };
    }
    gridsync_entries::keyed_elements!(keys);
    macro_rules! dots {
        ($ty:ident, $name:ident) => {
            kinds.push(dot::kind::<$ty>(stringify!($name)));
        };
    }
    gridsync_entries::dotted_elements!(dots);
    macro_rules! softmaxes {
        ($ty:ident, $($kernel:tt)+) => {
            kinds.push(softmax::kind::<$ty>(stringify!($ty)));
        };
    }
    gridsync_entries::softmax_elements!(softmaxes);
    kinds
});
