//! Wrong reductions, in the same harness as the right ones.

use super::kernels;
use crate::repeat::one_workspace;
use gridsync::device::DeviceError;
use gridsync::primitives::{Checked, Checking};
use gridsync_entries::Entry;
use gridsync_entries::reduce::Arguments;
use gridsync_kernels::op::{Operation, Sum};
use gridsync_tests::devices::{emulator, emulator_under};
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;
use gridsync_verify::{CaseError, Input, reduce_case};
use simt::{Fault, Policy, Schedule};

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            a_dropped_tail_is_caught,
            a_read_past_the_end_is_caught,
            a_forgotten_block_barrier_is_caught_when_the_first_warp_runs_ahead,
            a_forgotten_block_is_caught,
            a_ticket_that_is_never_reset_is_caught_when_the_workspace_is_reused;
    }
}

type Total = Sum<i32, i64>;

/// A sum of i32 in i64 that runs one of the broken kernels.
macro_rules! sums {
    ($($name:ident by $kernel:ident;)*) => {$(
        #[derive(Clone, Copy, Debug)]
        struct $name;

        impl Operation for $name {
            type Element = i32;
            type Accumulator = i64;
            type Output = i64;
            const COMMUTATIVE: bool = true;

            fn identity(self) -> i64 {
                Total::new().identity()
            }

            fn lift(self, element: i32, index: u64) -> i64 {
                Total::new().lift(element, index)
            }

            fn combine(self, a: i64, b: i64) -> i64 {
                Total::new().combine(a, b)
            }

            fn finish(self, all: i64) -> i64 {
                all
            }
        }

        // SAFETY: the kernels are wrong on purpose, and the emulator checks every access.
        unsafe impl Entry<Arguments<i32>> for $name {
            type Kernel = kernels::$kernel;

            fn arguments(self, common: Arguments<i32>) -> (Arguments<i32>,) {
                (common,)
            }
        }

        impl Checked for $name {
            fn checking(self, len: usize) -> Box<dyn Checking<i32, i64>> {
                Total::new().checking(len)
            }

            fn same(a: i64, b: i64) -> bool {
                a == b
            }
        }
    )*};
}
sums! {
    DropsTheTail by drops_the_tail;
    ReadsOneTooMany by reads_one_too_many;
    ForgetsTheBlockBarrier by forgets_the_block_barrier;
    NeverResetsTheTicket by never_resets_the_ticket;
    ForgetsTheOtherBlocks by forgets_the_other_blocks;
}

fn a_dropped_tail_is_caught() {
    let case = |len| reduce_case(DropsTheTail, &emulator(), Input::Values, len, 1);
    assert_eq!(case(4096), Ok(()), "there is no tail to drop");
    for len in [1, 33, 4097, 8191] {
        let caught = case(len);
        assert!(matches!(caught, Err(CaseError::Wrong(_))), "{len}: {caught:?}");
    }
}

fn a_read_past_the_end_is_caught() {
    let caught = reduce_case(ReadsOneTooMany, &emulator(), Input::Values, 100, 1);
    let Err(CaseError::Device(DeviceError::Fault(fault))) = caught else {
        panic!("{caught:?}");
    };
    assert!(matches!(*fault, Fault::Trap { .. }), "{fault}");
}

fn a_forgotten_block_barrier_is_caught_when_the_first_warp_runs_ahead() {
    let device = emulator_under(Schedule::new(Policy::RunAhead));
    let caught = reduce_case(ForgetsTheBlockBarrier, &device, Input::Values, 5000, 1);
    let Err(CaseError::Device(DeviceError::Fault(fault))) = caught else {
        panic!("{caught:?}");
    };
    assert!(matches!(*fault, Fault::Uninitialised { .. }), "{fault}");
}

fn a_forgotten_block_is_caught() {
    let case = |len| reduce_case(ForgetsTheOtherBlocks, &emulator(), Input::Values, len, 1);
    assert_eq!(case(1000), Ok(()), "there is one block only");
    let caught = case(9000);
    assert!(matches!(caught, Err(CaseError::Wrong(_))), "{caught:?}");
}

fn a_ticket_that_is_never_reset_is_caught_when_the_workspace_is_reused() {
    let caught = one_workspace(NeverResetsTheTicket, &emulator());
    assert!(caught.is_err(), "{caught:?}");
    assert_eq!(one_workspace(Total::new(), &emulator()), Ok(()));
}
