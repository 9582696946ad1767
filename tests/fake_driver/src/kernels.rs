//! The kernels that this driver runs.

use cuda_std::launch::{Kernel, KernelArgs};
use gridsync_entries::{
    histogram, kendall, merge_sort, range_sum, rank, reduce, reduce_rows, scan, select, sort,
};
use std::ffi::c_void;

/// A kernel by its name.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// Bytes of each argument.
    pub(crate) sizes: &'static [usize],
    /// The body, as one emulated thread.
    ///
    /// # Safety
    ///
    /// Same as [`Kernel::run`], with the addresses of the arguments.
    pub(crate) run: unsafe fn(&[*const c_void]),
}

impl Entry {
    const fn of<K: Kernel>() -> Self {
        Self {
            name: K::NAME,
            sizes: K::Args::SIZES,
            // SAFETY: the caller passes the arguments of this kernel.
            run: |args| unsafe { K::run(K::Args::from_pointers(args)) },
        }
    }
}

macro_rules! entries {
    ($($kernel:path;)*) => {
        /// One kernel of each kind that the primitives launch.
        const ENTRIES: &[Entry] = &[$(Entry::of::<$kernel>()),*];
    };
}
entries! {
    reduce::sum_f32;
    reduce::max_f32;
    reduce::sum_u64;
    reduce::sum_i64_in_i128;
    reduce::argmin_f64;
    reduce::describe_f32;
    reduce_rows::short::sum_f32;
    reduce_rows::long::sum_f32;
    scan::sum_f32;
    scan::sum_f32_in_f64;
    scan::sum_f16_in_f64;
    scan::bulk::sum_f32;
    scan::sum_i32_in_i64;
    select::select_f32;
    select::unique_f32;
    select::unique_u32;
    range_sum::range_sum_f32;
    range_sum::range_sum_f64;
    range_sum::range_sum_u64;
    kendall::kendall_pairs_f32;
    kendall::kendall_place_f32;
    kendall::kendall_order_f64;
    kendall::kendall_rank_f64;
    kendall::kendall_tiles;
    kendall::kendall_runs;
    kendall::kendall_ties_of_keys;
    kendall::kendall_ties_of_ranks;
    merge_sort::merge_sort_tiles;
    merge_sort::merge_sort_runs;
    sort::sort_one_block_float_32_with_u64;
    sort::sort_one_block_int_64;
    rank::rank_take_32;
    rank::rank_take_64;
    histogram::histogram_even_f32;
}

/// The kernel with this name, if this driver runs it.
pub(crate) fn find(name: &str) -> Option<Entry> {
    ENTRIES.iter().copied().find(|entry| entry.name == name)
}
