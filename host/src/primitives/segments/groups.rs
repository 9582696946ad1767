//! Groups of equal keys in any order.

use super::by_key::{Nans, RunKey, expect_pairs, runs, runs_on_cpu};
use super::{Offsets, SegmentReducer, SegmentReducible, reduce_segments_on_cpu};
use crate::device::{Buffer, DeviceError, Geometry};
use crate::primitives::sort::{Key, Order, Sorter};
use crate::reference::argsort;
use cuda_std::memory::Global;
use gridsync_entries::rank::Taking;
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::rank::{Places, THREADS};
use gridsync_kernels::op::Operation;

/// Groups of elements with equal keys, on a device.
pub struct Groups {
    offsets: Offsets,
    /// The indices of the elements in the order of their keys.
    order: Buffer<u64>,
}

/// Groups the elements of arrays by `keys`, which may have any order. Returns the key of each group,
/// of equal ones the first in the array, in ascending order. NaNs are one group, the last. Waits for
/// the device.
///
/// Sorts the keys with their indices.
///
/// # Errors
/// If the device fails.
pub fn group_by<K: RunKey>(keys: &Buffer<K>) -> Result<(Vec<K>, Groups), DeviceError> {
    let (sorted, order) = sort_with_order(keys)?;
    let (distinct, offsets) = runs(&sorted, Nans::Together)?;
    Ok((distinct, Groups { offsets, order }))
}

/// The keys in ascending order, and their indices in this order, in new buffers. Does not wait.
pub(super) fn sort_with_order<K: Key>(
    keys: &Buffer<K>,
) -> Result<(Buffer<K>, Buffer<u64>), DeviceError> {
    let (device, len) = (keys.device(), keys.len());
    let (sorted, order) = (device.alloc::<K>(len)?, device.alloc(len)?);
    let to = (sorted.view().cast(), order.view());
    let mut sorter = Sorter::<K>::new(device, len)?;
    // SAFETY: all three are on this device and as long, and nothing else uses the outputs.
    unsafe { sorter.sort_with_indices_view(Order::ASCENDING, keys.view().cast(), to)? };
    Ok((sorted, order))
}

impl Groups {
    /// The number of elements of each group, at least 1.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.offsets.lengths()
    }

    /// The values of each group, combined by `op` in the order of the array. Waits for the results.
    ///
    /// The values are gathered in the order of the keys, and then reduced. So the bits of a
    /// floating-point result depend on the keys and values only.
    ///
    /// # Errors
    /// As for [`reduce_by_key`](super::by_key::reduce_by_key).
    pub fn reduce<O: SegmentReducible<Element: Key>>(
        &self,
        op: O,
        values: &Buffer<O::Element>,
    ) -> Result<Vec<O::Output>, DeviceError> {
        let device = expect_pairs(&self.order, values)?;
        let gathered = gather(values, self.order.view())?;
        SegmentReducer::new(op, device)?.reduce(&gathered, &self.offsets)
    }
}

/// The kernel that gathers elements of `V`.
type Taker<V> = KernelOf<<V as Key>::Keys, Taking<<V as Key>::Word>>;

/// The elements of `values` at `places`, in a new buffer. Does not wait.
///
/// The places are on the device of the values, and less than their number.
pub(super) fn gather<V: Key>(
    values: &Buffer<V>,
    places: Global<u64>,
) -> Result<Buffer<V>, DeviceError> {
    let mut gathered = values.device().alloc(places.len())?;
    gather_into(values, places, &mut gathered)?;
    Ok(gathered)
}

/// Writes the elements of `values` at `places` to the beginning of `gathered`, which is on the same
/// device and at least as long as the places. Otherwise as [`gather`].
pub(super) fn gather_into<V: Key>(
    values: &Buffer<V>,
    places: Global<u64>,
    gathered: &mut Buffer<V>,
) -> Result<(), DeviceError> {
    if places.is_empty() {
        return Ok(());
    }
    let taking = Taking {
        input: values.view().cast(),
        places: Places { sorted: places, positions: [places.part(0, 0); 2], first: 0 },
        elements: gathered.view().part(0, places.len()).cast(),
        indices: places,
    };
    let grid = Geometry::new(places.len().div_ceil(THREADS as usize) as u32, THREADS);
    let args = V::Keys::default().arguments(taking);
    // SAFETY: the grid has a thread for each place, all are below the number of values, and each
    // that is written is the one that is read; a dropped buffer waits for the stream; the kernel
    // starts with the wait for the previous one.
    unsafe { values.device().launch_in_a_row::<Taker<V>>(&grid, args) }
}

/// Groups of elements with equal keys, on the CPU.
pub struct GroupsOnCpu {
    offsets: Vec<u64>,
    order: Vec<u64>,
}

/// The same as [`group_by`] on all cores of the CPU.
pub fn group_by_on_cpu<K: RunKey>(keys: &[K]) -> (Vec<K>, GroupsOnCpu) {
    let order: Vec<u64> = argsort(Order::ASCENDING, keys);
    let sorted: Vec<K> = order.iter().map(|&at| keys[at as usize]).collect();
    let (distinct, offsets) = runs_on_cpu(&sorted, Nans::Together);
    (distinct, GroupsOnCpu { offsets, order })
}

impl GroupsOnCpu {
    /// The number of elements of each group, at least 1.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// The values of each group, combined by `op`, with the bits of [`Groups::reduce`].
    ///
    /// # Panics
    /// If there are not as many values as keys.
    pub fn reduce<O: Operation>(&self, op: O, values: &[O::Element]) -> Vec<O::Output> {
        assert_eq!(values.len(), self.order.len(), "a value for each key");
        let gathered: Vec<O::Element> = self.order.iter().map(|&at| values[at as usize]).collect();
        reduce_segments_on_cpu(op, &gathered, &self.offsets)
    }
}
