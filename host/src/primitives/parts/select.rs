//! Selections, part by part.

use crate::device::{Device, DeviceError};
use crate::primitives::{Room, Selector, Sifted, Wanted};
use bytemuck::Pod;
use gridsync_kernels::entry::select::Selectable;

/// A selection from an array that comes part by part.
///
/// Each element is judged beside the one before it, wherever a part begins, so that
/// [`FirstOfRun`](crate::primitives::select::FirstOfRun) finds the runs of the whole. A predicate that
/// goes by the index of an element does not see that of the whole.
pub struct PartSelector<S: Selectable> {
    by: S,
    device: Device,
    selector: Selector<S::Element>,
    wanted: Wanted,
    /// The element before the next part.
    last: Option<S::Element>,
    /// Elements of the parts before.
    behind: usize,
}

impl<S: Selectable<Element: Pod>> PartSelector<S> {
    /// A selection on `device` from parts of `part` elements at most.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(by: S, device: &Device, part: usize, wanted: Wanted) -> Result<Self, DeviceError> {
        Ok(Self {
            by,
            device: device.clone(),
            selector: Selector::new(device, part.saturating_add(1))?,
            wanted,
            last: None,
            behind: 0,
        })
    }

    /// What is selected from the next part; positions are those in the whole.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// If it is longer than was said.
    pub fn next(&mut self, elements: &[S::Element]) -> Result<Sifted<S::Element>, DeviceError> {
        // The element before was judged with its own part.
        let known = self.last.as_slice();
        let known_kept = usize::from(!known.is_empty() && self.by.is_kept(known, 0));
        let len = known.len() + elements.len();
        let mut chunk = self.device.alloc(len)?;
        chunk.copy_part_from(0, known)?;
        chunk.copy_part_from(known.len(), elements)?;
        let mut room = Room::new(&self.device, len, self.wanted)?;
        self.selector
            .launch_part(self.by, &chunk, 0..len, room.to())?;
        let mut found = room.download()?;
        found.kept.drain(..known_kept);
        if let Some(rest) = &mut found.rest {
            rest.drain(..known.len() - known_kept);
        }
        if let Some(positions) = &mut found.positions {
            positions.drain(..known_kept);
            let first = (self.behind - known.len()) as u64;
            positions.iter_mut().for_each(|at| *at += first);
        }
        self.behind += elements.len();
        self.last = elements.last().copied().or(self.last);
        Ok(found)
    }
}

/// Selects from `input` on `device`, `part` elements at a time, or one where it is 0, as a
/// [`PartSelector`] does. Calls `done` with the elements that have been judged.
///
/// # Errors
/// Those of the device.
pub fn select_in_parts<S>(
    by: S,
    device: &Device,
    input: &[S::Element],
    part: usize,
    wanted: Wanted,
    mut done: impl FnMut(usize),
) -> Result<Sifted<S::Element>, DeviceError>
where
    S: Selectable<Element: Pod>,
{
    let part = part.max(1);
    let mut selector = PartSelector::new(by, device, part.min(input.len()), wanted)?;
    let mut all = Sifted {
        kept: Vec::new(),
        rest: wanted.rest.then(Vec::new),
        positions: wanted.positions.then(Vec::new),
    };
    let mut behind = 0;
    for chunk in input.chunks(part) {
        let found = selector.next(chunk)?;
        all.kept.extend(found.kept);
        if let (Some(all), Some(found)) = (&mut all.rest, found.rest) {
            all.extend(found);
        }
        if let (Some(all), Some(found)) = (&mut all.positions, found.positions) {
            all.extend(found);
        }
        behind += chunk.len();
        done(behind);
    }
    Ok(all)
}
