//! Distinct values, part by part.

use super::PartError;
use crate::device::Device;
use crate::memory;
use crate::primitives::sort::{Key, Order};
use crate::primitives::value_counts::{ValueCounter, ValueCounts, value_counts_on_cpu};
use crate::reference::number_of;
use std::cmp::Ordering;
use std::time::Instant;

/// The distinct values of an array that is passed part by part, on the CPU or on a device with room
/// for one part.
///
/// Holds the values so far, with their counts and indices. Those of each part are merged with them.
pub struct PartValueCounter<K: Key> {
    order: Order,
    on: On<K>,
    found: ValueCounts<K>,
    /// Elements in the previous parts.
    taken: usize,
    us: f64,
}

enum On<K: Key> {
    Device(Device, Box<ValueCounter<K>>),
    Cpu,
}

impl<K: Key> PartValueCounter<K> {
    /// Counts on `device`, of parts of about `part` elements.
    ///
    /// # Errors
    /// If the device fails.
    pub fn new(order: Order, device: &Device, part: usize) -> Result<Self, PartError> {
        let counter = Box::new(ValueCounter::new(device, part)?);
        Ok(Self { on: On::Device(device.clone(), counter), ..Self::on_cpu(order) })
    }

    /// Counts on all cores of the CPU.
    #[must_use]
    pub fn on_cpu(order: Order) -> Self {
        Self { order, on: On::Cpu, found: ValueCounts::default(), taken: 0, us: 0.0 }
    }

    /// Counts the elements of the next part.
    ///
    /// # Errors
    /// If the device fails, and [`PartError::Memory`] for the sort or for the values. Then the part
    /// was not counted, and may be retried.
    pub fn next(&mut self, elements: &[K]) -> Result<(), PartError> {
        let order = self.order;
        let (mut found, us) = match &mut self.on {
            On::Cpu => {
                // For the sort of the indices; the results need less.
                memory::probe(4 * size_of::<u64>() * elements.len())?;
                let start = Instant::now();
                let found = value_counts_on_cpu(order, elements);
                (found, start.elapsed().as_secs_f64() * 1e6)
            }
            On::Device(device, counter) => {
                let input = device.upload(elements)?;
                let mut found = ValueCounts::default();
                let us = device.time(|| {
                    found = counter.count(order, &input)?;
                    Ok(())
                })?;
                (found, us)
            }
        };
        found.indices.iter_mut().for_each(|index| *index += self.taken as u64);
        self.found = merged(order, &self.found, &found)?;
        self.taken += elements.len();
        self.us += us;
        Ok(())
    }

    /// The values of all parts.
    #[must_use]
    pub fn found(self) -> ValueCounts<K> {
        self.found
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

/// The values of two arrays, of which the elements of `a` come first.
fn merged<K: Key>(
    order: Order,
    a: &ValueCounts<K>,
    b: &ValueCounts<K>,
) -> Result<ValueCounts<K>, PartError> {
    let mut all = ValueCounts::default();
    memory::reserve(&mut all.elements, a.len() + b.len())?;
    memory::reserve(&mut all.counts, a.len() + b.len())?;
    memory::reserve(&mut all.indices, a.len() + b.len())?;
    let number = |of: &ValueCounts<K>, at: usize| number_of(order, of.elements[at]);
    let (mut of_a, mut of_b) = (0, 0);
    while of_a < a.len() || of_b < b.len() {
        let first = if of_a == a.len() {
            Ordering::Greater
        } else if of_b == b.len() {
            Ordering::Less
        } else {
            number(a, of_a).cmp(&number(b, of_b))
        };
        let (from, at) = if first.is_le() { (a, of_a) } else { (b, of_b) };
        let more = if first.is_eq() { b.counts[of_b] } else { 0 };
        all.elements.push(from.elements[at]);
        all.counts.push(from.counts[at] + more);
        all.indices.push(from.indices[at]);
        of_a += usize::from(first.is_le());
        of_b += usize::from(first.is_ge());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_values_of_the_whole_array() {
        let key = |i: u32| if i % 50 == 7 { -0.0 } else { (i * 37 % 31) as f32 - 10.0 };
        let input: Vec<f32> = (0..500).map(key).collect();
        let device = Device::emulator();
        for order in Order::ALL {
            let expected = value_counts_on_cpu(order, &input);
            for part in [77, 499, 500, 5000] {
                let on_device = PartValueCounter::new(order, &device, part).expect("an emulator");
                for mut counter in [PartValueCounter::on_cpu(order), on_device] {
                    for part in input.chunks(part) {
                        counter.next(part).expect("there is room");
                    }
                    let found = counter.found();
                    let bits = |of: &[f32]| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(
                        bits(&found.elements),
                        bits(&expected.elements),
                        "{part}, {order:?}"
                    );
                    assert_eq!(found.counts, expected.counts, "{part}, {order:?}");
                    assert_eq!(found.indices, expected.indices, "{part}, {order:?}");
                }
            }
        }
    }
}
