use super::*;
use crate::device::{Emulator, EmulatorConfig};
use gridsync_kernels::op::{ArgMin, Mean, Sum};

/// Elements whose leaves are tiles, with a last tile that is not full.
const LEN: usize = (1 << 20) + 5000;

/// Values whose sum depends on the order in which they are added.
fn adverse(len: usize) -> Vec<f32> {
    let value = |i: usize| match i % 4 {
        0 => 1e30,
        1 => -1e30,
        2 => 1.0 + i as f32,
        _ => 1e-30,
    };
    (0..len).map(|i| value(i.wrapping_mul(0x9E37_79B1) >> 7)).collect()
}

/// Reduces `input` in `count` runs, each on the device or CPU that `on` returns for it.
fn by_runs<O: PartReducible<Element: Pod>>(
    op: O,
    input: &[O::Element],
    count: usize,
    on: impl Fn(usize) -> Option<Device>,
) -> O::Output {
    let len = input.len();
    let cut = Cut::of::<O>(len);
    let mut all = Vec::new();
    for number in 0..count {
        let run = cut.run(number, count);
        let mut leaves = match on(number) {
            Some(device) => Leaves::new(op, &device, len, run.clone(), LEN / 3).expect("room"),
            None => Leaves::on_cpu(op, len, run.clone(), LEN / 3),
        };
        let part = leaves.part().max(1);
        for elements in input[run].chunks(part) {
            leaves.next(elements).expect("it is computed");
        }
        all.extend(leaves.finish());
    }
    let bytes = leaves_to_bytes(&all);
    let all = leaves_from_bytes(&bytes).expect("whole leaves");
    from_leaves(op, len, &all)
}

#[test]
fn runs_are_in_order_and_cover_the_array_once() {
    for len in [0, 1, 5, 1000, 100_000, LEN, LEN + 1, 20 << 20] {
        for count in [1, 2, 3, 7, 64, 5000] {
            for cut in [Cut::of::<Sum<f32>>(len), Cut::of::<Sum<i32>>(len)] {
                let mut end = 0;
                for number in 0..count {
                    let run = cut.run(number, count);
                    assert_eq!(run.start, end, "{len} {count} {number}");
                    assert!(run.start.is_multiple_of(cut.unit()) || run.start == len);
                    end = run.end;
                }
                assert_eq!(end, len, "by {count}");
            }
        }
    }
}

#[test]
fn a_unit_belongs_to_the_owner_of_its_first_element() {
    let cut = Cut { len: 25, unit: 10 };
    let held = [0..3, 3..10, 10..11, 11..24, 24..25, 25..25];
    let runs: Vec<_> = held.iter().map(|held| cut.begun_in(held)).collect();
    assert_eq!(runs, [0..10, 10..10, 10..20, 20..25, 25..25, 25..25]);
}

#[test]
fn cpu_runs_are_bit_identical_to_the_whole() {
    for len in [0, 1, 5000, LEN, 3 << 20] {
        let input = adverse(len);
        let sum = reference::reduce(Sum::<f32>::new(), &input);
        let first = reference::reduce(ArgMin::<f32>::new(), &input);
        let mean = reference::reduce(Mean::new(Sum::<f32>::new()), &input);
        for count in [1, 2, 3, 7, 300] {
            let found = by_runs(Sum::<f32>::new(), &input, count, |_| None);
            assert_eq!(found.to_bits(), sum.to_bits(), "{len} by {count}");
            let found = by_runs(ArgMin::<f32>::new(), &input, count, |_| None);
            assert_eq!(found, first, "{len} by {count}");
            let found = by_runs(Mean::new(Sum::<f32>::new()), &input, count, |_| None);
            assert_eq!(found.map(f64::to_bits), mean.map(f64::to_bits), "{len} by {count}");
        }
    }
}

#[test]
fn device_and_cpu_runs_can_be_combined() {
    let emulator = || Device::new(Emulator::new(EmulatorConfig::default()));
    let input = adverse(LEN);
    let sum = reference::reduce(Sum::<f32>::new(), &input);
    for one_on_the_cpu in [0, 1, 2] {
        let on = |number| (number != one_on_the_cpu).then(emulator);
        let found = by_runs(Sum::<f32>::new(), &input, 2, on);
        assert_eq!(found.to_bits(), sum.to_bits(), "number {one_on_the_cpu} on the CPU");
    }
    let first = reference::reduce(ArgMin::<f32>::new(), &input[..9000]);
    let found = by_runs(ArgMin::<f32>::new(), &input[..9000], 3, |_| Some(emulator()));
    assert_eq!(found, first);
}

#[test]
#[should_panic(expected = "leaves of 1053576 elements")]
fn a_missing_leaf_is_detected() {
    let _ = from_leaves(Sum::<f32>::new(), LEN, &[1.0; 64]);
}
