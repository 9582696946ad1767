//! Selections, part by part.

use super::PartError;
use super::leaves::Cut;
use super::sift::{Read, sift, sift_by};
use super::together::{at_once, of_gpu, on_each};
use crate::device::{Buffer, Device, Devices};
use crate::memory;
use crate::primitives::select::To;
use crate::primitives::{Room, Selector, Sifted, Wanted};
use bytemuck::{Pod, Zeroable};
use gridsync_entries::select::Selectable;
use std::time::Instant;

/// A selection from an array that is passed part by part, on the CPU or on devices with room for
/// one part and the elements selected from it. Several devices share each part.
///
/// Each element is evaluated with its predecessor, also at the start of a part, so that
/// [`FirstOfRun`](crate::primitives::select::FirstOfRun) finds the runs of the whole array. A
/// predicate that uses the index of an element does not see its index in the whole array.
pub struct PartSelector<S: Selectable> {
    by: S,
    on: On<S>,
    wanted: Wanted,
    /// The element before the next part.
    last: Option<S::Element>,
    /// Elements in the previous parts.
    taken: usize,
    us: f64,
}

enum On<S: Selectable> {
    Devices(OnDevices<S>),
    Cpu,
}

struct OnDevices<S: Selectable> {
    each: Vec<OnDevice<S>>,
    /// Whether some of the devices are the same GPU.
    share: bool,
}

/// A device that selects from its share of a part.
struct OnDevice<S: Selectable> {
    device: Device,
    selector: Selector<S>,
    /// The share, with the element before it.
    chunk: Buffer<S::Element>,
    room: Room<S::Element>,
}

impl<S: Selectable<Element: Pod>> PartSelector<S> {
    /// A selection on `devices` from parts of at most `part` elements.
    ///
    /// # Errors
    /// If a device fails.
    pub fn new(
        by: S,
        devices: impl Into<Devices>,
        part: usize,
        wanted: Wanted,
    ) -> Result<Self, PartError> {
        let devices = devices.into();
        let share = Cut::in_units(part, 1).longest(devices.len());
        let each = devices.each(|_, device| {
            device.compile::<S::Kernel>()?;
            let most = share.saturating_add(1);
            Ok(OnDevice {
                device: device.clone(),
                selector: Selector::new(by, device, most)?,
                chunk: device.alloc(most)?,
                room: Room::new(device, most, wanted)?,
            })
        })?;
        let on = OnDevices { each, share: devices.sharing() > 1 };
        Ok(Self::begin(by, On::Devices(on), wanted))
    }

    /// A selection on all cores of the CPU, from parts of any length.
    #[must_use]
    pub fn on_cpu(by: S, wanted: Wanted) -> Self {
        Self::begin(by, On::Cpu, wanted)
    }

    fn begin(by: S, on: On<S>, wanted: Wanted) -> Self {
        Self { by, on, wanted, last: None, taken: 0, us: 0.0 }
    }

    /// Selects from the next part; positions count from the start of the whole array.
    ///
    /// # Errors
    /// If the device fails, and [`PartError::Memory`] for the selected elements. Then the part was
    /// not processed, and may be retried.
    ///
    /// # Panics
    /// If it is longer than a part may be.
    pub fn next(&mut self, elements: &[S::Element]) -> Result<Sifted<S::Element>, PartError> {
        let found = match &mut self.on {
            On::Devices(on) => {
                let (found, us) = on.next((self.by, self.wanted), self.last, elements)?;
                self.us += us;
                found
            }
            On::Cpu => {
                let start = Instant::now();
                let found = sift(self.by, self.last, elements, self.wanted)?;
                self.us += start.elapsed().as_secs_f64() * 1e6;
                found
            }
        };
        Ok(self.placed(found, elements.len(), elements.last().copied()))
    }

    /// Like [`next`](Self::next), for a part of `len` elements that `read` writes. On the CPU each
    /// core reads the elements that it evaluates in chunks, so that for example narrow elements are
    /// never all widened at once.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    ///
    /// # Panics
    /// As for [`next`](Self::next).
    pub fn next_by(
        &mut self,
        len: usize,
        read: &Read<'_, S::Element>,
    ) -> Result<Sifted<S::Element>, PartError> {
        if let On::Devices(_) = self.on {
            let mut elements = memory::zeroed(len)?;
            read(0..len, &mut elements);
            return self.next(&elements);
        }
        let start = Instant::now();
        let found = sift_by(self.by, self.last, len, read, self.wanted)?;
        self.us += start.elapsed().as_secs_f64() * 1e6;
        let mut last = None;
        if len > 0 {
            read(len - 1..len, std::slice::from_mut(last.insert(S::Element::zeroed())));
        }
        Ok(self.placed(found, len, last))
    }

