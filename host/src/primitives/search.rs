//! Searches for many values in a sorted array: where each could be inserted, as
//! `numpy.searchsorted` finds it.
//!
//! ```
//! use gridsync::device::{Device, DeviceError};
//! use gridsync::primitives::search::{Side, search};
//! use gridsync::primitives::sort::Order;
//!
//! let device = Device::emulator();
//! let (sorted, values) = (device.upload(&[1.0f32, 2.0, 2.0, 5.0])?, device.upload(&[2.0f32, 9.0])?);
//! let left = search(Order::ASCENDING, Side::Left, &sorted, &values)?;
//! assert_eq!(left.download()?, [1, 4]);
//! let right = search(Order::ASCENDING, Side::Right, &sorted, &values)?;
//! assert_eq!(right.download()?, [3, 4]);
//! # Ok::<(), DeviceError>(())
//! ```

use super::sort::{Key, Order};
use crate::device::{Buffer, DeviceError, Geometry};
use crate::reference;
pub use crate::reference::Side;
use gridsync_entries::search::Searching;
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::search::{BLOCKS, Levels, THREADS};

/// An element type with kernels for searches: f32, f64, and integers of 32 and 64 bits.
pub trait Searchable: Key<Order: Entry<Searching<Self::Word>>> {}

impl<T: Key<Order: Entry<Searching<T::Word>>>> Searchable for T {}

/// The indices where `values` could be inserted into `sorted`, which is in the `order`, on their
/// device: for each value the number of elements that come before it. Does not wait for them.
///
/// # Errors
/// As for [`search_into`], and if there is not enough memory for the indices.
pub fn search<T: Searchable>(
    order: Order,
    side: Side,
    sorted: &Buffer<T>,
    values: &Buffer<T>,
) -> Result<Buffer<u64>, DeviceError> {
    let mut indices = values.device().alloc(values.len())?;
    search_into(order, side, sorted, values, &mut indices)?;
    Ok(indices)
}

/// Submits the search for each of `values` in `sorted` to the stream, which writes its index to
/// `indices`. If `sorted` is not in the `order`, the indices are unspecified, but at most its length.
/// Does not allocate or wait.
///
/// # Errors
/// [`DeviceError::LengthMismatch`] if there are not as many indices as values,
/// [`DeviceError::OtherDevice`] if the buffers are on different devices, and if the launch fails.
pub fn search_into<T: Searchable>(
    order: Order,
    side: Side,
    sorted: &Buffer<T>,
    values: &Buffer<T>,
    indices: &mut Buffer<u64>,
) -> Result<(), DeviceError> {
    let device = values.device();
    device.expect_own(sorted)?;
    device.expect_own(indices)?;
    if indices.len() != values.len() {
        return Err(DeviceError::LengthMismatch { buffer: indices.len(), given: values.len() });
    }
    if values.is_empty() {
        return Ok(());
    }
    let room = device.properties().shared_per_block_optin as usize;
    let levels = Levels::of(sorted.len(), size_of::<T>(), room);
    let args = T::order(order).arguments(Searching {
        sorted: sorted.view().cast(),
        values: values.view().cast(),
        indices: indices.view(),
        is_right: (side == Side::Right).into(),
        levels: levels.count,
    });
    let most = (BLOCKS * device.properties().multiprocessors) as usize;
    let blocks = values.len().div_ceil(THREADS as usize).min(most);
    let geometry = Geometry::new(blocks as u32, THREADS)
        .with_dynamic_shared(levels.shared_bytes(size_of::<T>()));
    // SAFETY: the levels are for the length of `sorted`, and the block has their shared memory; there
    // are as many indices as values, and they are borrowed exclusively; the kernel needs no order of
    // `sorted` to stay inside it; a dropped buffer waits for the stream; `Entry` promises that the
    // kernel searches by the order, after the wait for the previous kernel.
    unsafe { device.launch_in_a_row::<KernelOf<T::Order, Searching<T::Word>>>(&geometry, args) }
}

/// The indices where `values` could be inserted into `sorted`, which is in the `order`, computed on
/// all cores of the CPU. Also for elements of 8 and 16 bits.
pub fn search_on_cpu<T: Key>(order: Order, side: Side, sorted: &[T], values: &[T]) -> Vec<u64> {
    reference::search(order, side, sorted, values)
}
