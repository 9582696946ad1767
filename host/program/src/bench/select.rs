//! The suites `select`, `partition` and `unique`: some elements of an array, side by side, beside CUB.

mod check;

use super::throughput::{Bench, Load, Values, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use check::check;
use gridsync::device::DeviceError;
use gridsync::primitives::select::{FirstOfRun, Selector, Within};
use gridsync::primitives::{Room, Wanted};
use gridsync_entries::select::Selectable;

/// Cases of operations, of which so many percent of the elements are kept and so many written, each
/// beside the mode of the peer in which it keeps the same.
macro_rules! keeping {
    ($($op:literal by $measure:ident: $($percent:literal => $written:literal),*;)*) => {
        &[$($(Case::new::<f32>(
            concat!("kept ", $percent, " %"),
            $op,
            &[concat!("kept_", $percent)],
            |bench, load| $measure(bench, load, $percent),
        )
        .writing($written)),*),*]
    };
}

/// Lengths that are measured.
const SIZES: &[usize] = &[1 << 16, 1 << 20, 1 << 24, 1 << 28];

/// Elements below a bound, of such that are uniform between 0 and 1.
pub const SELECT: Throughput = Throughput {
    name: "select",
    cases: keeping! { "select" by select: 0 => 0, 1 => 1, 50 => 50, 99 => 99, 100 => 100; },
    sizes: SIZES,
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "cub::DeviceSelect::If",
        source: include_str!("../../../../bench/peers/cub_select.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// Those, and all others too. CUB writes the others to the end, in reversed order; we write them to
/// an array of their own.
pub const PARTITION: Throughput = Throughput {
    name: "partition",
    cases: keeping! { "partition" by partition: 0 => 100, 1 => 100, 50 => 100, 99 => 100, 100 => 100; },
    sizes: SIZES,
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "cub::DevicePartition::If",
        source: include_str!("../../../../bench/peers/cub_partition.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The first of each run of equal elements; and with it how long the runs are.
///
/// Of the lengths of runs we write where each begins, in 8 bytes, of which they are the differences;
/// CUB's `DeviceRunLengthEncode::Encode` writes them, in 4 bytes.
pub const UNIQUE: Throughput = Throughput {
    name: "unique",
    cases: keeping! {
        "unique" by unique: 0 => 0, 1 => 1, 50 => 50, 99 => 99, 100 => 100;
        "run-lengths" by run_lengths: 1 => 3, 50 => 150, 100 => 300;
    },
    sizes: SIZES,
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "cub::DeviceSelect::Unique or cub::DeviceRunLengthEncode",
        source: include_str!("../../../../bench/peers/cub_unique.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// What a measurement gives.
type Measured = Result<Option<Measurement>, MeasureError>;

/// µs of one selection of so many percent.
fn select(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    let by = below(percent);
    measure(bench, load, Values::Uniform, by, Wanted::default())
}

/// µs of one partition of which so many percent are kept.
fn partition(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    measure(bench, load, Values::Uniform, below(percent), Wanted::REST)
}

/// µs of the first elements of runs, of which there are so many percent as elements.
fn unique(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    let by = FirstOfRun::<f32>::new();
    measure(bench, load, Values::Runs { percent }, by, Wanted::default())
}

/// µs of those and of where the runs begin.
fn run_lengths(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    let by = FirstOfRun::<f32>::new();
    measure(bench, load, Values::Runs { percent }, by, Wanted::POSITIONS)
}

/// Keeps the elements below so many hundredths: of uniform ones so many percent.
fn below(percent: u32) -> Within<f32> {
    Within::less_than(percent as f32 / 100.0)
}

/// µs of one selection by `by`, from `n` elements in device memory to those that are kept there, and to
/// what else is wanted.
fn measure<S: Selectable<Element = f32>>(
    bench: &mut Bench<'_>,
    load: &Load,
    values: Values,
    by: S,
    wanted: Wanted,
) -> Measured {
    let Load { n, plan } = *load;
    let inputs = bench.stock.of_values(bench.device, n, plan.calls, values)?;
    let outputs = (0..plan.calls).map(|_| Room::new(bench.device, n, wanted));
    let mut outputs: Vec<Room<f32>> = outputs.collect::<Result<_, DeviceError>>()?;
    let mut selector = Selector::new(bench.device, n)?;
    let select = |i: usize| selector.launch_part(by, &inputs[i], 0..n, outputs[i].to());
    // SAFETY: a selection only reads its input, writes its outputs and leaves its workspace for the
    // next one; all of them outlive the measurement.
    let measured = unsafe { time_cold(bench.device, &plan, bench.sampling, select) }?;
    if load.is_checked() {
        check(&outputs[0], by, &inputs[0])?;
    }
    Ok(Some(measured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_written_and_what_is_parted_is_all_written() {
        for (suite, written) in [
            (SELECT, &[0, 1, 50, 99, 100][..]),
            (PARTITION, &[100; 5]),
            // Of the lengths of runs 12 bytes each.
            (UNIQUE, &[0, 1, 50, 99, 100, 3, 150, 300]),
        ] {
            let moved = suite
                .cases
                .iter()
                .map(|case| case.moved(100, suite.ceiling));
            let moved: Vec<_> = moved.collect();
            let expected: Vec<_> = written.iter().map(|written| 100 + written).collect();
            assert_eq!(moved, expected, "{}", suite.name);
        }
    }

    #[test]
    fn every_operation_is_measured_and_found_right() {
        let half = |suite: &Throughput, op| {
            let of_op = suite
                .cases
                .iter()
                .find(|case| (case.op, case.variant) == (op, "kept 50 %"));
            let case = of_op.expect("there is such a case");
            suite.in_emulator(std::slice::from_ref(case), 100).len()
        };
        for (suite, op) in [
            (SELECT, "select"),
            (PARTITION, "partition"),
            (UNIQUE, "unique"),
            (UNIQUE, "run-lengths"),
        ] {
            assert_eq!(half(&suite, op), 2, "{op}, in a row and alone");
        }
    }
}
