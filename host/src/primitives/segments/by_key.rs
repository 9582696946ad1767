//! Runs of equal keys: reduced, scanned and counted. And groups of equal keys in any order.
//!
//! A run is adjacent elements with equal keys. Keys are equal by `==`, so −0 equals +0; [`Nans`]
//! says whether NaNs are. The first element of a run is its key.
//!
//! ```
//! use gridsync::device::{Device, DeviceError};
//! use gridsync::kernels::op::Sum;
//! use gridsync::primitives::segments::by_key::{Nans, group_by, reduce_by_key};
//!
//! let device = Device::emulator();
//! let keys = device.upload(&[7u32, 7, 2, 7])?;
//! let values = device.upload(&[1.0f64, 2.0, 4.0, 8.0])?;
//! let runs = reduce_by_key(Sum::<f64>::new(), &keys, &values, Nans::Apart)?;
//! assert_eq!((runs.keys, runs.values), (vec![7, 2, 7], vec![3.0, 4.0, 8.0]));
//! let groups = group_by(Sum::<f64>::new(), &keys, &values)?;
//! assert_eq!((groups.keys, groups.values), (vec![2, 7], vec![4.0, 11.0]));
//! # Ok::<(), DeviceError>(())
//! ```

use super::{SegmentReducer, SegmentReducible};
use crate::device::{Buffer, Device, DeviceError, Geometry};
use crate::primitives::scan::{Form, Scannable, Scanner};
use crate::primitives::select::{
    FirstOfRun, Selectable, Selected, run_lengths, select_with_positions,
};
use crate::primitives::sort::{Key, Order, Sorter};
use crate::reference::{self, Moved, argsort, run_starts};
use bytemuck::Pod;
use cuda_std::warp::WARP_SIZE;
use gridsync_entries::segments::{Marking, Runs};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::segments::{MARKED, THREADS};
use gridsync_kernels::op::{InSegments, Operation, Segments};
use std::mem::size_of;

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
    /// Its bits. Not for use.
    #[doc(hidden)]
    type Runs: Default + Entry<Marking<Self>>;
    /// The selection of the first of each run. Not for use.
    #[doc(hidden)]
    type Firsts: Default + Selectable<Element = Self>;
}

impl<K: Key + PartialEq> RunKey for K
where
    Runs<K>: Entry<Marking<K>>,
    FirstOfRun<K>: Selectable<Element = K>,
{
    type Runs = Runs<K>;
    type Firsts = FirstOfRun<K>;
}

/// The values of equal keys, combined.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups<K, V> {
    /// The key of each run or group.
    pub keys: Vec<K>,
    /// The combined values.
    pub values: Vec<V>,
    /// The number of values, at least 1.
    pub counts: Vec<u64>,
}

/// Where runs start, on a device.
struct Starts<K> {
    keys: Selected<K>,
    starts: Selected<u64>,
}

impl<K: RunKey> Starts<K> {
    /// The runs of equal `keys`. Waits for their number.
    fn of(keys: &Buffer<K>, nans: Nans) -> Result<Self, DeviceError> {
        let (firsts, starts) = select_with_positions(K::Firsts::default(), keys)?;
        let all = Self { keys: firsts, starts };
        if nans == Nans::Together && has_nan::<K>() { all.joined() } else { Ok(all) }
    }

    /// The runs, where those of adjacent NaNs are joined. The host does it, because there are few
    /// runs, or many NaNs.
    fn joined(self) -> Result<Self, DeviceError> {
        let firsts = self.keys.download()?;
        let joined = run_starts(Order::ASCENDING, &firsts);
        if joined.len() == firsts.len() {
            return Ok(self);
        }
        let (device, starts) = (self.starts.buffer().device(), self.starts.download()?);
        let keys: Vec<K> = joined.iter().map(|&run| firsts[run as usize]).collect();
        let starts: Vec<u64> = joined.iter().map(|&run| starts[run as usize]).collect();
        Ok(Self {
            keys: Selected::whole(device.upload(&keys)?),
            starts: Selected::whole(device.upload(&starts)?),
        })
    }
}

/// Whether a type of keys has NaNs: its number with all bits set is one.
fn has_nan<K: RunKey>() -> bool {
    let key: K = bytemuck::pod_read_unaligned(&[0xFF; 8][..size_of::<K>()]);
    let same = key;
    key != same
}

/// Reduces the values of each run of equal keys by `op`, on their device. Waits for the results.
///
/// One launch finds the runs, and another reduces their values. The bits of a floating-point result
/// depend on the keys and values only.
///
/// # Errors
/// [`DeviceError::LengthMismatch`] if there are not as many values as keys,
/// [`DeviceError::OtherDevice`] if they are on different devices, and if the device fails.
pub fn reduce_by_key<K: RunKey, O: SegmentReducible<Element: Pod>>(
    op: O,
    keys: &Buffer<K>,
    values: &Buffer<O::Element>,
    nans: Nans,
) -> Result<Groups<K, O::Output>, DeviceError> {
    let device = expect_pairs(keys, values)?;
    let runs = Starts::of(keys, nans)?;
    let mut reducer = SegmentReducer::new(op, device)?;
    let starts = runs.starts.buffer().view().part(0, runs.starts.len());
    // SAFETY: both are on this device, and the starts are those of runs of as many keys; a dropped
    // buffer waits for the stream.
    unsafe { reducer.launch_view(values.view(), starts)? };
    let counts = run_lengths(&runs.starts.download()?, keys.len());
    let values = reducer.results_of(counts.len(), counts.iter().copied())?;
    Ok(Groups { keys: runs.keys.download()?, values, counts })
}

