//! The grid barrier in two phases, with work in between, and over a subset of the blocks.

use cuda_std::launch::Kernel;
use gridsync::device::{Buffer, Device};
use gridsync::launch::{Blocks, cooperative};
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_lab_kernels::barrier::{phased_barrier_rounds, subset_barrier_rounds};
use gridsync_tests::devices::{emulator_under, schedules, with_cuda};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            it_holds_in_parts_under_every_schedule,
            it_holds_in_parts_on_a_full_gpu_on_cuda;
        on_each_backend:
            it_holds_in_two_phases,
            even_and_odd_blocks_have_separate_barriers;
    }
}

/// A grid that crosses the barrier.
#[derive(Clone, Copy, Debug)]
struct Grid {
    blocks: u32,
    threads: u32,
    rounds: u32,
    skew: u32,
}

fn zeroed(device: &Device, len: usize) -> Buffer<u32> {
    device.zeroed(len).expect("the words should fit")
}

impl Grid {
    fn all_threads(self) -> usize {
        (self.blocks * self.threads) as usize
    }

    /// Launches `K`, and returns how many stale words it counted in `errors`.
    fn stale<K: Kernel>(self, device: &Device, errors: &Buffer<u32>, args: K::Args) -> u32 {
        let blocks = Blocks::Exactly(self.blocks);
        let geometry =
            cooperative::<K>(device, blocks, self.threads, 0).expect("the grid should fit");
        // SAFETY: the callers pass the arguments that the two kernels need. They live until the
        // download has waited for the launch. All blocks are resident.
        unsafe { device.launch::<K>(&geometry, args) }
            .unwrap_or_else(|error| panic!("{self:?}: {error}"));
        errors.download().expect("the kernel should have run")[0]
    }

    /// No read is stale after the two phases, and every thread has done the work between them.
    fn holds_in_two_phases(self, device: &Device) {
        let barrier = zeroed(device, GridBarrier::words(self.blocks as usize));
        let cells = zeroed(device, self.all_threads());
        let (errors, work) = (zeroed(device, 1), zeroed(device, self.all_threads()));
        let args =
            (barrier.view(), cells.view(), errors.view(), work.view(), self.rounds, self.skew);
        let stale = self.stale::<phased_barrier_rounds>(device, &errors, args);
        assert_eq!(stale, 0, "{self:?}");
        let work = work.download().expect("the counts should be there");
        assert!(work.iter().all(|&times| times == 2 * self.rounds), "{self:?}: {work:?}");
    }

    /// No read is stale after the barrier of the even blocks or after that of the odd blocks.
    fn holds_in_two_subsets(self, device: &Device) {
        let words = GridBarrier::words(self.blocks.div_ceil(2) as usize);
        let (barrier, errors) = (zeroed(device, 2 * words), zeroed(device, 1));
        let cells = zeroed(device, self.all_threads());
        let args = (barrier.view(), cells.view(), errors.view(), self.rounds, self.skew);
        let stale = self.stale::<subset_barrier_rounds>(device, &errors, args);
        assert_eq!(stale, 0, "{self:?}");
    }
}

/// Small grids, with whole and partial warps, with and without skew.
fn grids() -> [Grid; 5] {
    [(2, 1, 0), (2, 33, 100), (3, 64, 0), (5, 32, 300), (8, 96, 50)]
        .map(|(blocks, threads, skew)| Grid { blocks, threads, rounds: 6, skew })
}

fn it_holds_in_two_phases(device: &Device) {
    for grid in grids() {
        grid.holds_in_two_phases(device);
        Grid { blocks: 1, ..grid }.holds_in_two_phases(device);
    }
}

fn even_and_odd_blocks_have_separate_barriers(device: &Device) {
    for grid in grids() {
        grid.holds_in_two_subsets(device);
    }
}

fn it_holds_in_parts_under_every_schedule() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        for grid in grids() {
            grid.holds_in_two_phases(&device);
            grid.holds_in_two_subsets(&device);
        }
    }
}

fn it_holds_in_parts_on_a_full_gpu_on_cuda() {
    with_cuda(|cuda| {
        for (each, threads) in [(1, 1024), (2, 256), (4, 64)] {
            let blocks = each * cuda.properties().multiprocessors;
            for skew in [0, 2000] {
                let grid = Grid { blocks, threads, rounds: 500, skew };
                grid.holds_in_two_phases(cuda);
                grid.holds_in_two_subsets(cuda);
            }
        }
    });
}
