//! Softmax of rows: every type × shape × backend, and every schedule.

use crate::matrix::{each_is_there_once, run};
use cuda_std::{bf16, f16};
use gridsync::device::Device;
use gridsync::primitives::softmax::{softmax_rows, softmax_rows_on_cpu};
use gridsync_tests::devices::{emulator, emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::{Budget, Trials};
use gridsync_verify::{Kind, Primitive, Size, kinds};

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test: every_type_is_in_the_matrix;
        on_each_backend:
            large_elements_do_not_overflow,
            infinite_elements_and_nan_have_the_results_of_the_formula;
    };
    kinds(Primitive::Softmax).for_each(|kind| add_row(&mut trials, kind));
    trials
}

/// Adds the tests of one type.
fn add_row(trials: &mut Trials, kind: &'static Kind) {
    let name = kind.name;
    // A tile is eight runs.
    let (warp, run_of) = (32 * kind.pack, kind.tile / 8);
    let shapes = [
        ("no_rows", 0, 5),
        ("rows_of_nothing", 5, 0),
        ("one_element", 1, 1),
        ("one_column", 259, 1),
        ("one_pack_less_one", 300, kind.pack - 1),
        ("one_pack", 300, kind.pack),
        ("three_packs", 70, 3 * kind.pack),
        ("odd_rows", 11, 77),
        ("a_load_of_a_warp", 9, warp),
        ("a_load_of_a_warp_and_one", 9, warp + 1),
        ("one_run_less_one", 3, run_of - 1),
        ("one_run", 3, run_of),
        ("one_run_and_one", 4, run_of + 1),
        ("one_tile", 2, kind.tile),
        ("one_tile_and_one", 3, kind.tile + 1),
    ];
    for (shape, rows, columns) in shapes {
        trials.test(format!("{name}::on_the_emulator::{shape}"), move || {
            run(&emulator(), kind, Size::Matrix(rows, columns), columns);
        });
    }
    let large = [
        ("many_rows", 100_003, 17),
        ("middle_rows", 1003, 4099),
        ("more_rows_than_blocks_along_y", 70_001, run_of + kind.pack),
        ("long_rows", 7, (1 << 20) + 1025),
    ];
    for (shape, rows, columns) in shapes.into_iter().chain(large) {
        trials.test(format!("{name}::on_cuda::{shape}"), move || {
            with_cuda(|cuda| run(cuda, kind, Size::Matrix(rows, columns), columns));
        });
    }
    let budget = Budget::thorough_if(name != "f32");
    trials.add(format!("{name}::under_every_schedule"), budget, move || {
        for schedule in schedules() {
            for columns in [9, run_of + 3, kind.tile + 5] {
                run(&emulator_under(schedule), kind, Size::Matrix(3, columns), columns);
            }
        }
    });
}

fn every_type_is_in_the_matrix() {
    each_is_there_once(Primitive::Softmax, &trials(), |name| {
        format!("softmax::{name}::on_the_emulator::one_tile")
    });
}

fn large_elements_do_not_overflow(device: &Device) {
    for columns in [2, 1500, 20_000] {
        let mut host = vec![-3e38f32; columns];
        host[columns - 1] = 3e38;
        let input = device.upload(&host).expect("the input should fit");
        let results = softmax_rows(&input, columns).and_then(|output| output.download());
        let results = results.expect("it should run");
        assert!(results[..columns - 1].iter().all(|&y| y == 0.0), "{columns} columns");
        assert_eq!(results[columns - 1], 1.0, "{columns} columns");
    }
}

fn infinite_elements_and_nan_have_the_results_of_the_formula(device: &Device) {
    let rows = [[1.0, f32::NAN], [f32::INFINITY, 0.0], [f32::NEG_INFINITY; 2]];
    let host: Vec<f16> = rows.as_flattened().iter().map(|&x| f16::from_f32(x)).collect();
    let input = device.upload(&host).expect("the input should fit");
    let results = softmax_rows(&input, 2).and_then(|output| output.download());
    let bits: Vec<u16> = results.expect("it should run").iter().map(|y| y.to_bits()).collect();
    assert_eq!(bits, [f16::NAN.to_bits(); 6]);

    let host = [f32::NEG_INFINITY, 2.0, 2.0].map(bf16::from_f32);
    let input = device.upload(&host).expect("the input should fit");
    let results = softmax_rows(&input, 3).and_then(|output| output.download());
    assert_eq!(results.expect("it should run"), [0.0, 0.5, 0.5].map(bf16::from_f32));
    assert_eq!(softmax_rows_on_cpu(&host, 3), [0.0, 0.5, 0.5].map(bf16::from_f32));
}
