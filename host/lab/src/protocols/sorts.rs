//! Sorts of arrays and of the rows of matrices.

use super::{Protocol, right};
use gridsync::device::{Device, EmulatorConfig};
use gridsync::primitives::sort::{
    Order, Segments, Sorter, argsort_on_cpu, argsort_rows_on_cpu, argsort_segments_on_cpu,
    sort_rows_on_cpu, sort_segments_on_cpu,
};
use gridsync_verify::{CaseError, Keys};

/// A protocol for each way of sorting.
pub(super) fn all() -> [Protocol; 6] {
    [
        // Two blocks that count, and five tiles.
        indices("sort/tiles", (1 << 14) + 1),
        indices("sort/one-block", 2100),
        // 409 rows in the first block, and in the second two warps, the last with few rows.
        on(8, "sort/short-rows", |device| pairs_of_rows(device, 409 + 50, 5)),
        // Six rows in the first block, and one in the second.
        on(1, "sort/rows-of-a-block", |device| pairs_of_rows(device, 7, 300)),
        // Two blocks that count, the first of them two rows, and two tiles for each row.
        on(2, "sort/long-rows", |device| indices_of_rows(device, 3, 4097)),
        // Short ones, two blocks of windows, and blocks of one segment.
        on(2, "sort/segments", |device| pairs_of_segments(device, &[5, 300, 0, 40, 1100], 15)),
    ]
}

/// A protocol on a GPU with this many multiprocessors, which determines how rows are distributed.
fn on(
    multiprocessors: u32,
    name: &str,
    run: impl Fn(&Device) -> Result<(), CaseError> + Send + Sync + 'static,
) -> Protocol {
    let config = EmulatorConfig { multiprocessors, ..EmulatorConfig::default() };
    Protocol { config, ..Protocol::new(name, run) }
}

/// A sort of the indices of this many keys, in two passes.
fn indices(name: &str, len: usize) -> Protocol {
    Protocol::new(name, move |device| {
        let keys = Keys::Any.sample::<u16>(len, 1);
        let mut indices = device.alloc::<u64>(keys.len())?;
        Sorter::new(device, keys.len())?.launch_argsort(
            Order::ASCENDING,
            &device.upload(&keys)?,
            &mut indices,
        )?;
        let is_right = indices.download()? == argsort_on_cpu::<_, u64>(Order::ASCENDING, &keys);
        right((!is_right).then(|| "the indices are not in the order of their keys".to_owned()))
    })
}

/// A sort of rows in place. The index of each key moves with it.
fn pairs_of_rows(device: &Device, rows: usize, columns: usize) -> Result<(), CaseError> {
    let input = Keys::Any.sample::<u16>(rows * columns, 1);
    let indices: Vec<u32> = (0..columns as u32).cycle().take(input.len()).collect();
    let (mut keys, mut values) = (device.upload(&input)?, device.upload(&indices)?);
    Sorter::new(device, 0)?.rows(rows, columns).launch_pairs_in_place(
        Order::ASCENDING,
        &mut keys,
        &mut values,
    )?;
    let are_sorted = keys.download()? == sort_rows_on_cpu(Order::ASCENDING, &input, rows, columns);
    right((!are_sorted).then(|| "the keys are not in order".to_owned()))?;
    let expected: Vec<u32> = argsort_rows_on_cpu(Order::ASCENDING, &input, rows, columns);
    let have_moved = values.download()? == expected;
    right((!have_moved).then(|| "the values are not at their keys".to_owned()))
}

/// A sort in place of `count` segments, whose lengths are these in turn. The index of each key in its
/// segment moves with it.
fn pairs_of_segments(device: &Device, lens: &[u64], count: usize) -> Result<(), CaseError> {
    let mut offsets = vec![0];
    for len in lens.iter().cycle().take(count) {
        offsets.push(offsets[offsets.len() - 1] + len);
    }
    let indices: Vec<u32> =
        lens.iter().cycle().take(count).flat_map(|&len| 0..len as u32).collect();
    let input = Keys::Any.sample::<u16>(indices.len(), 1);
    let (mut keys, mut values) = (device.upload(&input)?, device.upload(&indices)?);
    Sorter::new(device, 0)?.segments(&Segments::new(device, &offsets)?).launch_pairs_in_place(
        Order::ASCENDING,
        &mut keys,
        &mut values,
    )?;
    let are_sorted = keys.download()? == sort_segments_on_cpu(Order::ASCENDING, &input, &offsets);
    right((!are_sorted).then(|| "the keys are not in order".to_owned()))?;
    let expected: Vec<u32> = argsort_segments_on_cpu(Order::ASCENDING, &input, &offsets);
    let have_moved = values.download()? == expected;
    right((!have_moved).then(|| "the values are not at their keys".to_owned()))
}

/// A sort of the indices of keys in their rows, in one pass.
fn indices_of_rows(device: &Device, rows: usize, columns: usize) -> Result<(), CaseError> {
    let keys = Keys::Any.sample::<u8>(rows * columns, 1);
    let mut indices = device.alloc::<u32>(keys.len())?;
    Sorter::new(device, keys.len())?.rows(rows, columns).launch_argsort(
        Order::ASCENDING,
        &device.upload(&keys)?,
        &mut indices,
    )?;
    let expected: Vec<u32> = argsort_rows_on_cpu(Order::ASCENDING, &keys, rows, columns);
    let is_right = indices.download()? == expected;
    right((!is_right).then(|| "the indices are not in the order of their keys".to_owned()))
}
