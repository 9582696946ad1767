//! Selections, part by part.

use crate::device::{Device, DeviceError};
use crate::primitives::select::{Selector, To};
use bytemuck::Pod;
use gridsync_kernels::entry::select::Selectable;

/// What is wanted of a selection besides the elements that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// All other elements.
    pub rest: bool,
    /// The indices of those that are kept.
    pub positions: bool,
}

impl Wanted {
    /// Bytes of device memory that an element of `T` takes, with its places in all outputs.
    #[must_use]
    pub const fn bytes<T>(self) -> usize {
        (2 + self.rest as usize) * size_of::<T>() + self.positions as usize * size_of::<u64>()
    }
}

/// What was selected, on the host; nothing where it was not wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sifted<T> {
    /// The elements that are kept.
    pub kept: Vec<T>,
    /// All others.
    pub rest: Option<Vec<T>>,
    /// The indices of those that are kept.
    pub positions: Option<Vec<u64>>,
}

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
        let found = sift(&mut selector, by, device, chunk, wanted)?;
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

/// Selects from `input` at once.
fn sift<S: Selectable<Element: Pod>>(
    selector: &mut Selector<S::Element>,
    by: S,
    device: &Device,
    input: &[S::Element],
    wanted: Wanted,
) -> Result<Sifted<S::Element>, DeviceError> {
    let len = input.len();
    let input = device.upload(input)?;
    let mut kept = device.alloc(len)?;
    let mut rest = wanted.rest.then(|| device.alloc(len)).transpose()?;
    let mut positions = wanted.positions.then(|| device.alloc(len)).transpose()?;
    let mut count = device.alloc(1)?;
    let to = To {
        rest: rest.as_mut(),
        positions: positions.as_mut(),
        ..To::new(&mut kept, &mut count)
    };
    selector.launch_part(by, &input, 0..len, to)?;
    let count = count.download()?[0] as usize;
    Ok(Sifted {
        kept: kept.download_part(0..count)?,
        rest: rest
            .map(|rest| rest.download_part(0..len - count))
            .transpose()?,
        positions: positions
            .map(|positions| positions.download_part(0..count))
            .transpose()?,
    })
}
