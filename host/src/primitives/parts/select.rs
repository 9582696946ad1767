//! Selections, part by part.

use crate::device::{Device, DeviceError};
use crate::primitives::{Room, Selector, Sifted, Wanted};
use bytemuck::Pod;
use gridsync_kernels::entry::select::Selectable;

/// Selects from `input` on `device`, `part` elements at a time, or one where it is 0. Calls `done` with the
/// elements that have been judged.
///
/// Each element is judged beside the one before it, wherever a part begins, so that
/// [`FirstOfRun`](crate::primitives::select::FirstOfRun) finds the runs of the whole. A predicate that
/// goes by the index of an element does not see that of the whole.
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
    let mut selector = Selector::new(device, input.len().min(part.saturating_add(1)))?;
    let mut all = Sifted {
        kept: Vec::new(),
        rest: wanted.rest.then(Vec::new),
        positions: wanted.positions.then(Vec::new),
    };
    for start in (0..input.len()).step_by(part) {
        let first = start.saturating_sub(1);
        let end = input.len().min(start.saturating_add(part));
        let chunk = &input[first..end];
        // The first one of all but the first part was judged before.
        let known = start - first;
        let known_kept = usize::from(known > 0 && by.is_kept(chunk, 0));
        let elements = device.upload(chunk)?;
        let mut room = Room::new(device, chunk.len(), wanted)?;
        selector.launch_part(by, &elements, 0..chunk.len(), room.to())?;
        let found = room.download()?;
        all.kept.extend(&found.kept[known_kept..]);
        if let (Some(all), Some(found)) = (&mut all.rest, found.rest) {
            all.extend(&found[known - known_kept..]);
        }
        if let (Some(all), Some(found)) = (&mut all.positions, found.positions) {
            let found = found[known_kept..].iter();
            all.extend(found.map(|position| position + first as u64));
        }
        done(end);
    }
    Ok(all)
}
