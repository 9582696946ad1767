//! Scans and selections.

use super::{Add, On, on, scan_workspace};
use crate::support::Zeros;
use gridsync_kernels::grid;
use gridsync_kernels::grid::scan::{self, Form, Mode, RowLanes, RowStrips, Shape, Stripes};
use gridsync_kernels::grid::segments::Scattered;
use gridsync_kernels::grid::select::{Outputs, Within};
use gridsync_kernels::op::{Segments, Sum};

const MODE: Mode = Mode { form: Form::Inclusive, goes_on: true, leaves: true, in_second: false };

#[test]
fn faults_in_scans_and_selections_name_the_caller() {
    let op = Add::new();
    let workspace = scan_workspace;
    let shape = Shape::with::<u32>(3000, 2, 1, 4);
    let rows = Segments::rows(70);
    let bulk = On { dynamic_shared: scan::BULK_SHARED as usize, ..on(1, scan::BULK_THREADS) };
    let tiles = Shape::for_bulk::<u32>(9000).tiles;
    // A head of zeros contains no GPU, so nothing is sent: an array of one tile needs nothing.
    let (one, stripes) = (Shape::with::<u32>(200, 2, 1, 4), Stripes { tiles: 1, stamp: 1 });
    let form = Form::Inclusive;
    let outputs = |zeros: Zeros| Outputs {
        kept: zeros.of(3, 3000),
        rest: zeros.of(4, 0),
        positions: zeros.of(4, 3000),
        count: zeros.of::<u64>(2, 100).part(40, 1),
    };
    let indices = |zeros: Zeros| Scattered { narrow: zeros.of(0, 1), wide: zeros.of(4, 0) };
    let (lanes, strips) = (RowLanes { log: 3 }, RowStrips { log: 1 });
    let few = Shape::with::<u32>(300, 2, 1, 4);
    let kept = Within::greater_than(7u32);
    walk! {
        on(shape.tiles, 64) => |zeros|
            grid::scan(op, zeros.of(0, 3000), zeros.of(3, 3000), workspace(zeros), 1, 4, MODE);
        on(shape.tiles, 64) => |zeros|
            scan::scan_segments::<Sum<u32>>(rows, zeros.of(0, 3000), zeros.of(3, 3000), workspace(zeros), 1, 4, MODE);
        on(1, 64) => |zeros|
            scan::scan_short_rows(op, zeros.of(0, 300), zeros.of(3, 300), 20, lanes, form);
        on(1, 64) => |zeros|
            scan::scan_middle_rows(op, zeros.of(0, 300), zeros.of(3, 300), 150, strips, form);
        on(few.tiles, 64) => |zeros|
            scan::scan_long_rows(op, zeros.of(0, 300), zeros.of(3, 300), workspace(zeros), 300, (1, 4), form);
        bulk => |zeros|
            scan::scan_by_bulk(op, zeros.of(0, 9000), zeros.of(3, 9000), workspace(zeros), tiles, MODE);
        on(1, 64) => |zeros|
            scan::scan_spread(op, zeros.of(0, 200), zeros.of(3, 200), workspace(zeros), one, stripes, form);
        bulk => |zeros|
            scan::scan_spread_by_bulk(op, zeros.of(0, 200), zeros.of(3, 200), workspace(zeros), stripes, form);
        on(few.tiles, 64) => |zeros|
            grid::select(kept, zeros.of(0, 300), outputs(zeros), workspace(zeros), 1, 4);
        on(1, 256) => |zeros|
            grid::reduce_segments(op, zeros.of(0, 300), zeros.of(4, 20), zeros.of(3, 20), workspace(zeros));
        on(1, 256) => |zeros|
            grid::segments::mark_runs::<u32>(zeros.of(0, 300), zeros.of(3, 10), false);
        on(1, 256) => |zeros|
            grid::segments::mark_starts(zeros.of(4, 20), zeros.of(3, 10));
        on(1, 256) => |zeros|
            grid::segments::scatter(op, zeros.of(3, 1), indices(zeros), zeros.of(1, 40));
        on(few.tiles, 64) => |zeros|
            grid::select::unique::<u32>(zeros.of(0, 300), outputs(zeros), workspace(zeros), 1, 4);
    }
}
