//! The scan by bulk copies.

use super::{Protocol, right};
use gridsync::device::{Device, EmulatorConfig, Geometry};
use gridsync::reference;
use gridsync_entries::scan::{BulkArguments, BulkCommon};
use gridsync_entries::{Entry, KernelOf};
use gridsync_kernels::grid::scan::{BULK_SHARED, BULK_THREADS, Form, STATE, Shape};
use gridsync_kernels::op::Sum;
use gridsync_verify::{CaseError, Input, sample};

/// A scan in one block that reuses its stages, and one in two blocks.
pub(super) fn scan() -> Protocol {
    let tile = Shape::for_bulk::<u32>(1).tile::<u32>();
    let run = move |device: &Device| {
        in_blocks(device, 8 * tile + 5, 1)?;
        in_blocks(device, 3 * tile, 2)
    };
    // As much shared memory as a block on Hopper has.
    let config = EmulatorConfig {
        multiprocessors: 2,
        shared_per_block: 227 << 10,
        ..EmulatorConfig::default()
    };
    Protocol { config, ..Protocol::new("scan/by-bulk-copies", run) }
}

fn in_blocks(device: &Device, len: usize, blocks: u32) -> Result<(), CaseError> {
    let (op, shape) = (Sum::<u32>::new(), Shape::for_bulk::<u32>(len));
    let host = sample::<u32>(Input::Values, len, 1);
    let (input, output) = (device.upload(&host)?, device.alloc::<u32>(len)?);
    let words = device.zeroed::<u64>(shape.places())?;
    let state = device.zeroed::<u32>(STATE)?;
    let args = op.arguments(BulkArguments {
        input: input.view(),
        output: output.view(),
        words: words.view(),
        state: state.view(),
        tiles: shape.tiles,
        mode: Form::Inclusive as u32,
    });
    let geometry = Geometry::new(blocks, BULK_THREADS).with_dynamic_shared(BULK_SHARED);
    // SAFETY: the tiles are those of the input, buffers are aligned to 256 bytes, and the workspace
    // is new. All live until the download has waited for the launch.
    unsafe { device.launch::<KernelOf<Sum<u32>, BulkCommon<Sum<u32>>>>(&geometry, args)? };
    let got = output.download()?;
    let expected = reference::scan_in(op, shape, &host, Form::Inclusive);
    let at = got.iter().zip(&expected).position(|(got, expected)| got != expected);
    right(at.map(|at| format!("{} at {at} of {len}, not {}", got[at], expected[at])))
}
