//! Selections, part by part.

use super::PartError;
use super::sift::sift;
use crate::device::{Buffer, Device};
use crate::memory;
use crate::primitives::{Room, Selector, Sifted, Wanted};
use bytemuck::Pod;
use gridsync_entries::select::Selectable;
use std::time::Instant;

/// A selection from an array that comes part by part, on the CPU or on a device with room for one
/// part and what is selected from it.
///
/// Each element is judged with the one before it, also at the start of a part, so that
/// [`FirstOfRun`](crate::primitives::select::FirstOfRun) finds the runs of the whole array. A
/// predicate that uses the index of an element does not see its index in the whole array.
pub struct PartSelector<S: Selectable> {
    by: S,
    on: On<S>,
    wanted: Wanted,
    /// The element before the next part.
    last: Option<S::Element>,
    /// Elements of the parts before.
    taken: usize,
    us: f64,
}

enum On<S: Selectable> {
    Device(Device, Selector<S::Element>),
    Cpu,
}

impl<S: Selectable<Element: Pod>> PartSelector<S> {
    /// A selection on `device` from parts of at most `part` elements.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(by: S, device: &Device, part: usize, wanted: Wanted) -> Result<Self, PartError> {
        device.compile::<S::Kernel>()?;
        let selector = Selector::new(device, part.saturating_add(1))?;
        Ok(Self::begin(by, On::Device(device.clone(), selector), wanted))
    }

    /// A selection on all cores of the CPU, from parts of any length.
    #[must_use]
    pub fn on_cpu(by: S, wanted: Wanted) -> Self {
        Self::begin(by, On::Cpu, wanted)
    }

    fn begin(by: S, on: On<S>, wanted: Wanted) -> Self {
        Self { by, on, wanted, last: None, taken: 0, us: 0.0 }
    }

    /// What is selected from the next part; positions count from the start of the whole array.
    ///
    /// # Errors
    /// Errors of the device, and [`PartError::Memory`] for what is selected.
    ///
    /// # Panics
    /// If it is longer than a part may be.
    pub fn next(&mut self, elements: &[S::Element]) -> Result<Sifted<S::Element>, PartError> {
        let mut found = match &self.on {
            On::Device(..) => self.next_on_device(elements)?,
            On::Cpu => {
                let start = Instant::now();
                let found = sift(self.by, self.last, elements, self.wanted)?;
                self.us += start.elapsed().as_secs_f64() * 1e6;
                found
            }
        };
        if let Some(positions) = &mut found.positions {
            positions.iter_mut().for_each(|at| *at += self.taken as u64);
        }
        self.taken += elements.len();
        self.last = elements.last().copied().or(self.last);
        Ok(found)
    }

    /// What a device selects from the next part; positions count from the start of the part.
    fn next_on_device(&mut self, elements: &[S::Element]) -> Result<Sifted<S::Element>, PartError> {
        let On::Device(device, selector) = &mut self.on else {
            unreachable!("only a selection on a device gets here");
        };
        // The element before was judged with its own part already.
        let known = self.last.as_slice();
        let known_kept = usize::from(!known.is_empty() && self.by.is_kept(known, 0));
        let len = known.len() + elements.len();
        let mut chunk = device.alloc(len)?;
        chunk.copy_part_from(0, known)?;
        chunk.copy_part_from(known.len(), elements)?;
        let mut room = Room::new(device, len, self.wanted)?;
        self.us += device.time(|| selector.launch_part(self.by, &chunk, 0..len, room.to()))?;
        let kept = room.count.download()?[0] as usize;
        let others = known.len() - known_kept..len - kept;
        let mut found = Sifted {
            kept: downloaded(&room.kept, known_kept..kept)?,
            rest: room.rest.map(|rest| downloaded(&rest, others)).transpose()?,
            positions: room
                .positions
                .map(|positions| downloaded(&positions, known_kept..kept))
                .transpose()?,
        };
        if let Some(positions) = &mut found.positions {
            positions.iter_mut().for_each(|at| *at -= known.len() as u64);
        }
        Ok(found)
    }

    /// µs that the kernels, or the CPU, have taken so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

/// A part of a buffer, on the host.
fn downloaded<T: Pod>(
    buffer: &Buffer<T>,
    part: std::ops::Range<usize>,
) -> Result<Vec<T>, PartError> {
    let mut host = memory::zeroed(part.len())?;
    buffer.download_to(part.start, &mut host)?;
    Ok(host)
}

/// Selects from `input` on `device`, `part` elements at a time, as a [`PartSelector`] does; 0
/// counts as 1. Calls `done` with the number of elements that have been judged.
///
/// # Errors
/// Errors of the device, and [`PartError::Memory`] for what is selected.
pub fn select_in_parts<S>(
    by: S,
    device: &Device,
    input: &[S::Element],
    part: usize,
    wanted: Wanted,
    mut done: impl FnMut(usize),
) -> Result<Sifted<S::Element>, PartError>
where
    S: Selectable<Element: Pod>,
{
    let part = part.max(1);
    let mut selector = PartSelector::new(by, device, part.min(input.len()), wanted)?;
    let mut all = Sifted::none(wanted);
    let mut taken = 0;
    for chunk in input.chunks(part) {
        all.extend(&selector.next(chunk)?)?;
        taken += chunk.len();
        done(taken);
    }
    Ok(all)
}
