//! Range sums, part by part.

use super::scan_in_parts;
use crate::device::Device;
use crate::primitives::RangeSummable;
use crate::primitives::range_sum::{BadRange, RangeSumError};
use crate::primitives::scan::Form;
use crate::reference;
use bytemuck::Pod;

/// The sums of the ranges `queries`, each `[from, to]` for the elements from..to, of `input`, which is
/// scanned on `device` part by part, as [`scan_in_parts`] does it; the differences are taken on the CPU.
/// The bits are those of [`RangeSums`](crate::primitives::RangeSums). The host has to have room for a
/// sum of each element.
///
/// # Errors
/// [`RangeSumError::BadRange`] for the first query that is no range of the array, and those of the
/// device.
pub fn range_sums_in_parts<O>(
    op: O,
    device: &Device,
    input: &[O::Element],
    queries: &[[u64; 2]],
    part: usize,
    done: impl FnMut(usize),
) -> Result<Vec<O::Output>, RangeSumError>
where
    O: RangeSummable<Element: Pod, Output: Pod>,
{
    if let Some(query) = reference::first_bad(queries, input.len()) {
        return Err(BadRange::new(query, queries[query], input.len()).into());
    }
    let prefixes = scan_in_parts(op, device, input, Form::Inclusive, part, done)?;
    Ok(reference::differences(&prefixes, queries))
}
