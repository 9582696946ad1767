//! What works over several GPUs.

use super::{Protocol, THREADS, right};
use crate::verify::{
    Absence, CaseError, Crossing, Outcome, cross_on_all, exchange_on_all, give_up_on_all,
};
use gridsync::device::{Devices, EmulatorConfig};
use gridsync::launch::Blocks;

/// Rounds of a launch. A block attaches again in the fourth.
const ROUNDS: u32 = 4;

/// Longer than any crossing takes, in ns.
const LONG: u64 = 50_000_000;

/// The barrier and the exchange of two and of three GPUs.
pub(super) fn all() -> Vec<Protocol> {
    let of_gpus = |gpus: u32| {
        let named = |name: &str, run: fn(&Devices) -> Result<(), CaseError>| Protocol {
            config: EmulatorConfig { gpus, ..EmulatorConfig::default() },
            ..Protocol::new(format!("system/{name}-{gpus}"), move |device| {
                run(&Devices::of(device))
            })
        };
        [named("barrier", barrier), named("exchange", exchange), named("bounded", bounded)]
    };
    [2, 3].into_iter().flat_map(of_gpus).collect()
}

fn barrier(devices: &Devices) -> Result<(), CaseError> {
    let crossing = Crossing { rounds: ROUNDS, ..Crossing::of(Blocks::Exactly(2), THREADS) };
    let outcome = cross_on_all(devices, &crossing)?;
    right((outcome != Outcome::Held).then(|| format!("{outcome:?}")))
}

fn exchange(devices: &Devices) -> Result<(), CaseError> {
    exchange_on_all(devices, (2, 64), ROUNDS, 0)
}

/// The bounded barrier with all blocks, and without one.
fn bounded(devices: &Devices) -> Result<(), CaseError> {
    let all = Absence {
        grid: (2, THREADS),
        rounds: ROUNDS,
        limit_ns: LONG,
        absent: (0, 2),
        leave_after: 1,
    };
    for (absent, crossed) in [((0, 2), ROUNDS), ((1, 1), 1)] {
        let (rounds, missing) = give_up_on_all(devices, &Absence { absent, ..all })?;
        let named = missing.map(|missing| (missing.gpus[0].gpu, missing.gpus[0].blocks.clone()));
        let expected = (crossed == 1).then(|| (1, vec![1]));
        let is_right = rounds.iter().flatten().all(|&it| it == crossed) && named == expected;
        right((!is_right).then(|| format!("crossed {rounds:?}, missing {named:?}")))?;
    }
    Ok(())
}
