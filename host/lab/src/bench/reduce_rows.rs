//! The suite `reduce-rows`: each row of a matrix to one value, compared with CUB's
//! `DeviceSegmentedReduce`.

use super::throughput::{Bench, Element, Load, time_cold};
use super::{Case, Ceiling, MeasureError, Measurement, PeerProgram, Throughput};
use gridsync::primitives::RowReducer;
use gridsync_entries::reduce_rows::RowReducible;
use gridsync_kernels::op::Sum;

/// Sums of rows of `$columns`, compared with both forms of the peer.
macro_rules! rows_of {
    ($($columns:literal),*) => {
        &[$(of::<Sum<f32>, $columns>(
            concat!("rows of ", $columns),
            "sum",
            &[concat!("fixed_", $columns), concat!("offsets_", $columns)],
        )),*]
    };
}

/// The suite: rows whose length is a multiple of 16 bytes, and rows that are one element longer.
///
/// Sizes are those of the whole matrix, rounded up to whole rows. A matrix shorter than a row is a
/// single row.
pub const REDUCE_ROWS: Throughput = Throughput {
    name: "reduce-rows",
    cases: rows_of![16, 17, 256, 257, 4096, 4097, 65_536, 65_537, 1_048_576, 1_048_577],
    sizes: &[1 << 24],
    ceiling: Ceiling::Read,
    peer: Some(PeerProgram {
        name: "cub::DeviceSegmentedReduce",
        source: include_str!("../../peers/cub_reduce_rows.cu"),
        flags: &[],
    }),
    on_cpu: None,
};

/// The reduction by `O` of rows of `COLUMNS`, compared with these modes of the peer.
const fn of<O: RowReducible + Default, const COLUMNS: usize>(
    variant: &'static str,
    op: &'static str,
    peer_modes: &'static [&'static str],
) -> Case
where
    O::Element: Element,
{
    Case::new::<O::Element>(variant, op, peer_modes, measure::<O, COLUMNS>)
}

/// µs of one reduction of the rows that hold `n` elements in device memory to their results there.
fn measure<O: RowReducible + Default, const COLUMNS: usize>(
    bench: &mut Bench<'_>,
    load: &Load,
) -> Result<Option<Measurement>, MeasureError>
where
    O::Element: Element,
{
    let Load { n, plan } = load;
    let columns = COLUMNS.min(*n);
    let rows = n.div_ceil(columns);
    let len = rows * columns;
    let inputs = bench.stock.inputs::<O::Element>(bench.device, len, plan.calls)?;
    let mut reducer = RowReducer::new(O::default(), bench.device, rows, columns)?;
    let reduce = |i: usize| reducer.launch(&inputs[i]);
    // SAFETY: a reduction only reads its input and leaves its workspace ready for the next one.
    // Inputs and reducer outlive the measurement.
    let measured = unsafe { time_cold(bench.device, plan, bench.sampling, reduce) }?;
    Ok(Some(measured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_of_rows_is_measured_in_a_row_and_alone() {
        let cases = &REDUCE_ROWS.cases[..2];
        let records = REDUCE_ROWS.in_emulator(cases, 50);
        let variants: Vec<_> = records.iter().map(|record| &*record.variant).collect();
        let expected = ["rows of 16", "rows of 17", "rows of 16", "rows of 17"];
        assert_eq!(variants, expected);
        assert_eq!(cases[1].peer_modes, ["fixed_17", "offsets_17"]);
    }
}
