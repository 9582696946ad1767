//! Kendall's rank correlation: every type × size × ties × method × backend, and every schedule.

use crate::matrix::{self, each_is_there_once};
use gridsync::device::Device;
use gridsync::primitives::kendall::{Correlator, KendallError, Method, kendall, kendall_on_cpu};
use gridsync_kernels::grid::kendall::PAIRS_TILE;
use gridsync_kernels::grid::merge_sort::TILE;
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Kind, Primitive, Size, Ties, kinds};

const BOTH: [Method; 2] = [Method::Pairs, Method::Sort];
/// Elements per tile in the method that compares all pairs.
const PAIRS: usize = PAIRS_TILE as usize;

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            counts_beyond_32_bits_are_exact,
            every_type_of_the_library_is_in_the_matrix;
        on_each_backend:
            the_example_of_scipys_documentation_has_its_value,
            one_workspace_serves_arrays_of_every_length,
            the_first_nan_of_x_is_named_or_else_of_y,
            lengths_that_differ_are_refused;
        thorough:
            runs_of_two_tiles_are_merged_right_under_every_schedule;
    };
    for kind in kinds(Primitive::Kendall) {
        add_row(&mut trials, kind);
    }
    trials
}

/// Adds the tests of one type.
fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let (ty, sort) = (kind.element, &BOTH[1..]);
    let lengths = [
        ("len_0", 0, &BOTH[..]),
        ("len_1", 1, &BOTH),
        ("len_2", 2, &BOTH),
        ("len_31", 31, &BOTH),
        ("len_32", 32, &BOTH),
        ("len_33", 33, &BOTH),
        ("one_tile_of_pairs_less_one", PAIRS - 1, &BOTH),
        ("one_tile_of_pairs", PAIRS, &BOTH),
        ("two_tiles_of_pairs_and_one", 2 * PAIRS + 1, &BOTH),
        ("one_tile_less_one", TILE - 1, sort),
        ("one_tile", TILE, sort),
        ("one_tile_and_one", TILE + 1, sort),
        ("two_tiles_and_one", 2 * TILE + 1, sort),
        ("three_levels", 5 * TILE + 3, sort),
    ];
    for (name, len, methods) in lengths {
        // Types of the same width share nearly all code.
        let is_tried = ty == "f32" || matches!(name, "len_33" | "one_tile_and_one");
        let budget = Budget::thorough_if(!is_tried || len > TILE + 1);
        trials.add(format!("{ty}::on_the_emulator::{name}"), budget, move || {
            run(&emulator(), kind, some(len), methods, len);
        });
        trials.test(format!("{ty}::on_cuda::{name}"), move || {
            with_cuda(|cuda| run(cuda, kind, &Ties::ALL, &BOTH, len));
        });
    }
    trials.test(format!("{ty}::on_cuda::len_1048577"), move || {
        with_cuda(|cuda| run(cuda, kind, &Ties::ALL, sort, (1 << 20) + 1));
    });
    let budget = Budget::thorough_if(ty != "f32");
    trials.add(format!("{ty}::under_every_schedule"), budget, move || {
        for schedule in schedules() {
            let device = emulator_under(schedule);
            case(&device, kind, Ties::Many, &BOTH, 40);
            case(&device, kind, Ties::Blocks, sort, 77);
        }
    });
}

/// Runs the library's case, with a different seed for each length.
fn case(device: &Device, kind: &Kind, ties: Ties, methods: &'static [Method], len: usize) {
    matrix::run(device, kind, Size::Pairs(len, ties, methods), len);
}

/// Runs the case with each of these kinds of ties.
fn run(device: &Device, kind: &Kind, ties: &[Ties], methods: &'static [Method], len: usize) {
    for &ties in ties {
        case(device, kind, ties, methods, len);
    }
}

/// Every kind of ties; fewer kinds for arrays that are slow in the emulator.
fn some(len: usize) -> &'static [Ties] {
    match len {
        ..1000 => &Ties::ALL,
        1000..TILE => &[Ties::Few, Ties::Constant],
        _ => &[Ties::Blocks],
    }
}

