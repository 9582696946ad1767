//! Sums have the same bits on the device, after any earlier launch, and on the CPU.

use bytemuck::Pod;
use gridsync::device::{Device, Geometry};
use gridsync::primitives::reduce::reduce_on_cpu;
use gridsync::primitives::{Checked, Reducer};
use gridsync_entries::reduce::{Arguments, Reducible, sum_f32 as reduce_sum_f32};
use gridsync_kernels::grid::reduce::{MOST_TILES, STATE, Shape};
use gridsync_kernels::op::{CompensatedSum, Compose, Product, Sum};
use gridsync_tests::devices::{unjudged_under, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample};
use simt::{Policy, Schedule};
use std::any::type_name;
use std::fmt::Debug;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            larger_shapes_have_the_same_bits_on_cuda;
        on_each_backend:
            floats_that_lose_digits_have_the_same_bits_as_on_the_cpu,
            a_nan_has_the_same_bits_whatever_its_cause,
            the_stamps_wrap_after_the_last_one;
        thorough:
            larger_shapes_have_the_same_bits_on_the_emulator;
    }
}

/// Floats that lose digits in every addition: all magnitudes below 2, both signs, subnormals, and
/// pairs that cancel.
pub(crate) fn nasty(len: usize) -> Vec<f32> {
    let random = sample::<u32>(Input::Values, len, len as u64);
    let mut floats: Vec<f32> =
        random.into_iter().map(|bits| f32::from_bits(bits & 0xBFFF_FFFF)).collect();
    for pair in floats.chunks_exact_mut(2).step_by(3) {
        pair[1] = -pair[0];
    }
    floats
}

/// Arrays whose sum or product is NaN, for each possible cause.
pub(crate) fn with_nans() -> [Vec<f32>; 5] {
    let payload = f32::from_bits(0xFFC1_2345);
    [
        vec![payload],
        vec![payload, 1.0],
        vec![1.0, payload, 2.0],
        vec![f32::INFINITY, f32::NEG_INFINITY],
        vec![0.0, f32::INFINITY],
    ]
}

/// The stamps that six launches leave if the first is the second before the last stamp.
pub(crate) const AROUND_THE_LAST: [u32; 6] = [u32::MAX - 2, u32::MAX - 1, 0, 1, 2, 3];

/// Reduces `host` by `op` on `device` and on the CPU, and compares the bits.
fn same_bits<O>(op: O, device: &Device, what: &str, host: &[O::Element])
where
    O: Reducible + Checked,
    O::Element: Pod,
    O::Output: Debug,
{
    let input = device.upload(host).expect("the input should fit");
    let mut reducer = Reducer::new(op, device).expect("a reducer should fit");
    let result = reducer.reduce(&input).expect("it should be computed");
    let on_the_cpu = reduce_on_cpu(op, host);
    assert!(
        O::same(result, on_the_cpu),
        "{} of {what}: {result:?}, on the CPU {on_the_cpu:?}",
        type_name::<O>()
    );
}

/// Compares the bits of sums and products of `host`.
fn compare(device: &Device, what: &str, host: &[f32]) {
    same_bits(Sum::<f32>::new(), device, what, host);
    same_bits(Sum::<f32, f64>::new(), device, what, host);
    same_bits(CompensatedSum::<f32>::new(), device, what, host);
    same_bits(Product::<f32>::new(), device, what, host);
}

fn floats_that_lose_digits_have_the_same_bits_as_on_the_cpu(device: &Device) {
    for len in [2, 100, 1023, 8193, 70_001] {
        compare(device, &format!("{len} nasty floats"), &nasty(len));
    }
}

fn a_nan_has_the_same_bits_whatever_its_cause(device: &Device) {
    for nans in with_nans() {
        compare(device, &format!("{nans:?}"), &nans);
    }
}

fn the_stamps_wrap_after_the_last_one(device: &Device) {
    let host = nasty(40_000);
    let expected = reduce_on_cpu(Sum::<f32>::new(), &host).to_bits();
    let shape = Shape::of::<f32>(host.len());
    assert!(shape.tiles > 1, "one tile has no stamp");
    let geometry = Geometry::new(shape.tiles, shape.threads());
    let input = device.upload(&host).expect("the input should fit");
    let words = device.zeroed::<u64>(MOST_TILES).expect("the words should fit");
    // The third launch uses the last stamp, and the fourth wraps to the first.
    let mut state = [0; STATE];
    state[STATE - 1] = u32::MAX - 3;
    let state = device.upload(&state).expect("the state should fit");
    let result = device.alloc::<u32>(1).expect("a result should fit");
    for launch in 1..=6 {
        let args = (Arguments {
            input: input.view(),
            words: words.view(),
            state: state.view(),
            result: result.view(),
            runs: shape.runs,
        },);
        // SAFETY: the shape fits the input and the grid fits the shape. No word holds a stamp of a
        // later launch. All buffers live until the download has waited for the launch.
        unsafe { device.launch::<reduce_sum_f32>(&geometry, args) }.expect("it should launch");
        let got = result.download().expect("the kernel should have run")[0];
        assert_eq!(got, expected, "launch {launch}");
        let left = state.download().expect("the kernel should have run");
        let stamp = AROUND_THE_LAST[launch - 1];
        assert_eq!((left[0], left[STATE - 1]), (0, stamp), "launch {launch}");
        if stamp == 0 {
            let words = words.download().expect("the words are there");
            assert!(words.iter().all(|&word| word == 0), "an old stamp was left");
        }
    }
}

/// Two lengths with different numbers of warps per block; only in the first are leaves strips.
fn larger_shapes() -> [usize; 2] {
    let lens = [(1 << 18) + 1, (1 << 20) + 1025];
    let shapes = lens.map(Shape::of::<f32>);
    assert_ne!(shapes[0].warps, shapes[1].warps);
    assert!(shapes[0].leaves_are_strips() && !shapes[1].leaves_are_strips());
    lens
}

/// Compares maps, which do not commute.
fn compare_maps(device: &Device, len: usize) {
    let maps = sample::<u64>(Input::Factors, len, 9);
    same_bits(Compose::new(), device, &format!("{len} maps"), &maps);
}

fn larger_shapes_have_the_same_bits_on_the_emulator() {
    // Without race checks: the code is the same, and they would take too long.
    let device = unjudged_under(Schedule::new(Policy::Coarse));
    for len in larger_shapes() {
        let what = format!("{len} nasty floats");
        same_bits(Sum::<f32>::new(), &device, &what, &nasty(len));
        compare_maps(&device, len / 2);
    }
}

fn larger_shapes_have_the_same_bits_on_cuda() {
    with_cuda(|cuda| {
        for len in larger_shapes().into_iter().chain([(1 << 25) + 7]) {
            compare(cuda, &format!("{len} nasty floats"), &nasty(len));
            compare_maps(cuda, len);
        }
    });
}
