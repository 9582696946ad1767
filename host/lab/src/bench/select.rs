//! The suites `select`, `partition` and `unique`: some elements of an array, compacted, compared
//! with CUB.

mod check;

use super::throughput::{Bench, Load, Values, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use check::check;
use gridsync::device::DeviceError;
use gridsync::primitives::select::{FirstOfRun, Selector, Within};
use gridsync::primitives::{Room, Wanted};
use gridsync_entries::select::Selectable;

/// Cases of operations: percentage of kept elements => percentage of written elements. Each is
/// compared with the peer's mode that keeps the same.
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

/// Lengths that are measured unless others are requested.
const SIZES: &[usize] = &[1 << 16, 1 << 20, 1 << 24, 1 << 28];

/// The elements below a bound. The input is uniform between 0 and 1.
pub const SELECT: Throughput = Throughput {
    name: "select",
    cases: keeping! { "select" by select: 0 => 0, 1 => 1, 50 => 50, 99 => 99, 100 => 100; },
    sizes: SIZES,
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "cub::DeviceSelect::If",
        source: include_str!("../../peers/cub_select.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The elements below a bound, and all others. CUB writes the others to the end, in reversed order.
/// We write them to another array.
pub const PARTITION: Throughput = Throughput {
    name: "partition",
    cases: keeping! { "partition" by partition: 0 => 100, 1 => 100, 50 => 100, 99 => 100, 100 => 100; },
    sizes: SIZES,
    ceiling: Ceiling::Copy,
    peer: Some(PeerProgram {
        name: "cub::DevicePartition::If",
        source: include_str!("../../peers/cub_partition.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The first of each run of equal elements, without and with the lengths of the runs.
///
/// We write the position of each run, in 8 bytes; the lengths are the differences. CUB's
/// `DeviceRunLengthEncode::Encode` writes the lengths, in 4 bytes.
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
        source: include_str!("../../peers/cub_unique.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The result of a measurement.
type Measured = Result<Option<Measurement>, MeasureError>;

/// µs of one selection that keeps `percent` percent.
fn select(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    let by = below(percent);
    measure(bench, load, Values::Uniform, by, Wanted::default())
}

/// µs of one partition that keeps `percent` percent.
fn partition(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    measure(bench, load, Values::Uniform, below(percent), Wanted::REST)
}

/// µs of selecting the first of each run, where `percent` percent of the elements start a run.
fn unique(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    let by = FirstOfRun::<f32>::new();
    measure(bench, load, Values::Runs { percent }, by, Wanted::default())
}

/// µs of selecting these elements and the positions where the runs start.
fn run_lengths(bench: &mut Bench<'_>, load: &Load, percent: u32) -> Measured {
    let by = FirstOfRun::<f32>::new();
    measure(bench, load, Values::Runs { percent }, by, Wanted::POSITIONS)
}

/// Keeps the elements below `percent` hundredths: `percent` percent of uniform elements.
fn below(percent: u32) -> Within<f32> {
    Within::less_than(percent as f32 / 100.0)
}

/// µs of one selection by `by` of `n` elements in device memory. It writes the kept elements, and
/// the other wanted outputs, to device memory.
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
    let mut selector = Selector::new(by, bench.device, n)?;
    let select = |i: usize| selector.launch_part(&inputs[i], 0..n, outputs[i].to());
    // SAFETY: a selection only reads its input, writes its outputs and leaves its workspace ready
    // for the next one. All of them outlive the measurement.
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
    fn a_selection_writes_what_it_keeps_and_a_partition_writes_everything() {
        for (suite, written) in [
            (SELECT, &[0, 1, 50, 99, 100][..]),
            (PARTITION, &[100; 5]),
            // A run length has 12 bytes.
            (UNIQUE, &[0, 1, 50, 99, 100, 3, 150, 300]),
        ] {
            let moved = suite.cases.iter().map(|case| case.moved(100, suite.ceiling));
            let moved: Vec<_> = moved.collect();
            let expected: Vec<_> = written.iter().map(|written| 100 + written).collect();
            assert_eq!(moved, expected, "{}", suite.name);
        }
    }

    #[test]
    fn every_operation_is_measured_and_right() {
        let half = |suite: &Throughput, op| {
            let of_op =
                suite.cases.iter().find(|case| (case.op, case.variant) == (op, "kept 50 %"));
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
