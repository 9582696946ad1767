//! Operations of one block, counted by the emulator.

use bytemuck::Pod;
use cuda_std::memory::{Global, Scalar};
use gridsync::device::DeviceError;
use gridsync_kernels::grid::barrier::{Barrier, GridBarrier};
use gridsync_kernels::grid::scan::STATE;
use gridsync_verify::{Input, Sample, sample};
use simt::{LaunchConfig, Memory};

/// Operations of one block on its elements.
///
/// A **warp operation** is one instruction of a warp, with any number of active lanes. Excluded are
/// additions in a thread's registers, and bulk copies. The block runs alone, so it never waits for
/// another block, and polling is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Elements of the block.
    pub elements: usize,
    /// Additions of a warp in shared memory: stores to the word that the lane has just loaded.
    pub shared_additions: u64,
    /// Shuffles and `redux` of a warp.
    pub shuffles: u64,
    /// Loads and stores of a warp in shared memory.
    pub shared_accesses: u64,
    /// The additional passes of these accesses through shared memory, because lanes accessed
    /// different words of one bank.
    pub bank_conflicts: u64,
    /// Barriers of the block.
    pub barriers: u64,
}

impl Counted {
    /// Additions of a warp. One addition follows every shuffle.
    #[must_use]
    pub const fn warp_additions(&self) -> u64 {
        self.shared_additions + self.shuffles
    }

    /// Accesses of a warp to shared memory, and its shuffles.
    #[must_use]
    pub const fn warp_operations(&self) -> u64 {
        self.shared_accesses + self.shuffles
    }
}

/// Arguments that a kernel of a rung may need. Everything but the input starts at 0, unless the rung
/// computes the state.
pub(super) struct Views<T: Scalar> {
    pub(super) input: Global<T>,
    /// As long as the input.
    pub(super) output: Global<T>,
    /// Sum of the one block.
    pub(super) sums: Global<T>,
    /// A ticket, the words of a barrier, the state of the library's scan, or the counts of a sort.
    pub(super) state: Global<u32>,
    /// A ticket, and a word for the only tile and the only group.
    pub(super) words: Global<u64>,
}

/// Runs `body` as the only block of `config` on `elements` elements, and counts the operations of
/// its warps.
pub(super) fn one_block<T: Sample + Pod + Scalar>(
    config: &LaunchConfig<'_>,
    elements: usize,
    body: impl Fn(&Views<T>),
) -> Result<Counted, DeviceError> {
    one_block_with(config, elements, |_| vec![0; GridBarrier::words(1).max(STATE)], body)
}

/// Like [`one_block`], and computes the state from the elements.
pub(super) fn one_block_with<T: Sample + Pod + Scalar>(
    config: &LaunchConfig<'_>,
    elements: usize,
    state: impl Fn(&[T]) -> Vec<u32>,
    body: impl Fn(&Views<T>),
) -> Result<Counted, DeviceError> {
    let mut memory = Memory::new(1 << 20);
    let (zero, input) = (T::default(), sample::<T>(Input::Values, elements, 1));
    let views = Views {
        input: uploaded(&mut memory, &input),
        output: uploaded(&mut memory, &vec![zero; elements]),
        sums: uploaded(&mut memory, &[zero]),
        state: uploaded(&mut memory, &state(&input)),
        words: uploaded(&mut memory, &[0; 2]),
    };
    let config = LaunchConfig { count: true, ..*config };
    let stats = simt::launch(&mut memory, &config, &|| body(&views))
        .map_err(|fault| DeviceError::Fault(Box::new(fault)))?;
    let counts = stats.counts.unwrap_or_default();
    Ok(Counted {
        elements,
        shared_additions: counts.shared_updates,
        shuffles: counts.exchanges,
        shared_accesses: counts.shared_loads + counts.shared_stores,
        bank_conflicts: counts.bank_conflicts,
        barriers: stats.barriers,
    })
}

/// The view of a copy of `host`, aligned to 256 bytes.
fn uploaded<T: Pod + Scalar>(memory: &mut Memory, host: &[T]) -> Global<T> {
    let bytes: &[u8] = bytemuck::cast_slice(host);
    let address =
        memory.alloc(bytes.len(), 256).expect("what one block works on should fit in a megabyte");
    memory.write(address, bytes).expect("an allocation should take its bytes");
    // SAFETY: address and length are those of the allocation, which stays allocated. Only the
    // launch uses the view.
    unsafe { Global::from_address(address, host.len()) }
}
