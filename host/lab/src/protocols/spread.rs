//! The scan over several GPUs.

use super::{Protocol, right};
use gridsync::device::{Devices, EmulatorConfig, Geometry, Launch};
use gridsync::launch::words_with_heads;
use gridsync::primitives::Spread;
use gridsync::reference;
use gridsync_entries::spread::{Arguments, BulkArguments, bulk, sum_u32};
use gridsync_kernels::grid::scan::{
    BULK_SHARED, BULK_THREADS, Form, STATE, Shape, head_and_places,
};
use gridsync_kernels::op::Sum;
use gridsync_verify::{CaseError, Input, sample};

/// Two launches over two GPUs, in registers and by bulk copies.
pub(super) fn all() -> [Protocol; 2] {
    // As much shared memory as a block of Hopper has.
    let config = EmulatorConfig {
        gpus: 2,
        multiprocessors: 2,
        shared_per_block: 227 << 10,
        ..EmulatorConfig::default()
    };
    let named = |name: &str, scan: fn(&Devices) -> Result<(), CaseError>| Protocol {
        config,
        ..Protocol::new(format!("scan/{name}"), move |device| scan(&Devices::of(device)))
    };
    [named("spread", in_registers), named("spread-by-bulk-copies", by_bulk)]
}

/// Tiles of one row, in groups of two.
fn in_registers(devices: &Devices) -> Result<(), CaseError> {
    let shape = Shape { warps: 1, rows: 1, group: 2, tiles: 6 };
    let geometry = Geometry::new(2, shape.threads());
    twice(devices, shape, 5, |args| Launch::new::<sum_u32>(geometry, (args,)))
}

fn by_bulk(devices: &Devices) -> Result<(), CaseError> {
    let tile = Shape::for_bulk::<u32>(1).tile::<u32>();
    let geometry = Geometry::new(1, BULK_THREADS).with_dynamic_shared(BULK_SHARED);
    let shape = Shape::for_bulk::<u32>(2 * tile + 5);
    twice(devices, shape, 5, |args| Launch::new::<bulk::sum_u32>(geometry, (BulkArguments(args),)))
}

/// Scans two arrays, whose last tile has `rest` elements, in stripes of one tile, with the same
/// words and no wait in between.
fn twice(
    devices: &Devices,
    shape: Shape,
    rest: usize,
    launch: impl Fn(Arguments<u32, u32>) -> Launch,
) -> Result<(), CaseError> {
    let (op, tile) = (Sum::<u32>::new(), shape.tile::<u32>());
    let len = (shape.tiles as usize - 1) * tile + rest;
    let words = words_with_heads(devices, head_and_places(shape.places()))?;
    let states = devices.zeroed::<u32>(STATE)?;
    devices.synchronize()?;
    let mut done = Vec::new();
    for (stamp, form) in (1..).zip([Form::Inclusive, Form::Exclusive]) {
        let host = sample::<u32>(Input::Values, len, u64::from(stamp));
        let mut input = Spread::in_stripes(devices, len, tile)?;
        input.copy_from(&host)?;
        let output = Spread::<u32>::like(devices, &input)?;
        let of_gpu = |gpu: usize| {
            launch(Arguments {
                input: input.part(gpu).view(),
                output: output.part(gpu).view(),
                words: words[gpu].view(),
                state: states[gpu].view(),
                rows: shape.rows,
                group: shape.group,
                tiles: shape.tiles,
                stripe: 1,
                stamp,
                form: form as u32,
            })
        };
        let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
        devices.meet()?;
        // SAFETY: the words have heads and room for the shape, which is that of the array in
        // stripes of one tile. Each stamp is used once, and the launches meet. All buffers live
        // until the downloads have waited.
        unsafe { devices.launch(&launches) }?;
        done.push((input, output, reference::scan_in(op, shape, &host, form)));
    }
    for (_, output, expected) in done {
        let got = output.download()?;
        let at = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        right(at.map(|at| format!("{} at {at} of {len}, not {}", got[at], expected[at])))?;
    }
    Ok(())
}
