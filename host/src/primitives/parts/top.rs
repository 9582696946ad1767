//! Selections of the first elements of an order, part by part.

use super::PartError;
use crate::device::Device;
use crate::memory;
use crate::primitives::rank::{Arranged, RankError, Ranker, top_k_on_cpu};
use crate::primitives::sort::{Key, Order};
use crate::reference::{below, number_of};
use std::time::Instant;

/// The first elements of an array in an order, and their indices, from an array that is passed part
/// by part, on the CPU or on a device with room for one part.
///
/// Holds the first elements so far. The first ones of each part are merged with them.
pub struct PartTop<K: Key> {
    order: Order,
    k: usize,
    on: On<K>,
    first: (Vec<K>, Vec<u64>),
    /// Elements in the previous parts.
    taken: usize,
    us: f64,
}

enum On<K: Key> {
    Device(Device, Box<Ranker<K>>),
    Cpu,
}

impl<K: Key> PartTop<K> {
    /// A selection of `k` elements on `device` from parts of about `part` elements.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(order: Order, device: &Device, k: usize, part: usize) -> Result<Self, PartError> {
        let ranker = Box::new(Ranker::new(device, part)?);
        Ok(Self { on: On::Device(device.clone(), ranker), ..Self::on_cpu(order, k) })
    }

    /// A selection of `k` elements on all cores of the CPU.
    #[must_use]
    pub fn on_cpu(order: Order, k: usize) -> Self {
        Self { order, k, on: On::Cpu, first: (Vec::new(), Vec::new()), taken: 0, us: 0.0 }
    }

    /// Selects from the next part.
    ///
    /// # Errors
    /// If the device fails, and [`PartError::Memory`] for the selected elements. Then the part was
    /// not processed, and may be retried.
    pub fn next(&mut self, elements: &[K]) -> Result<(), PartError> {
        let k = self.k.min(elements.len());
        let (order, taken) = (self.order, self.taken as u64);
        let ((keys, mut indices), us) = match &mut self.on {
            On::Cpu => {
                // The indices are found twice, and sorted.
                memory::probe(k * size_of::<K>() + 5 * k * size_of::<u64>())?;
                let start = Instant::now();
                let found = match self.first.0.last() {
                    Some(&last) if self.first.0.len() == self.k => {
                        first_before(order, elements, k, last)
                    }
                    _ => top_k_on_cpu(order, elements, k, Arranged::ByRank),
                };
                (found.map_err(not_of_ranks)?, start.elapsed().as_secs_f64() * 1e6)
            }
            On::Device(device, ranker) => top_on(device, ranker, order, elements, k)?,
        };
        indices.iter_mut().for_each(|index| *index += taken);
        self.first = merged(order, self.k, &self.first, &(keys, indices))?;
        self.taken += elements.len();
        self.us += us;
        Ok(())
    }

    /// The first `k` elements of all parts and their indices. Fewer, if there were not so many.
    #[must_use]
    pub fn first(self, arranged: Arranged) -> (Vec<K>, Vec<u64>) {
        let (keys, indices) = self.first;
        if arranged == Arranged::ByRank {
            return (keys, indices);
        }
        let mut pairs: Vec<_> = indices.into_iter().zip(keys).collect();
        pairs.sort_unstable_by_key(|&(index, _)| index);
        pairs.into_iter().map(|(index, key)| (key, index)).unzip()
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

/// Up to `k` of `elements`, and their indices: the first ones that come before `last`. These are soon
/// few.
fn first_before<K: Key>(
    order: Order,
    elements: &[K],
    k: usize,
    last: K,
) -> Result<(Vec<K>, Vec<u64>), RankError> {
    let few = below(order, elements, number_of(order, last));
    let keys: Vec<K> = few.iter().map(|&index| elements[index as usize]).collect();
    let (keys, at) = top_k_on_cpu(order, &keys, k.min(few.len()), Arranged::ByRank)?;
    Ok((keys, at.into_iter().map(|at| few[at as usize]).collect()))
}

/// The first elements, their indices, and the time in µs.
type Timed<K> = ((Vec<K>, Vec<u64>), f64);

/// The first `k` of `elements` on a device.
fn top_on<K: Key>(
    device: &Device,
    ranker: &mut Ranker<K>,
    order: Order,
    elements: &[K],
    k: usize,
) -> Result<Timed<K>, PartError> {
    let input = device.upload(elements)?;
    let (mut keys, mut indices) = (device.alloc(k)?, device.alloc(k)?);
    let mut found = Ok(());
    let us = device.time(|| {
        match ranker.top_k(order, &input, Arranged::ByRank, (&mut keys, &mut indices)) {
            Err(RankError::Device(error)) => return Err(error),
            other => found = other,
        }
        Ok(())
    })?;
    found.map_err(not_of_ranks)?;
    let (mut first, mut at) = (memory::zeroed(k)?, memory::zeroed(k)?);
    keys.download_to(0, &mut first)?;
    indices.download_to(0, &mut at)?;
    Ok(((first, at), us))
}

/// The error of the device. At most as many elements are selected as there are.
fn not_of_ranks(error: RankError) -> PartError {
    match error {
        RankError::Device(error) => error.into(),
        other => unreachable!("{other}"),
    }
}

/// The first `k` of two sorted lists of elements with their indices; all indices of `a` are smaller.
fn merged<K: Key>(
    order: Order,
    k: usize,
    a: &(Vec<K>, Vec<u64>),
    b: &(Vec<K>, Vec<u64>),
) -> Result<(Vec<K>, Vec<u64>), PartError> {
    let count = k.min(a.0.len() + b.0.len());
    let (mut keys, mut indices) = (Vec::new(), Vec::new());
    memory::reserve(&mut keys, count)?;
    memory::reserve(&mut indices, count)?;
    let (mut of_a, mut of_b) = (0, 0);
    for _ in 0..count {
        let is_of_a = match (a.0.get(of_a), b.0.get(of_b)) {
            (Some(&a), Some(&b)) => number_of(order, a) <= number_of(order, b),
            (a, _) => a.is_some(),
        };
        let (from, at) = if is_of_a { (a, &mut of_a) } else { (b, &mut of_b) };
        keys.push(from.0[*at]);
        indices.push(from.1[*at]);
        *at += 1;
    }
    Ok((keys, indices))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_first_elements_of_the_whole_array() {
        let input: Vec<f32> = (0..1000u32).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
        let device = Device::emulator();
        for (k, part) in [(0, 10), (1, 7), (10, 333), (10, 3), (1000, 300), (999, 1000), (5, 5000)]
        {
            for order in Order::ALL {
                for arranged in [Arranged::ByRank, Arranged::ByIndex] {
                    let expected = top_k_on_cpu(order, &input, k, arranged).expect("k is less");
                    let on_device = PartTop::new(order, &device, k, part).expect("an emulator");
                    for mut top in [PartTop::on_cpu(order, k), on_device] {
                        let is_slow = matches!(top.on, On::Device(..)) && part < 100;
                        if is_slow {
                            continue;
                        }
                        for part in input.chunks(part) {
                            top.next(part).expect("there is room");
                        }
                        assert_eq!(top.first(arranged), expected, "{k}, {part}, {order:?}");
                    }
                }
            }
        }
    }
}
