//! Scans in which blocks are delayed at random points.

use gridsync::device::{Device, Geometry};
use gridsync::launch::resident_blocks;
use gridsync::primitives::scan::{Form, scan_on_cpu};
use gridsync_kernels::grid::scan::{BULK_SHARED, BULK_THREADS, STATE, Shape};
use gridsync_kernels::op::Sum;
use gridsync_lab_kernels::scan_stress::{
    DelayedSum, scan_bulk_delayed_sum_u32, scan_delayed_sum_u32,
};
use gridsync_tests::devices::{emulator, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{Input, sample};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            delayed_blocks_change_nothing_on_the_emulator,
            ten_thousand_scans_are_right_with_delayed_blocks_on_cuda,
            ten_thousand_scans_by_bulk_copies_are_right_with_delayed_blocks_on_cuda;
    }
}

/// Scans of each design.
const SCANS: u32 = 10_000;

/// Elements of the array; the last tile is not full.
const LEN: usize = 300 * 1024 + 1;

/// Scans repeatedly in one workspace, with new delays each time, and checks each result. `launch`
/// launches one scan with the given delays and buffers.
fn hold(device: &Device, scans: u32, launch: impl Fn(DelayedSum, &Workplace)) {
    let host = sample::<u32>(Input::Values, LEN, 1);
    let expected = scan_on_cpu(Sum::<u32>::new(), &host, Form::Inclusive);
    let words = Shape::most_places::<u32, u32>(LEN);
    let place = Workplace {
        input: device.upload(&host).expect("the input should fit"),
        output: device.zeroed(LEN).expect("the output should fit"),
        words: device.zeroed(words).expect("the words should fit"),
        state: device.zeroed(STATE).expect("the state should fit"),
    };
    for seed in 0..scans {
        // From few long delays to many short ones.
        let delays = DelayedSum {
            seed: seed.wrapping_mul(0x9E37_79B1),
            one_in: [100_000, 10_000, 3000][seed as usize % 3],
            longest: [100_000, 20_000, 1000][seed as usize % 3],
        };
        launch(delays, &place);
        let got = place.output.download().expect("the kernel should have run");
        let wrong = got.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "the first wrong element, {delays:?}");
    }
}

/// The buffers of the scans.
struct Workplace {
    input: gridsync::device::Buffer<u32>,
    output: gridsync::device::Buffer<u32>,
    words: gridsync::device::Buffer<u64>,
    state: gridsync::device::Buffer<u32>,
}

fn in_registers(device: &Device, scans: u32) {
    let shape = Shape::of::<u32, u32>(LEN);
    let geometry = Geometry::new(shape.tiles, shape.threads());
    hold(device, scans, |delays, place| {
        let args = (
            place.input.view(),
            place.output.view(),
            place.words.view(),
            place.state.view(),
            shape.rows,
            shape.group,
            Form::Inclusive as u32,
            delays,
        );
        // SAFETY: the shape fits the input and the grid fits the shape. The workspace started at 0,
        // and scans run one at a time. All buffers outlive them.
        unsafe { device.launch::<scan_delayed_sum_u32>(&geometry, args) }
            .expect("it should launch");
    });
}

fn by_bulk(device: &Device, scans: u32) {
    let shape = Shape::for_bulk::<u32>(LEN);
    let resident = resident_blocks::<scan_bulk_delayed_sum_u32>(device, BULK_THREADS, BULK_SHARED);
    let most = resident.expect("the device says what fits").min(shape.tiles);
    hold(device, scans, |delays, place| {
        let blocks = delays.seed % most + 1;
        let geometry = Geometry::new(blocks, BULK_THREADS).with_dynamic_shared(BULK_SHARED);
        let args = (
            place.input.view(),
            place.output.view(),
            place.words.view(),
            place.state.view(),
            shape.tiles,
            Form::Inclusive as u32,
            delays,
        );
        // SAFETY: the shape fits the input and the grid fits the shape. The workspace started at 0,
        // and scans run one at a time. All buffers outlive them, and start at multiples of 256
        // bytes.
        unsafe { device.launch::<scan_bulk_delayed_sum_u32>(&geometry, args) }
            .expect("it should launch");
    });
}

fn delayed_blocks_change_nothing_on_the_emulator() {
    // Delays have no effect in the emulator, where schedules delay blocks. This tests the kernels.
    in_registers(&emulator(), 1);
    by_bulk(&super::bulk::emulator(2, simt::Schedule::new(simt::Policy::Coarse), false), 1);
}

fn ten_thousand_scans_are_right_with_delayed_blocks_on_cuda() {
    with_cuda(|cuda| in_registers(cuda, SCANS));
}

fn ten_thousand_scans_by_bulk_copies_are_right_with_delayed_blocks_on_cuda() {
    super::bulk::with_hopper(|cuda| by_bulk(cuda, SCANS));
}
