//! Dot products: every type × size × backend, and every schedule.

use crate::matrix::{
    add_lengths, add_schedules, around, each_is_named_after_its_kernels, each_is_there_once,
    exactly,
};
use gridsync::device::Device;
use gridsync::primitives::{dot, dot_on_cpu};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, Primitive, Size, kinds, sample};

pub(crate) fn trials() -> Trials {
    let mut trials = trials! {
        test:
            every_kind_is_in_the_matrix;
        on_each_backend:
            a_nan_or_opposite_infinities_make_a_dot_product_nan,
            an_array_and_itself_have_its_sum_of_squares;
    };
    for kind in kinds(Primitive::Dot) {
        let mut lengths = exactly(&[0, 1, 31, 32, 33, 12_345]);
        lengths.extend(around("one_tile", kind.tile));
        let two_blocks = kind.tile + 1;
        add_lengths(&mut trials, kind, &lengths, two_blocks);
        let case = (Size::Array(two_blocks), two_blocks);
        add_schedules(&mut trials, &format!("{}::on_two_blocks", kind.name), kind, case);
    }
    trials
}

fn every_kind_is_in_the_matrix() {
    each_is_named_after_its_kernels(Primitive::Dot, &["reduce_"]);
    each_is_there_once(Primitive::Dot, &trials(), |name| {
        format!("dot::{name}::on_the_emulator::len_33")
    });
}

fn a_nan_or_opposite_infinities_make_a_dot_product_nan(device: &Device) {
    for at in [0, 33, 4999] {
        for (x, y) in [(f32::NAN, 0.0), (f32::INFINITY, 0.0), (f32::INFINITY, f32::NEG_INFINITY)] {
            let (mut of_x, mut of_y) = (vec![1.0; 5000], vec![2.0; 5000]);
            (of_x[at], of_y[at]) = (x, y);
            let on = |host: &[f32]| device.upload(host).expect("the input should fit");
            let found = dot(&on(&of_x), &on(&of_y)).expect("it should run");
            assert_eq!(found.to_bits(), dot_on_cpu(&of_x, &of_y).to_bits(), "{x}·{y} at {at}");
            let expected = f64::from(x) * f64::from(y);
            assert!(found == expected || found.is_nan() && expected.is_nan(), "{found}");
        }
    }
}

fn an_array_and_itself_have_its_sum_of_squares(device: &Device) {
    use gridsync::primitives::reduce;
    use gridsync_kernels::op::SumOfSquares;

    let host = sample::<f32>(Input::Values, 12_345, 1);
    let input = device.upload(&host).expect("the input should fit");
    let squares = reduce(SumOfSquares::<f32>::new(), &input).expect("it should run");
    assert_eq!(dot(&input, &input).expect("it should run").to_bits(), squares.to_bits());
}
