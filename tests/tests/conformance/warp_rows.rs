//! A warp that reduces or scans eight rows at once gives the result of each row alone. On the
//! device, every scan with bulk copies uses the same functions.

use cuda_std::memory::Pack;
use cuda_std::prelude::{Global, kernel};
use cuda_std::warp::{WARP_SIZE, lane_id};
use gridsync::device::{Device, DeviceError, Geometry};
use gridsync_kernels::op::{Affine, Compose, Operation, Sum};
use gridsync_kernels::warp::{self, ROWS};
use gridsync_tests::devices::{emulator_under, schedules};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            the_sum_of_each_row_is_the_balanced_tree_to_the_bit,
            an_exclusive_scan_of_rows_keeps_the_order_of_elements;
    }
}

/// Elements of all rows together.
const ALL: usize = ROWS * WARP_SIZE as usize;

/// This lane's element of each row, lifted.
#[cfg_attr(not(target_arch = "nvptx64"), track_caller)]
fn of_this_lane<O: Operation>(op: O, input: Global<O::Element>) -> [O::Accumulator; ROWS]
where
    O::Element: cuda_std::memory::Scalar,
{
    Pack::from_fn(|row| {
        let at = row * WARP_SIZE as usize + lane_id() as usize;
        op.lift(input.read(at), at as u64)
    })
}

/// Writes the sum of each row, from each lane that has it.
///
/// # Safety
///
/// One warp; [`ALL`] elements in `input`, one for each lane in `output`.
#[kernel]
unsafe fn sums_of_rows(input: Global<f32>, output: Global<f32>) {
    let op = Sum::<f32>::new();
    let sum = warp::reduce_rows(op, of_this_lane(op, input));
    output.write(lane_id() as usize, sum);
}

/// A map packed into 64 bits.
fn word(Affine { factor, summand }: Affine) -> u64 {
    u64::from(summand) << 32 | u64::from(factor)
}

/// Writes the map before each element, and the map of all elements for each lane.
///
/// # Safety
///
/// One warp; [`ALL`] elements in `input`; as many and one for each lane in `output`.
#[kernel]
unsafe fn maps_before(input: Global<u64>, output: Global<u64>) {
    let op = Compose::new();
    let (before, all) = warp::scan_rows(op, of_this_lane(op, input));
    before.for_each(|row, map| {
        output.write(row * WARP_SIZE as usize + lane_id() as usize, word(map));
    });
    output.write(ALL + lane_id() as usize, word(all));
}

/// Runs `K` with one warp.
fn by_one_warp<K, T>(device: &Device, input: &[T], len: usize) -> Result<Vec<T>, DeviceError>
where
    T: cuda_std::memory::Scalar + bytemuck::Pod,
    K: cuda_std::launch::Kernel<Args = (Global<T>, Global<T>)>,
{
    let (input, output) = (device.upload(input)?, device.zeroed::<T>(len)?);
    // SAFETY: the views have the lengths that the kernels need. The download waits for the launch.
    unsafe { device.launch::<K>(&Geometry::new(1, WARP_SIZE), (input.view(), output.view()))? };
    output.download()
}

/// Numbers whose sums need rounding.
fn thirds() -> Vec<f32> {
    (0..ALL).map(|i| (i * i % 101) as f32 / 3.0).collect()
}

fn the_sum_of_each_row_is_the_balanced_tree_to_the_bit() {
    let input = thirds();
    let expected: Vec<u32> = input
        .chunks(WARP_SIZE as usize)
        .map(|row| {
            let mut tree = row.to_vec();
            while tree.len() > 1 {
                tree = tree.chunks(2).map(|pair| pair[0] + pair[1]).collect();
            }
            tree[0].to_bits()
        })
        .cycle()
        .take(WARP_SIZE as usize)
        .collect();
    for schedule in schedules() {
        let sums = by_one_warp::<sums_of_rows, f32>(&emulator_under(schedule), &input, 32);
        let bits: Vec<u32> = sums.unwrap().into_iter().map(f32::to_bits).collect();
        assert_eq!(bits, expected, "{schedule:?}");
    }
}

fn an_exclusive_scan_of_rows_keeps_the_order_of_elements() {
    let input: Vec<u64> = (0..ALL as u64).map(|i| i * 0x1_0000_0007 + 3).collect();
    let op = Compose::new();
    let mut so_far = op.identity();
    let mut expected = Vec::new();
    for &element in &input {
        expected.push(word(so_far));
        so_far = op.combine(so_far, op.lift(element, 0));
    }
    expected.extend([word(so_far); WARP_SIZE as usize]);
    for schedule in schedules() {
        let device = emulator_under(schedule);
        let maps = by_one_warp::<maps_before, u64>(&device, &input, expected.len());
        assert_eq!(maps.unwrap(), expected, "{schedule:?}");
    }
}
