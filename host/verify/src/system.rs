//! Cases of the barriers and the exchange over several GPUs.

use super::{CaseError, Crossing, Outcome};
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{DeviceError, Devices, Launch};
use gridsync::launch::{Blocks, cooperative_on_all, system_words};
use gridsync_kernels::grid::barrier::{
    BoundedSystemBarrier, SystemBarrier, SystemExchange, SystemMissing,
};
use gridsync_lab_kernels::barrier::{
    bounded_system_barrier_rounds, system_barrier_rounds, system_exchange_rounds,
    system_exchange_votes,
};

/// Crosses the barrier of all GPUs according to `crossing`, and checks after each crossing what all
/// GPUs wrote before it: each block reads the cells on its own GPU and on another one, which
/// changes with each launch.
///
/// # Errors
/// If a device fails.
pub fn cross_on_all(devices: &Devices, crossing: &Crossing) -> Result<Outcome, DeviceError> {
    type Rounds = system_barrier_rounds;
    let Crossing { blocks, threads, .. } = *crossing;
    let geometry = cooperative_on_all::<Rounds>(devices, blocks, threads, 0)?;
    let words = system_words::<SystemBarrier>(devices, geometry.grid.x)?;
    let cells =
        (geometry.grid.volume() * geometry.block.volume() * u64::from(crossing.cells)) as usize;
    let cells = devices.zeroed::<u32>(cells)?;
    let errors = devices.zeroed::<u32>(1 + crossing.far)?;
    for launch in 0..crossing.launches {
        let of_gpu = |gpu: usize| {
            let other = (gpu + 1 + launch as usize) % devices.len();
            let args = (
                words[gpu].view(),
                cells[gpu].view(),
                cells[other].view(),
                errors[gpu].view(),
                1 + launch * crossing.rounds,
                crossing.rounds,
                crossing.skew,
                gpu as u32,
            );
            Launch::new::<Rounds>(geometry, args)
        };
        let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
        // SAFETY: each GPU has the barrier's words, a multiple of as many cells as threads, a
        // counter, and the words of the far stores. All blocks of the geometry are resident. The
        // buffers outlive the wait below.
        let launched = unsafe { devices.launch(&launches) };
        launched.and_then(|()| devices.synchronize())?;
    }
    let stale = devices.each(|gpu, _| Ok(errors[gpu].download_part(0..1)?[0]))?;
    Ok(match stale.iter().sum() {
        0 => Outcome::Held,
        stale => Outcome::Stale(stale),
    })
}

/// Crosses the exchange of all GPUs, `rounds` times in each of its forms, in `blocks` blocks of
/// `threads` threads on each GPU, and checks all results in all threads.
///
/// # Errors
/// [`CaseError::Wrong`] with the number of wrong results, or if a device fails.
pub fn exchange_on_all(
    devices: &Devices,
    (blocks, threads): (u32, u32),
    rounds: u32,
    skew: u32,
) -> Result<(), CaseError> {
    let words = system_words::<SystemExchange>(devices, blocks)?;
    let errors = devices.zeroed::<u32>(1)?;
    let rounds = &|gpu: usize| {
        let gpus = devices.len() as u32;
        (words[gpu].view(), errors[gpu].view(), gpu as u32, gpus, rounds, skew)
    };
    // SAFETY: each GPU has the words of the exchange and a counter, which live until both launches
    // have been waited for.
    unsafe {
        exchange::<system_exchange_rounds>(devices, (blocks, threads), rounds)?;
        exchange::<system_exchange_votes>(devices, (blocks, threads), rounds)?;
    }
    let wrong = devices.each(|gpu, _| Ok(errors[gpu].download()?[0]))?;
    if wrong.iter().any(|&wrong| wrong > 0) {
        Err(CaseError::Wrong(format!("wrong results on each GPU: {wrong:?}")))
    } else {
        Ok(())
    }
}

/// The arguments of a kernel that checks the exchange.
type ExchangeArgs = (Global<u64>, Global<u32>, u32, u32, u32, u32);

/// Launches a kernel that checks the exchange on all GPUs, and waits for it.
///
/// # Safety
/// `args` has the words of the exchange and a counter of the GPU with that number.
unsafe fn exchange<K: Kernel<Args = ExchangeArgs>>(
    devices: &Devices,
    (blocks, threads): (u32, u32),
    args: &dyn Fn(usize) -> ExchangeArgs,
) -> Result<(), DeviceError> {
    let geometry = cooperative_on_all::<K>(devices, Blocks::Exactly(blocks), threads, 0)?;
    let of_gpu = |gpu| Launch::new::<K>(geometry, args(gpu));
    let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
    // SAFETY: the arguments are guaranteed by the caller, and all blocks of the geometry are
    // resident.
    unsafe { devices.launch(&launches) }?;
    devices.synchronize()
}

/// A launch on all GPUs in which some blocks skip the barrier.
#[derive(Clone, Copy, Debug)]
pub struct Absence {
    /// Blocks and threads of a block, on each GPU.
    pub grid: (u32, u32),
    /// Rounds of the blocks that stay.
    pub rounds: u32,
    /// Limit of a wait, ns.
    pub limit_ns: u64,
    /// The GPU with blocks that leave, and the first of them. No blocks leave if the GPU does not
    /// have that block.
    pub absent: (usize, u32),
    /// Rounds after which they leave.
    pub leave_after: u32,
}

/// Crosses the bounded barrier of all GPUs. Returns the number of rounds that each block of each
/// GPU crossed, and the missing arrivals.
///
/// # Errors
/// If a device fails.
pub fn give_up_on_all(
    devices: &Devices,
    absence: &Absence,
) -> Result<(Vec<Vec<u32>>, Option<SystemMissing>), DeviceError> {
    type Rounds = bounded_system_barrier_rounds;
    let Absence { grid: (blocks, threads), rounds, limit_ns, absent, leave_after } = *absence;
    let geometry = cooperative_on_all::<Rounds>(devices, Blocks::Exactly(blocks), threads, 0)?;
    let words = system_words::<BoundedSystemBarrier>(devices, blocks)?;
    let crossed = devices.zeroed::<u32>(blocks as usize)?;
    let of_gpu = |gpu: usize| {
        let first = if gpu == absent.0 { absent.1 } else { blocks };
        let args = (words[gpu].view(), crossed[gpu].view(), rounds, limit_ns, first, leave_after);
        Launch::new::<Rounds>(geometry, args)
    };
    let launches: Vec<Launch> = (0..devices.len()).map(of_gpu).collect();
    // SAFETY: each GPU has the words of the barrier and an element for each block. All blocks of
    // the geometry are resident. The buffers outlive the wait.
    unsafe { devices.launch(&launches) }.and_then(|()| devices.synchronize())?;
    let words = devices.each(|gpu, _| words[gpu].download())?;
    let crossed = devices.each(|gpu, _| crossed[gpu].download())?;
    Ok((crossed, BoundedSystemBarrier::missing(&words, blocks)))
}
