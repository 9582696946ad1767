//! The steps that top and quantile share: the room that they need on a device, and their time there.

use super::choice::Place;
use super::job;
use gridsync::device::Device;
use gridsync::primitives::rank::{RankError, Ranker};
use gridsync::primitives::sort::Key;

/// An error if `device` has no room for `len` elements of `T` and so many bytes of results, and, if
/// the elements have to be sorted, for that.
pub(super) fn expect_room<T>(
    device: &Device,
    len: usize,
    results: usize,
    is_sorted: bool,
) -> anyhow::Result<()> {
    let elements = len.saturating_mul(bytes_of_each::<T>(is_sorted));
    job::expect_room(device, "selection by rank", elements.saturating_add(results))
}

/// Bytes that a device needs for each element of `T`, if it has to sort them or if not.
pub(super) fn bytes_of_each<T>(is_sorted: bool) -> usize {
    // A sort needs both as often again, and the sorted indices.
    let sort = if is_sorted { 2 * (size_of::<T>() + size_of::<u64>()) } else { 0 };
    size_of::<T>() + sort
}

/// Calls `select` with the working memory for `len` elements on `device`. Returns its time in µs.
pub(super) fn on_device<T: Key>(
    device: &Device,
    len: usize,
    mut select: impl FnMut(&mut Ranker<T>) -> Result<(), RankError>,
) -> Result<f64, RankError> {
    let mut ranker = Ranker::new(device, len)?;
    // The first call allocates, and compiles the kernels.
    if !device.properties().is_emulated() {
        select(&mut ranker)?;
    }
    let mut done = Ok(());
    let us = device.time(|| match select(&mut ranker) {
        Err(RankError::Device(error)) => Err(error),
        other => {
            done = other;
            Ok(())
        }
    })?;
    done.map(|()| us)
}

/// The name of the variant that runs at `place`.
pub(super) fn variant(place: &Place) -> &'static str {
    match place {
        Place::Devices(_) => "sampled",
        Place::Cpu => "rayon",
    }
}
