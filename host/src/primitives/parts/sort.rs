//! Sorts, part by part.

use super::PartError;
use super::merge::{Held, Merge, Runs};
use crate::device::Device;
use crate::memory;
use crate::primitives::sort::{Key, Order, Sorter, argsort_on_cpu, sort_in_place_on_cpu};
use crate::reference::gather;
use std::time::Instant;

/// Sorts the parts of an array, on the CPU or on a device with room for one part.
///
/// A sorted part is a *run*. The caller keeps the runs, in memory or in a file, and a [`Merge`] reads
/// them again, a piece of each at a time. The result has the bits of a sort of the whole array.
pub struct PartSorter<K: Key> {
    order: Order,
    on: On<K>,
    us: f64,
}

enum On<K: Key> {
    Device(Device, Box<Sorter<K>>),
    Cpu,
}

impl<K: Key> PartSorter<K> {
    /// Sorts of parts on `device`. It needs room for twice the keys of a part, and twice their
    /// indices if these are sorted too.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(order: Order, device: &Device) -> Result<Self, PartError> {
        let sorter = Box::new(Sorter::new(device, 0)?);
        Ok(Self { order, on: On::Device(device.clone(), sorter), us: 0.0 })
    }

    /// Sorts of parts on all cores of the CPU.
    #[must_use]
    pub fn on_cpu(order: Order) -> Self {
        Self { order, on: On::Cpu, us: 0.0 }
    }

    /// The order.
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// How many of `len` elements to sort at a time if `asked` are asked for: at least as many as
    /// there are parts, since a merge holds some elements of each.
    #[must_use]
    pub fn part(len: usize, asked: usize) -> usize {
        let root = len.isqrt();
        asked.max(root + usize::from(root * root < len)).max(1)
    }

    /// Sorts `keys` in place.
    ///
    /// # Errors
    /// If the device fails, and [`PartError::Memory`] for working memory of the CPU. The keys may
    /// then be in any order.
    pub fn sort(&mut self, keys: &mut [K]) -> Result<(), PartError> {
        let order = self.order;
        self.us += match &mut self.on {
            On::Cpu => {
                // Floats with a -0 or a NaN need a copy of all those.
                memory::probe(size_of_val(keys))?;
                let start = Instant::now();
                sort_in_place_on_cpu(order, keys);
                start.elapsed().as_secs_f64() * 1e6
            }
            On::Device(device, sorter) => {
                let mut sorted = device.upload(keys)?;
                let us = device.time(|| sorter.launch_in_place(order, &mut sorted))?;
                sorted.download_to(0, keys)?;
                us
            }
        };
        Ok(())
    }

    /// Sorts `keys` in place, and moves each of `indices` with its key.
    ///
    /// # Errors
    /// As for [`sort`](Self::sort).
    ///
    /// # Panics
    /// If the two differ in length.
    pub fn sort_pairs(&mut self, keys: &mut [K], indices: &mut [u64]) -> Result<(), PartError> {
        assert_eq!(keys.len(), indices.len(), "an index for each key");
        let order = self.order;
        self.us += match &mut self.on {
            On::Cpu => {
                // The sort of the indices needs four words for each, and both are copied.
                memory::probe(size_of_val(keys) + 5 * size_of_val(indices))?;
                let start = Instant::now();
                let sorted: Vec<u64> = argsort_on_cpu(order, keys);
                let (keys_before, indices_before) = (keys.to_vec(), indices.to_vec());
                gather(&keys_before, &sorted, keys);
                gather(&indices_before, &sorted, indices);
                start.elapsed().as_secs_f64() * 1e6
            }
            On::Device(device, sorter) => {
                let (mut keys_there, mut there) = (device.upload(keys)?, device.upload(indices)?);
                let us = device
                    .time(|| sorter.launch_pairs_in_place(order, &mut keys_there, &mut there))?;
                keys_there.download_to(0, keys)?;
                there.download_to(0, indices)?;
                us
            }
        };
        Ok(())
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

/// Sorts `input`, about `part` elements at a time, by `sorter`: [`PartSorter::part`]. Calls `done`
/// with the number of elements that are in their place so far.
///
/// # Errors
/// As for [`PartSorter::sort`], and [`PartError::Memory`] for the runs and the result.
pub fn sort_in_parts<K: Key>(
    mut sorter: PartSorter<K>,
    input: &[K],
    part: usize,
    mut done: impl FnMut(usize),
) -> Result<Vec<K>, PartError> {
    let part = PartSorter::<K>::part(input.len(), part);
    let mut runs = Held::default();
    for part in input.chunks(part) {
        let mut keys = memory::zeroed(part.len())?;
        keys.copy_from_slice(part);
        sorter.sort(&mut keys)?;
        runs.push(keys, Vec::new());
    }
    let mut sorted = Vec::new();
    memory::reserve(&mut sorted, input.len())?;
    let mut merge = Merge::new(&runs.lens(), part);
    while let Some((keys, _)) = merge.next(&mut sorter, &mut runs)? {
        sorted.extend_from_slice(keys);
        done(sorted.len());
    }
    Ok(sorted)
}