fn the_example_of_scipys_documentation_has_its_value(device: &Device) {
    let x = device.upload(&[12, 2, 1, 12, 2]).expect("x should fit");
    let y = device.upload(&[1, 4, 7, 1, 0]).expect("y should fit");
    for method in BOTH {
        let correlator = Correlator::new(device, 5).expect("a correlator should fit");
        let mut correlator = correlator.with_method(method);
        correlator.launch(&x, &y).expect("it should launch");
        let tau = correlator.result().expect("it should run").tau;
        assert!((tau + 0.471_404_520_791_031_73).abs() <= 2.0 * f64::EPSILON, "{method:?}: {tau}");
    }
}

fn one_workspace_serves_arrays_of_every_length(device: &Device) {
    let mut correlator = Correlator::new(device, 100).expect("a correlator should fit");
    for (seed, len) in (0..).zip([3000, 0, 1, 5000, 33, TILE, 2, 700]) {
        let (x, y) = Ties::Many.sample::<f64>(len, seed);
        let expected = kendall_on_cpu(&x, &y).expect("it has no NaN");
        let x = device.upload(&x).expect("x should fit");
        let y = device.upload(&y).expect("y should fit");
        correlator.launch(&x, &y).expect("it should launch");
        let got = correlator.result().expect("it should run");
        assert!(got.same(&expected), "{len}: {got:?}, not {expected:?}");
    }
}

fn the_first_nan_of_x_is_named_or_else_of_y(device: &Device) {
    for method in BOTH {
        for (nans_x, nans_y, array, index) in [
            (&[7, 300][..], &[2][..], 'x', 7),
            (&[], &[600, 299, 300], 'y', 299),
            (&[599], &[], 'x', 599),
        ] {
            let (mut x, mut y) = Ties::Few.sample::<f32>(601, 1);
            nans_x.iter().for_each(|&at: &usize| x[at] = f32::NAN);
            nans_y.iter().for_each(|&at: &usize| y[at] = -f32::NAN);
            let expected = Err(KendallError::NotANumber { array, index });
            assert_eq!(kendall_on_cpu(&x, &y), expected, "on the CPU");
            let x = device.upload(&x).expect("x should fit");
            let y = device.upload(&y).expect("y should fit");
            let correlator = Correlator::new(device, 601).expect("a correlator should fit");
            let mut correlator = correlator.with_method(method);
            correlator.launch(&x, &y).expect("it should launch");
            assert_eq!(correlator.result(), expected, "{method:?}");
        }
    }
}

fn lengths_that_differ_are_refused(device: &Device) {
    let x = device.upload(&[1.0f32; 5]).expect("x should fit");
    let y = device.upload(&[1.0f32; 4]).expect("y should fit");
    assert_eq!(kendall(&x, &y), Err(KendallError::Lengths { x: 5, y: 4 }));
}

fn runs_of_two_tiles_are_merged_right_under_every_schedule() {
    let u32 = kinds(Primitive::Kendall).find(|kind| kind.element == "u32");
    let u32 = u32.expect("it is in the table");
    for schedule in schedules() {
        let device = emulator_under(schedule);
        case(&device, u32, Ties::Blocks, &[Method::Sort], TILE + 33);
    }
}

fn counts_beyond_32_bits_are_exact() {
    with_cuda(|cuda| {
        let len = (1u64 << 24) + 5;
        let reversed: Vec<u32> = (0..len as u32).rev().collect();
        let sorted: Vec<u32> = (0..len as u32).collect();
        let x = cuda.upload(&sorted).expect("x should fit");
        let y = cuda.upload(&reversed).expect("y should fit");
        let got = kendall(&x, &y).expect("it should run");
        assert_eq!((got.discordant, got.concordant), (len * (len - 1) / 2, 0));
        assert!((got.tau + 1.0).abs() <= f64::EPSILON, "{got:?}");
    });
}

fn every_type_of_the_library_is_in_the_matrix() {
    each_is_there_once(Primitive::Kendall, &trials(), |name| {
        format!("kendall::{name}::under_every_schedule")
    });
}
