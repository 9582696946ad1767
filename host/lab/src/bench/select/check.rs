//! Checks the output of a selection.

use super::{DeviceError, MeasureError};
use bytemuck::Pod;
use gridsync::device::Buffer;
use gridsync::primitives::Room;
use gridsync_entries::select::Selectable;

/// Number of elements that are checked at once: few enough for the caches of the CPU. One core that
/// stays in its caches is faster than all cores filling arrays of gigabytes.
const PART: usize = 1 << 20;

/// Compares the output `written` with the elements of `input` that `by` keeps on the CPU. `by` uses
/// an element and its predecessor.
///
/// # Errors
/// [`MeasureError::Wrong`]; or if a copy fails.
pub(super) fn check<S: Selectable<Element = f32>>(
    written: &Room<f32>,
    by: S,
    input: &Buffer<f32>,
) -> Result<(), MeasureError> {
    let n = input.len();
    let mut kept = 0;
    for part in (0..n).step_by(PART) {
        match kept_of_part(written, by, input, part, kept)? {
            Some(more) => kept += more,
            None => {
                return Err(MeasureError::Wrong(format!(
                    "a selection from {n} f32 is wrong in what it wrote of elements {part} to {}, before which {kept} are kept",
                    n.min(part + PART) - 1
                )));
            }
        }
    }
    match written.count.download()?[0] {
        counted if counted == kept as u64 => Ok(()),
        counted => Err(MeasureError::Wrong(format!(
            "a selection from {n} f32 is wrong: it counted {counted} that are kept, not {kept}"
        ))),
    }
}

/// Number of elements that are kept in the part that starts at `start`, after `kept` elements in
/// the preceding parts. `None` if their output is wrong.
fn kept_of_part<S: Selectable<Element = f32>>(
    written: &Room<f32>,
    by: S,
    input: &Buffer<f32>,
    start: usize,
    kept: usize,
) -> Result<Option<usize>, DeviceError> {
    // The predecessor determines whether an element is the first of its run.
    let from = start.saturating_sub(1);
    let elements = input.download_part(from..input.len().min(start + PART))?;
    let (ours, others): (Vec<usize>, Vec<usize>) =
        (start - from..elements.len()).partition(|&i| by.is_kept(&elements, i));
    let values = |indices: &[usize]| indices.iter().map(|&i| elements[i]).collect::<Vec<_>>();
    let mut is_right = has(&written.kept, kept, &values(&ours))?;
    if let Some(rest) = &written.rest {
        is_right &= has(rest, start - kept, &values(&others))?;
    }
    if let Some(positions) = &written.positions {
        let right: Vec<_> = ours.iter().map(|&i| (from + i) as u64).collect();
        is_right &= has(positions, kept, &right)?;
    }
    Ok(is_right.then_some(ours.len()))
}

/// Whether `buffer` contains `right` at `at`.
fn has<T: Pod + PartialEq>(
    buffer: &Buffer<T>,
    at: usize,
    right: &[T],
) -> Result<bool, DeviceError> {
    Ok(buffer.download_part(at..at + right.len())? == right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gridsync::device::{Device, Emulator, EmulatorConfig};
    use gridsync::primitives::Wanted;
    use gridsync::primitives::select::{FirstOfRun, Within};

    /// A length of more than one part.
    const N: usize = PART + 2;

    /// Whether this output is right for runs of two elements each.
    fn of_runs(kept: &[f32], positions: &[u64], count: u64) -> Result<(), MeasureError> {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let pairs: Vec<f32> = (0..N).map(|i| (i.div_ceil(2)) as f32).collect();
        let input = device.upload(&pairs).expect("there is room");
        let mut output = Room::new(&device, N, Wanted::POSITIONS).expect("there is room");
        let mut kept = kept.to_vec();
        kept.resize(N, -1.0);
        let mut positions = positions.to_vec();
        positions.resize(N, u64::MAX);
        output.kept.copy_from(&kept).expect("it is as long");
        let to = output.positions.as_mut().expect("they are wanted");
        to.copy_from(&positions).expect("it is as long");
        output.count.copy_from(&[count]).expect("it is one number");
        check(&output, FirstOfRun::<f32>::new(), &input)
    }

    #[test]
    fn a_wrong_element_position_or_count_is_found_in_every_part() {
        // A run starts at 0 and at each odd index; the second part starts within one.
        let kept: Vec<f32> = (0..=N / 2).map(|run| run as f32).collect();
        let positions: Vec<u64> =
            (0..=N as u64 / 2).map(|run| (2 * run).saturating_sub(1)).collect();
        let count = kept.len() as u64;
        assert_eq!(of_runs(&kept, &positions, count), Ok(()));
        for at in [0, kept.len() - 1] {
            let (mut wrong_kept, mut wrong_positions) = (kept.clone(), positions.clone());
            wrong_kept[at] += 1.0;
            wrong_positions[at] += 1;
            assert!(of_runs(&wrong_kept, &positions, count).is_err(), "{at}");
            assert!(of_runs(&kept, &wrong_positions, count).is_err(), "{at}");
        }
        let error = of_runs(&kept, &positions, count + 1).expect_err("it counts one more");
        assert!(error.to_string().contains(&format!("not {count}")), "{error}");
    }

    #[test]
    fn a_wrong_element_of_the_rest_is_found() {
        let device = Device::new(Emulator::new(EmulatorConfig::default()));
        let input = device.upload(&[1.0f32, 2.0, 3.0]).expect("there is room");
        let mut output = Room::new(&device, 3, Wanted::REST).expect("there is room");
        output.kept.copy_from(&[2.0, 0.0, 0.0]).expect("it is as long");
        output.count.copy_from(&[1]).expect("it is one number");
        let mut is_right = |rest: [f32; 3]| {
            let to = output.rest.as_mut().expect("it is wanted");
            to.copy_from(&rest).expect("it is as long");
            check(&output, Within::equal_to(2.0f32), &input).is_ok()
        };
        assert!(is_right([1.0, 3.0, 0.0]));
        assert!(!is_right([3.0, 1.0, 0.0]));
    }
}
