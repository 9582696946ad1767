//! Runs of equal keys: reduced, scanned and counted. And groups of equal keys in any order.
//!
//! A run is adjacent elements with equal keys. Keys are equal by `==`, so −0 equals +0; [`Nans`]
//! says whether NaNs are. The first element of a run is its key. Runs are [segments](super) of the
//! values, and so are groups, after a stable sort of the keys.
//!
//! ```
//! use gridsync::device::{Device, DeviceError};
//! use gridsync::op::{Max, Sum};
//! use gridsync::primitives::segments::by_key::{Nans, group_by, reduce_by_key};
//!
//! let device = Device::emulator();
//! let keys = device.upload(&[7u32, 7, 2, 7])?;
//! let values = device.upload(&[1.0f64, 2.0, 4.0, 8.0])?;
//! let (runs, sums) = reduce_by_key(Sum::<f64>::new(), &keys, &values, Nans::Apart)?;
//! assert_eq!((runs, sums), (vec![7, 2, 7], vec![3.0, 4.0, 8.0]));
//! let (distinct, groups) = group_by(&keys)?;
//! assert_eq!(distinct, [2, 7]);
//! assert_eq!(groups.reduce(Sum::<f64>::new(), &values)?, [4.0, 11.0]);
//! assert_eq!(groups.reduce(Max::<f64>::new(), &values)?, [4.0, 8.0]);
//! # Ok::<(), DeviceError>(())
//! ```

pub use super::run_reducer::RunReducer;
pub use super::run_scanner::RunScanner;

use super::{Offsets, SegmentReducer, SegmentReducible, reduce_segments_on_cpu};
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::primitives::scan::{Form, Scannable};
use crate::primitives::select::{FirstOfRun, Selectable, select_with_positions};
use crate::primitives::sort::{Key, Order, Sorter};
use crate::reference::{self, argsort, run_starts};
use bytemuck::Pod;
use cuda_std::memory::Global;
use gridsync_entries::rank::Taking;
use gridsync_entries::segments::{Marking, Runs as RunsOf};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::rank::{Places, THREADS as TAKERS};
use gridsync_kernels::op::{InSegments, Operation};

/// Whether adjacent NaNs are equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nans {
    /// Each NaN is its own run, as IEEE 754 compares them.
    Apart,
    /// Adjacent NaNs are one run.
    Together,
}

/// A key type with kernels for runs: a short name for bounds.
pub trait RunKey: Key + PartialEq {
    /// What marks runs.
    type Runs: Default + Entry<Marking<Self>>;
    /// What selects the first of each run.
    type Firsts: Default + Selectable<Element = Self>;
}

impl<K: Key + PartialEq> RunKey for K
where
    RunsOf<K>: Entry<Marking<K>>,
    FirstOfRun<K>: Selectable<Element = K>,
{
    type Runs = RunsOf<K>;
    type Firsts = FirstOfRun<K>;
}

/// The key of each run of equal `keys`, and where the runs start and end. One launch; waits for the
/// device.
///
/// # Errors
/// If the device fails.
pub fn runs<K: RunKey>(keys: &Buffer<K>, nans: Nans) -> Result<(Vec<K>, Offsets), DeviceError> {
    let (firsts, starts) = select_with_positions(K::Firsts::default(), keys)?;
    let (mut firsts, mut host) = (firsts.download()?, starts.download()?);
    let count = host.len();
    if nans == Nans::Together {
        join(&mut firsts, &mut host);
    }
    let starts =
        if host.len() < count { keys.device().upload(&host)? } else { starts.into_buffer() };
    host.push(keys.len() as u64);
    Ok((firsts, Offsets { host, starts }))
}

/// The same on all cores of the CPU.
pub fn runs_on_cpu<K: RunKey>(keys: &[K], nans: Nans) -> (Vec<K>, Vec<u64>) {
    let mut offsets = reference::positions(K::Firsts::default(), keys);
    let mut firsts: Vec<K> = offsets.iter().map(|&start| keys[start as usize]).collect();
    if nans == Nans::Together {
        join(&mut firsts, &mut offsets);
    }
    offsets.push(keys.len() as u64);
    (firsts, offsets)
}

/// Joins the runs of adjacent NaNs.
fn join<K: RunKey>(firsts: &mut Vec<K>, starts: &mut Vec<u64>) {
    let joined = run_starts(Order::ASCENDING, firsts);
    *starts = joined.iter().map(|&run| starts[run as usize]).collect();
    *firsts = joined.iter().map(|&run| firsts[run as usize]).collect();
}

