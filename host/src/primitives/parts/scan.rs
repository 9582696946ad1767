//! Scans, part by part.

use crate::device::{Device, DeviceError};
use crate::primitives::scan::{Form, Scanner};
use bytemuck::{Pod, Zeroable};
use gridsync_kernels::entry::scan::Scannable;
use gridsync_kernels::grid::scan::Shape;

/// Scans `input` by `op` on `device`, part by part through about `part` elements of its memory, and as
/// many results: the next part goes on from where the last one ended, on the device. Calls `done` with
/// the elements that have been scanned.
///
/// The bits are those of one scan of the whole. A part is a multiple of [`Shape::part`], 32 MiB or less
/// of elements, and at least one; input that is no longer is scanned at once. An operation that goes by
/// the index of an element sees it count from 0 in each part.
///
/// # Errors
/// Those of the device.
pub fn scan_in_parts<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    form: Form,
    part: usize,
    mut done: impl FnMut(usize),
) -> Result<Vec<O::Output>, DeviceError>
where
    O: Scannable<Element: Pod, Output: Pod>,
{
    let least = Shape::part::<O::Element, O::Accumulator>();
    let part = (part / least).max(1) * least;
    let mut scanner = Scanner::with(op, device, part.min(input.len()))?;
    let mut results = vec![O::Output::zeroed(); input.len()];
    let mut elements = device.alloc(part.min(input.len()))?;
    let mut output = device.alloc(elements.len())?;
    if input.len() <= part {
        elements.copy_from(input)?;
        scanner.launch(&elements, &mut output, form)?;
        output.download_to(0, &mut results)?;
        done(input.len());
    } else {
        let chunks = input.chunks(part).zip(results.chunks_mut(part));
        let mut behind = 0;
        for (chunk, results) in chunks {
            elements.copy_part_from(0, chunk)?;
            let range = 0..chunk.len();
            scanner.launch_next(&elements, range.clone(), &mut output, range, form)?;
            output.download_to(0, results)?;
            behind += chunk.len();
            done(behind);
        }
    }
    Ok(results)
}
