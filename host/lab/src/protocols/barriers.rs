//! Barriers and exchanges.

use super::kernels::bounded_rounds;
use super::{Protocol, THREADS, right};
use cuda_std::launch::Kernel;
use cuda_std::memory::Global;
use gridsync::device::{Device, Geometry};
use gridsync::launch::{Blocks, barrier_words, cooperative};
use gridsync_kernels::grid::barrier::{Barrier, BoundedBarrier, Exchange, GridBarrier};
use gridsync_lab_kernels::barrier::{
    exchange_in_order, exchange_rounds, exchange_votes, phased_barrier_rounds,
    subset_barrier_rounds,
};
use gridsync_verify::{CaseError, Crossing, DESIGNS};

/// The rounds of a launch. An exchange is attached again in the fourth.
const ROUNDS: u32 = 4;

/// Longer than any crossing, in ns.
const LONG: u64 = 50_000_000;

/// The designs of the barrier, and the other ways to cross one.
pub(super) fn barriers() -> Vec<Protocol> {
    // A cluster of one block has nothing to order.
    let designs = DESIGNS.iter().filter(|design| design.name != "cluster-1");
    let designs = designs.map(|design| {
        // More than one counter, and more than one cluster.
        let blocks = match design.name {
            "split-4" => 6,
            "cluster-2" => 4,
            "cluster-4" => 8,
            _ => 3,
        };
        let crossing =
            Crossing { rounds: ROUNDS, ..Crossing::of(Blocks::Exactly(blocks), THREADS) };
        Protocol::new(format!("barrier/{}", design.name), move |device| {
            design.case(device, &crossing)
        })
    });
    let others = [
        Protocol::new("barrier/in-phases", in_phases),
        Protocol::new("barrier/of-subsets", of_subsets),
        Protocol::new("barrier/bounded", bounded),
    ];
    designs.chain(others).collect()
}

/// The exchanges of values between blocks.
pub(super) fn exchanges() -> Vec<Protocol> {
    vec![
        Protocol::new("exchange/all-reduce", exchange::<exchange_rounds>),
        Protocol::new("exchange/in-order", exchange::<exchange_in_order>),
        Protocol::new("exchange/votes", exchange::<exchange_votes>),
    ]
}

/// A grid of this many blocks and threads, all of them resident.
fn grid<K: Kernel>(device: &Device, blocks: u32, threads: u32) -> Result<Geometry, CaseError> {
    Ok(cooperative::<K>(device, Blocks::Exactly(blocks), threads, 0)?)
}

/// Ok if a launch has counted no errors.
fn none(errors: u32) -> Result<(), CaseError> {
    right((errors > 0).then(|| format!("{errors} stale or wrong words")))
}

/// Threads do other work between arriving and waiting.
fn in_phases(device: &Device) -> Result<(), CaseError> {
    let (geometry, threads) =
        (grid::<phased_barrier_rounds>(device, 3, THREADS)?, 3 * THREADS as usize);
    let barrier = barrier_words::<GridBarrier>(device, &geometry)?;
    let (cells, work) = (device.zeroed::<u32>(threads)?, device.zeroed::<u32>(threads)?);
    let errors = device.zeroed::<u32>(1)?;
    let args = (barrier.view(), cells.view(), errors.view(), work.view(), ROUNDS, 0);
    // SAFETY: the buffers have the barrier's words, an element of the other arrays for each thread,
    // and a counter. They live until the download. All blocks are resident.
    unsafe { device.launch::<phased_barrier_rounds>(&geometry, args)? };
    none(errors.download()?[0])
}

/// Even and odd blocks use separate barriers.
fn of_subsets(device: &Device) -> Result<(), CaseError> {
    let geometry = grid::<subset_barrier_rounds>(device, 4, THREADS)?;
    let barriers = device.zeroed::<u32>(2 * GridBarrier::words(2))?;
    let cells = device.zeroed::<u32>(4 * THREADS as usize)?;
    let errors = device.zeroed::<u32>(1)?;
    let args = (barriers.view(), cells.view(), errors.view(), ROUNDS, 0);
    // SAFETY: the buffers have the words of two barriers, an element for each thread, and a
    // counter. They live until the download. All blocks are resident.
    unsafe { device.launch::<subset_barrier_rounds>(&geometry, args)? };
    none(errors.download()?[0])
}

/// The bounded barrier: with all blocks, without one of them, and with a limit shorter than a
/// crossing.
fn bounded(device: &Device) -> Result<(), CaseError> {
    let bounded = |limit: u64, absent: u32| -> Result<_, CaseError> {
        let geometry = grid::<bounded_rounds>(device, 3, THREADS)?;
        let words = device.zeroed::<u32>(BoundedBarrier::words(3))?;
        let cells = device.zeroed::<u32>(6 * THREADS as usize)?;
        let crossed = device.zeroed::<u32>(3)?;
        let args = (words.view(), cells.view(), crossed.view(), ROUNDS, limit, absent, 1);
        // SAFETY: the buffers have the words of the barrier, two cells for each thread, and an
        // element for each block. They live until the downloads. All blocks are resident.
        unsafe { device.launch::<bounded_rounds>(&geometry, args)? };
        let missing = BoundedBarrier::missing(&words.download()?, 3);
        Ok((crossed.download()?, missing.map(|missing| missing.ranks)))
    };
    for (limit, absent, crossed, missing) in [(LONG, 3, ROUNDS, None), (LONG, 2, 1, Some(vec![2]))]
    {
        let (expected, got) = ((vec![crossed; 3], missing), bounded(limit, absent)?);
        if got != expected {
            let what = format!("blocks crossed, and were missing: {got:?}, not {expected:?}");
            return Err(CaseError::Wrong(what));
        }
    }
    // Which block is late is random, but every block is within a round of the others.
    let (crossed, _) = bounded(40, 3)?;
    let (least, most) = (crossed.iter().min(), crossed.iter().max());
    right((most > least.map(|least| least + 1).as_ref()).then(|| format!("crossed {crossed:?}")))
}

/// Crosses two exchanges.
fn exchange<K: Kernel<Args = (Global<u64>, Global<u32>, u32, u32)>>(
    device: &Device,
) -> Result<(), CaseError> {
    let geometry = grid::<K>(device, 3, 64)?;
    let words = device.zeroed::<u64>(2 * Exchange::words(3))?;
    let errors = device.zeroed::<u32>(1)?;
    // SAFETY: the buffers have the words of two exchanges and a counter. They live until the
    // download. Warps are whole, and all blocks are resident.
    unsafe { device.launch::<K>(&geometry, (words.view(), errors.view(), ROUNDS, 0))? };
    none(errors.download()?[0])
}