/// The key of each run, and its values combined by `op`. Waits for the results.
///
/// One launch finds the runs, and another reduces their values. The bits of a floating-point result
/// depend on the keys and values only. To reduce more than once, keep a [`RunReducer`].
///
/// # Errors
/// [`DeviceError::LengthMismatch`] if there are not as many values as keys,
/// [`DeviceError::OtherDevice`] if they are on different devices, and if the device fails.
pub fn reduce_by_key<K: RunKey, O: SegmentReducible<Element: Pod>>(
    op: O,
    keys: &Buffer<K>,
    values: &Buffer<O::Element>,
    nans: Nans,
) -> Result<(Vec<K>, Vec<O::Output>), DeviceError> {
    let device = expect_pairs(keys, values)?;
    let (firsts, offsets) = runs(keys, nans)?;
    Ok((firsts, SegmentReducer::new(op, device)?.reduce(values, &offsets)?))
}

/// The key and the first value of each run. Waits for the device.
///
/// # Errors
/// As for [`reduce_by_key`].
pub fn unique_by_key<K: RunKey, V: Key>(
    keys: &Buffer<K>,
    values: &Buffer<V>,
    nans: Nans,
) -> Result<(Vec<K>, Vec<V>), DeviceError> {
    expect_pairs(keys, values)?;
    let (firsts, Offsets { starts, .. }) = runs(keys, nans)?;
    let values = gather(values, starts.view().part(0, firsts.len()))?.download()?;
    Ok((firsts, values))
}

/// The same on all cores of the CPU.
///
/// # Panics
/// If there are not as many values as keys.
pub fn unique_by_key_on_cpu<K: RunKey, V: Copy>(
    keys: &[K],
    values: &[V],
    nans: Nans,
) -> (Vec<K>, Vec<V>) {
    assert_eq!(keys.len(), values.len(), "a value for each key");
    let (firsts, offsets) = runs_on_cpu(keys, nans);
    let values = offsets[..firsts.len()].iter().map(|&start| values[start as usize]).collect();
    (firsts, values)
}

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
    /// As for [`reduce_by_key`].
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
    let device = values.device();
    let gathered = device.alloc(places.len())?;
    if !gathered.is_empty() {
        let taking = Taking {
            input: values.view().cast(),
            places: Places { sorted: places, positions: [places.part(0, 0); 2], first: 0 },
            elements: gathered.view().cast(),
            indices: places,
        };
        let grid = Geometry::new(places.len().div_ceil(TAKERS as usize) as u32, TAKERS);
        let args = V::Keys::default().arguments(taking);
        // SAFETY: the grid has a thread for each place, all are below the number of values, and each
        // that is written is the one that is read; a dropped buffer waits for the stream; the kernel
        // starts with the wait for the previous one.
        unsafe { device.launch_in_a_row::<Taker<V>>(&grid, args)? };
    }
    Ok(gathered)
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

/// Scans the values of each run of equal keys by `O`, on their device, into a new buffer.
///
/// One launch marks where the runs start, and another scans. To scan more than once, keep a
/// [`RunScanner`].
///
/// # Errors
/// As for [`reduce_by_key`].
pub fn scan_by_key<O, K: RunKey>(
    keys: &Buffer<K>,
    values: &Buffer<O::Element>,
    form: Form,
    nans: Nans,
) -> Result<Buffer<O::Output>, DeviceError>
where
    O: Operation<Element: Pod, Output: Pod> + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    let device = expect_pairs(keys, values)?;
    let mut output = device.alloc(values.len())?;
    let mut scanner = RunScanner::<K, O>::new(device, keys.len())?;
    scanner.launch(keys, values, &mut output, form, nans)?;
    Ok(output)
}

/// The same on all cores of the CPU, with the same bits.
///
/// # Panics
/// If there are not as many values as keys.
pub fn scan_by_key_on_cpu<O, K: RunKey>(
    keys: &[K],
    values: &[O::Element],
    form: Form,
    nans: Nans,
) -> Vec<O::Output>
where
    O: Operation + Default,
    InSegments<O>: Scannable<Element = O::Element, Output = O::Output>,
{
    assert_eq!(keys.len(), values.len(), "a value for each key");
    let (_, offsets) = runs_on_cpu(keys, nans);
    reference::scan_segments(O::default(), values, &offsets, form)
}

/// The device of keys and values, which have to be as long and on one device.
pub(super) fn expect_pairs<'a, K: Pod, V: Pod>(
    keys: &'a Buffer<K>,
    values: &Buffer<V>,
) -> Result<&'a Device, DeviceError> {
    let device = keys.device();
    device.expect_own(values)?;
    if keys.len() == values.len() {
        Ok(device)
    } else {
        Err(DeviceError::LengthMismatch { buffer: values.len(), given: keys.len() })
    }
}