    /// Converts the results of a part of `len` elements to positions in the whole array. The next
    /// part comes after `last`.
    fn placed(
        &mut self,
        mut found: Sifted<S::Element>,
        len: usize,
        last: Option<S::Element>,
    ) -> Sifted<S::Element> {
        if let Some(positions) = &mut found.positions {
            positions.iter_mut().for_each(|at| *at += self.taken as u64);
        }
        self.taken += len;
        self.last = last.or(self.last);
        found
    }

    /// µs that the kernels or the CPU have used so far.
    #[must_use]
    pub fn us(&self) -> f64 {
        self.us
    }
}

impl<S: Selectable<Element: Pod>> OnDevices<S> {
    /// Selects from the next part on all devices, each from its share, and returns the device time
    /// in µs. `last` is the element before the part. Positions count from the start of the part.
    fn next(
        &mut self,
        (by, wanted): (S, Wanted),
        last: Option<S::Element>,
        elements: &[S::Element],
    ) -> Result<(Sifted<S::Element>, f64), PartError> {
        let runs = Cut::in_units(elements.len(), 1).runs(elements, self.each.len());
        let count = self.each.len();
        let shares = self.each.iter_mut().zip(runs).enumerate();
        // The first device also processes a part without elements.
        let shares = shares.filter(|(_, (_, (run, _)))| run.start == 0 || !run.is_empty());
        let found = on_each(shares, |(gpu, (on, (run, share)))| {
            let last = run.start.checked_sub(1).map(|before| elements[before]).or(last);
            let found = on.next(by, last, share);
            let (mut found, us) = found.map_err(|error| match error {
                PartError::Device(error) => of_gpu(error, (gpu, count), &on.device).into(),
                error => error,
            })?;
            if let Some(positions) = &mut found.positions {
                positions.iter_mut().for_each(|at| *at += run.start as u64);
            }
            Ok::<_, PartError>((found, us))
        })?;
        let us = at_once(found.iter().map(|(_, us)| *us), self.share);
        let mut found = found.into_iter().map(|(found, _)| found);
        let mut all = found.next().unwrap_or_else(|| Sifted::none(wanted));
        found.try_for_each(|next| all.extend(&next))?;
        Ok((all, us))
    }
}

impl<S: Selectable<Element: Pod>> OnDevice<S> {
    /// Selects from `elements`, with `last` before them, and returns the device time in µs.
    fn next(
        &mut self,
        by: S,
        last: Option<S::Element>,
        elements: &[S::Element],
    ) -> Result<(Sifted<S::Element>, f64), PartError> {
        let Self { device, selector, chunk, room } = self;
        // The preceding element was already evaluated with its own part.
        let known = last.as_slice();
        let known_kept = usize::from(!known.is_empty() && by.is_kept(known, 0));
        let len = known.len() + elements.len();
        chunk.copy_part_from(0, known)?;
        chunk.copy_part_from(known.len(), elements)?;
        // The outputs end where those of the longest share would.
        let from = chunk.len() - len;
        let us = device.time(|| selector.launch_part(chunk, 0..len, To { from, ..room.to() }))?;
        let kept = room.count.download()?[0] as usize;
        let others = known.len() - known_kept..len - kept;
        let others = from + others.start..from + others.end;
        let kept = from + known_kept..from + kept;
        let mut found = Sifted {
            kept: downloaded(&room.kept, kept.clone())?,
            rest: room.rest.as_ref().map(|rest| downloaded(rest, others)).transpose()?,
            positions: room
                .positions
                .as_ref()
                .map(|positions| downloaded(positions, kept))
                .transpose()?,
        };
        if let Some(positions) = &mut found.positions {
            positions.iter_mut().for_each(|at| *at -= known.len() as u64);
        }
        Ok((found, us))
    }
}

/// Copies a part of a buffer to the host.
fn downloaded<T: Pod>(
    buffer: &Buffer<T>,
    part: std::ops::Range<usize>,
) -> Result<Vec<T>, PartError> {
    let mut host = memory::zeroed(part.len())?;
    buffer.download_to(part.start, &mut host)?;
    Ok(host)
}

/// Selects from `input` on `devices`, `part` elements at a time, like a [`PartSelector`]; 0 counts
/// as 1. Calls `done` with the number of elements processed so far.
///
/// # Errors
/// If a device fails, and [`PartError::Memory`] for the selected elements.
pub fn select_in_parts<S>(
    by: S,
    devices: impl Into<Devices>,
    input: &[S::Element],
    part: usize,
    wanted: Wanted,
    mut done: impl FnMut(usize),
) -> Result<Sifted<S::Element>, PartError>
where
    S: Selectable<Element: Pod>,
{
    let part = part.max(1);
    let mut selector = PartSelector::new(by, devices, part.min(input.len()), wanted)?;
    let mut all = Sifted::none(wanted);
    let mut taken = 0;
    for chunk in input.chunks(part) {
        all.extend(&selector.next(chunk)?)?;
        taken += chunk.len();
        done(taken);
    }
    Ok(all)
}
