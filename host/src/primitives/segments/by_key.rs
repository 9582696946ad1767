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

pub use super::groups::{Groups, GroupsOnCpu, group_by, group_by_on_cpu};
pub use super::run_firsts::RunFirsts;
pub use super::run_reducer::RunReducer;
pub use super::run_scanner::RunScanner;

use super::groups::gather;
use super::{Offsets, SegmentReducer, SegmentReducible};
use crate::device::{Buffer, Device, DeviceError};
use crate::primitives::scan::{Form, Scannable};
use crate::primitives::select::{FirstOfRun, Selectable, select_with_positions};
use crate::primitives::sort::{Key, Order};
use crate::reference::{self, run_starts};
use bytemuck::Pod;
use gridsync_entries::Entry;
use gridsync_entries::segments::{Marking, Runs as RunsOf};
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

/// The key and the first value of each run. Waits for the device. To find them more than once, or to
/// leave them on the device, keep a [`RunFirsts`].
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
