//! A scan from file to file, of which the host holds a part at a time, as the device does.

use super::super::Global;
use super::super::parts::{each_part, time_with_bar};
use super::Outcome;
use bytemuck::{Pod, Zeroable};
use gridsync::data::{self, Incoming, Output};
use gridsync::device::Device;
use gridsync::primitives::PartScanner;
use gridsync::primitives::scan::Form;
use gridsync_kernels::entry::scan::Scannable;

/// Scans `input` into the file `to`, about `part` elements at a time. The time is that of reading and
/// writing too.
pub(super) fn scan<O>(
    op: O,
    device: &Device,
    (input, to): (Incoming, &Output),
    form: Form,
    part: usize,
    global: &Global,
) -> anyhow::Result<Outcome>
where
    O: Scannable<Element: Pod, Output: Pod + data::Scalar>,
{
    let len = input.len();
    let dtype = <O::Output as data::Scalar>::DTYPE;
    let ((), median_us) = time_with_bar(global, |step| {
        let mut scanner = PartScanner::new(op, device, len, form, part)?;
        let part = scanner.part();
        let mut results = vec![O::Output::zeroed(); part];
        let mut output = data::create_npy(to, dtype, &[len as u64])?;
        each_part(input, part, step, |elements| {
            let results = &mut results[..elements.len()];
            scanner.next(elements, results)?;
            Ok(output.push(bytemuck::cast_slice(results))?)
        })?;
        anyhow::Ok(output.finish()?)
    })?;
    Ok(Outcome {
        dtype,
        bytes: None,
        check: None,
        median_us,
        part: Some(part),
    })
}
