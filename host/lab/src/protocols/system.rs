//! Protocols that run over several GPUs.

use super::kernels::bounded_system_rounds;
use super::{Protocol, THREADS, right};
use gridsync::device::{Devices, EmulatorConfig, Launch};
use gridsync::launch::{Blocks, cooperative_on_all, system_words};
use gridsync_kernels::grid::barrier::{Absent, BoundedSystemBarrier};
use gridsync_verify::{CaseError, Crossing, Outcome, cross_on_all, exchange_on_all};

/// Rounds of a launch. A block attaches again in the fourth.
const ROUNDS: u32 = 4;

/// Longer than any crossing, in ns.
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
    let geometry =
        cooperative_on_all::<bounded_system_rounds>(devices, Blocks::Exactly(2), THREADS, 0)?;
    let gpus = devices.len();
    for (absent, expected) in [(2, ROUNDS), (1, 1)] {
        let words = system_words::<BoundedSystemBarrier>(devices, 2)?;
        let cells = devices.zeroed::<u32>(4 * THREADS as usize)?;
        let crossed = devices.zeroed::<u32>(2)?;
        let of_gpu = |gpu: usize| {
            let (next, absent) = ((gpu + 1) % gpus, if gpu == 1 { absent } else { 2 });
            let memory = (words[gpu].view(), cells[gpu].view(), cells[next].view());
            let args = (memory.0, memory.1, memory.2, crossed[gpu].view(), ROUNDS, LONG, absent, 1);
            Launch::new::<bounded_system_rounds>(geometry, args)
        };
        let launches: Vec<Launch> = (0..gpus).map(of_gpu).collect();
        // SAFETY: each GPU has the words of the barrier, two cells for each thread and an element
        // for each block, which live until the downloads. All blocks are resident.
        unsafe { devices.launch(&launches) }?;
        let crossed = devices.each(|gpu, _| crossed[gpu].download())?;
        let words = devices.each(|gpu, _| words[gpu].download())?;
        let missing = BoundedSystemBarrier::missing(&words, 2).map(|missing| missing.gpus);
        let named = (absent < 2).then(|| vec![Absent { gpu: 1, blocks: vec![1] }]);
        let is_right = crossed.iter().flatten().all(|&it| it == expected) && missing == named;
        right((!is_right).then(|| format!("crossed {crossed:?}, missing {missing:?}")))?;
    }
    Ok(())
}