/// The same on all cores of the CPU, with the same bits.
///
/// # Panics
/// If there are not as many values as keys.
pub fn reduce_by_key_on_cpu<K: RunKey, O: Operation>(
    op: O,
    keys: &[K],
    values: &[O::Element],
    nans: Nans,
) -> Groups<K, O::Output> {
    assert_eq!(keys.len(), values.len(), "a value for each key");
    let starts = starts_on_cpu(keys, nans);
    let counts = run_lengths(&starts, keys.len());
    let all = reference::reduce_segments(op, values, &starts);
    let values = all.into_iter().zip(&counts).map(|(all, &len)| op.finish_of(all, len)).collect();
    Groups { keys: starts.iter().map(|&start| keys[start as usize]).collect(), values, counts }
}

/// Groups `values` by `keys`, which may have any order, and reduces each group by `op`. The groups
/// are in ascending order of their keys. Values are combined in the order of the array. NaNs are
/// one group, the last.
///
/// The pairs are sorted, and then reduced by runs. So the bits of a floating-point result depend on
/// the keys and values only.
///
/// # Errors
/// As for [`reduce_by_key`].
pub fn group_by<K: RunKey, O: SegmentReducible<Element: Moved>>(
    op: O,
    keys: &Buffer<K>,
    values: &Buffer<O::Element>,
) -> Result<Groups<K, O::Output>, DeviceError> {
    let device = expect_pairs(keys, values)?;
    let (mut sorted, mut moved) = (device.alloc(keys.len())?, device.alloc(keys.len())?);
    let mut sorter = Sorter::new(device, keys.len())?;
    sorter.launch_pairs(Order::ASCENDING, (keys, values), (&mut sorted, &mut moved))?;
    reduce_by_key(op, &sorted, &moved, Nans::Together)
}

/// The same on all cores of the CPU, with the same bits.
///
/// # Panics
/// If there are not as many values as keys.
pub fn group_by_on_cpu<K: RunKey, O: Operation>(
    op: O,
    keys: &[K],
    values: &[O::Element],
) -> Groups<K, O::Output> {
    assert_eq!(keys.len(), values.len(), "a value for each key");
    let order: Vec<u64> = argsort(Order::ASCENDING, keys);
    let sorted: Vec<K> = order.iter().map(|&at| keys[at as usize]).collect();
    let moved: Vec<O::Element> = order.iter().map(|&at| values[at as usize]).collect();
    reduce_by_key_on_cpu(op, &sorted, &moved, Nans::Together)
}

/// The keys of runs of equal keys, and how many elements each run has. Waits for the device.
///
/// # Errors
/// If the device fails.
pub fn run_lengths_by_key<K: RunKey>(
    keys: &Buffer<K>,
    nans: Nans,
) -> Result<(Vec<K>, Vec<u64>), DeviceError> {
    let runs = Starts::of(keys, nans)?;
    Ok((runs.keys.download()?, run_lengths(&runs.starts.download()?, keys.len())))
}

/// Scans the values of each run of equal keys by `O`, on their device, into a new buffer.
///
/// One launch marks where the runs start, and another scans.
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
    let marks = device.alloc::<u32>(keys.len().div_ceil(32))?;
    let common = Marking {
        keys: keys.view(),
        marks: marks.view(),
        joins_nans: u32::from(nans == Nans::Together),
    };
    let warps = keys.len().div_ceil(MARKED);
    let blocks = warps.div_ceil((THREADS / WARP_SIZE) as usize);
    if blocks > 0 {
        let grid = Geometry::new(blocks as u32, THREADS);
        let args = K::Runs::default().arguments(common);
        // SAFETY: there is a warp for each 1024 keys, and a bit for each key; a dropped buffer waits
        // for the stream; `Entry` promises that the kernel marks runs, after the wait for the
        // previous kernel.
        unsafe { device.launch_in_a_row::<KernelOf<K::Runs, Marking<K>>>(&grid, args)? };
    }
    // SAFETY: there is a bit for each element, written by the launch before; a dropped buffer waits
    // for the stream.
    let segments = unsafe { Segments::marked(marks.view()) };
    Scanner::new(InSegments::<O>::new(segments), device, values.len())?.launch(
        values,
        &mut output,
        form,
    )?;
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
    reference::scan_segments(O::default(), values, &starts_on_cpu(keys, nans), form)
}

/// Where the runs start.
fn starts_on_cpu<K: RunKey>(keys: &[K], nans: Nans) -> Vec<u64> {
    let starts = reference::positions(K::Firsts::default(), keys);
    if nans == Nans::Apart {
        return starts;
    }
    let firsts: Vec<K> = starts.iter().map(|&start| keys[start as usize]).collect();
    let joined = run_starts(Order::ASCENDING, &firsts);
    joined.into_iter().map(|run| starts[run as usize]).collect()
}

/// The device of keys and values, which have to be as long and on one device.
fn expect_pairs<'a, K: Pod, V: Pod>(
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
