//! The bounded barrier: its wait ends in every block, and it reports the missing blocks.

use gridsync::device::Device;
use gridsync::launch::{Blocks, cooperative};
use gridsync_kernels::grid::barrier::{BoundedBarrier, Missing};
use gridsync_lab_kernels::barrier::bounded_barrier_rounds;
use gridsync_tests::devices::{emulator_under, schedules};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use simt::Schedule;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            every_schedule_ends_and_names_the_missing_blocks,
            a_limit_that_is_too_short_ends_every_block_within_a_round_of_the_others;
        on_each_backend:
            it_ends_and_names_the_missing_blocks,
            no_block_is_reported_missing_if_all_arrived,
            it_holds_past_the_wrap_of_its_counter,
            the_report_counts_the_blocks_that_it_cannot_list;
    }
}

/// Longer than any crossing takes, in ns.
const LONG: u64 = 50_000_000;

/// A grid with missing blocks.
#[derive(Clone, Copy, Debug)]
struct Grid {
    blocks: u32,
    threads: u32,
    rounds: u32,
    /// Limit of a wait, in ns.
    limit: u64,
    /// The first missing block. The field below is the number of rounds before it is missing.
    absent: u32,
    leave_after: u32,
}

impl Grid {
    /// Returns the number of rounds that each block crossed, and the missing blocks.
    fn cross(self, device: &Device) -> (Vec<u32>, Option<Missing>) {
        let blocks = self.blocks;
        let geometry =
            cooperative::<bounded_barrier_rounds>(device, Blocks::Exactly(blocks), self.threads, 0)
                .expect("the grid should fit");
        let words = device
            .zeroed::<u32>(BoundedBarrier::words(blocks as usize))
            .expect("the words should fit");
        let crossed = device.zeroed::<u32>(blocks as usize).expect("the counts should fit");
        let args =
            (words.view(), crossed.view(), self.rounds, self.limit, self.absent, self.leave_after);
        // SAFETY: the words of the barrier are 0, and each block has an element. All live until the
        // downloads have waited for the launch. All blocks are resident.
        unsafe { device.launch::<bounded_barrier_rounds>(&geometry, args) }
            .unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let crossed = crossed.download().expect("the kernel should have run");
        let words = words.download().expect("the words should be there");
        (crossed, BoundedBarrier::missing(&words, blocks))
    }

    /// The grid ends, and reports the missing blocks and the round.
    fn names_the_absent(self, device: &Device) {
        let (crossed, missing) = self.cross(device);
        let missing = missing.unwrap_or_else(|| panic!("{self:?}: it should have been given up"));
        assert_eq!(crossed, vec![self.leave_after; self.blocks as usize], "{self:?}");
        assert_eq!(missing.round, self.leave_after + 1, "{self:?}");
        assert_eq!(missing.blocks, self.blocks, "{self:?}");
        assert!(missing.given_up_by < self.absent, "{self:?}: {missing}");
        let absent: Vec<u32> = (self.absent..self.blocks).collect();
        assert_eq!(missing.ranks, absent, "{self:?}");
    }

    /// All blocks cross all rounds, and none is reported as missing.
    fn is_complete(self, device: &Device) {
        let (crossed, missing) = self.cross(device);
        assert_eq!(crossed, vec![self.rounds; self.blocks as usize], "{self:?}");
        assert_eq!(missing, None, "{self:?}");
    }
}

/// Grids that some blocks leave: at once or later, one block or nearly all.
fn grids() -> [Grid; 5] {
    [(2, 33, 1, 0), (3, 64, 2, 3), (7, 1, 1, 5), (20, 32, 19, 1), (40, 32, 3, 2)].map(
        |(blocks, threads, absent, leave_after)| Grid {
            blocks,
            threads,
            rounds: 8,
            limit: LONG,
            absent,
            leave_after,
        },
    )
}

fn it_ends_and_names_the_missing_blocks(device: &Device) {
    for grid in grids() {
        grid.names_the_absent(device);
    }
}

pub(super) fn no_block_is_reported_missing_if_all_arrived(device: &Device) {
    for grid in grids() {
        Grid { absent: grid.blocks, ..grid }.is_complete(device);
    }
    Grid { blocks: 1, absent: 1, ..grids()[0] }.is_complete(device);
}

fn it_holds_past_the_wrap_of_its_counter(device: &Device) {
    let grid = Grid { blocks: 3, absent: 2, rounds: 4200, leave_after: 4150, ..grids()[0] };
    let (crossed, missing) = grid.cross(device);
    assert_eq!(crossed, [4150; 3]);
    let missing = missing.expect("it should have been given up");
    assert_eq!((missing.round, missing.ranks), (4151 % 4096, vec![2]));
}

fn the_report_counts_the_blocks_that_it_cannot_list(device: &Device) {
    let few = Grid { blocks: 5, absent: 3, leave_after: 3, ..grids()[0] };
    let missing = few.cross(device).1.expect("it should have been given up");
    let by = missing.given_up_by;
    assert_eq!(
        missing.to_string(),
        format!(
            "round 4 of the grid barrier: 2 of 5 blocks had not arrived when block {by} gave \
             up: 3, 4"
        )
    );
    let many = Grid { blocks: 60, absent: 2, ..few };
    let missing = many.cross(device).1.expect("it should have been given up").to_string();
    assert!(missing.contains("58 of 60 blocks"), "{missing}");
    assert!(
        missing.ends_with(
            "gave up: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 and 42 more"
        ),
        "{missing}"
    );
}

fn every_schedule_ends_and_names_the_missing_blocks() {
    for schedule in schedules() {
        let device = emulator_under(schedule);
        for grid in grids() {
            grid.names_the_absent(&device);
            Grid { absent: grid.blocks, ..grid }.is_complete(&device);
        }
    }
}

/// A block may give up while the last one arrives. Then some blocks leave a round that others do
/// not.
fn a_limit_that_is_too_short_ends_every_block_within_a_round_of_the_others() {
    for seed in 0..100 {
        let device = emulator_under(Schedule::from_seed(seed));
        let grid = Grid { limit: 20 + 7 * seed, ..grids()[1] };
        let grid = Grid { absent: grid.blocks, ..grid };
        let (crossed, missing) = grid.cross(&device);
        let (least, most) = (crossed.iter().min(), crossed.iter().max());
        let (least, most) = (least.expect("a block"), most.expect("a block"));
        assert!(most - least <= 1, "seed {seed}: {crossed:?}");
        let Some(missing) = missing else {
            assert_eq!(*least, grid.rounds, "seed {seed}");
            continue;
        };
        assert!(
            (1..=grid.rounds).contains(&missing.round) && missing.round <= least + 1,
            "seed {seed}: {missing}, {crossed:?}"
        );
        // The list is empty if the last block arrived while the names were being written.
        let names_some = missing.to_string().contains("gave up: ");
        assert_eq!(names_some, !missing.ranks.is_empty(), "{missing}");
    }
}
