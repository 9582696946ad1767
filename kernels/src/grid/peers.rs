//! The GPUs of a launch, and the address of each one's words.

use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id};

/// The most GPUs that can cooperate: a lane of a warp sends to each, and polls for what each has
/// sent.
pub const MOST_GPUS: usize = WARP_SIZE as usize;

/// Indices of the words: the address of each GPU's words; the index of this GPU, and the number of
/// GPUs.
const ADDRESSES: usize = 0;
const OWN: usize = MOST_GPUS;
const COUNT: usize = MOST_GPUS + 1;

/// Words of the head, a whole number of lines.
pub(in crate::grid) const HEAD: usize = 2 * MOST_GPUS;

/// The words that begin the memory of GPU `own`: `addresses` has the address of each GPU's memory,
/// in order.
///
/// # Panics
/// If `addresses` has more than [`MOST_GPUS`], or none for `own`.
#[cfg(not(target_arch = "nvptx64"))]
#[must_use]
pub fn head(own: usize, addresses: &[u64]) -> [u64; HEAD] {
    assert!(own < addresses.len(), "GPU {own} of {}", addresses.len());
    let mut words = [0; HEAD];
    words[ADDRESSES..][..addresses.len()].copy_from_slice(addresses);
    words[OWN] = own as u64;
    words[COUNT] = addresses.len() as u64;
    words
}

/// All GPUs of a launch, as a block of one of them sees them.
#[derive(Clone, Copy, Debug)]
pub(in crate::grid) struct Peers {
    /// The words of this GPU.
    pub(in crate::grid) words: Global<u64>,
    /// The index of this GPU.
    pub(in crate::grid) own: u32,
    /// The number of GPUs.
    pub(in crate::grid) count: u32,
    /// The address of the words of the first GPU that this lane sends to.
    first: u64,
}

impl Peers {
    /// Reads the head of `words`.
    #[device]
    pub(in crate::grid) fn of(words: Global<u64>) -> Self {
        let count = words.read(COUNT) as u32;
        let first = lane_id();
        Self {
            words,
            own: words.read(OWN) as u32,
            count,
            first: if first < count { words.read(ADDRESSES + first as usize) } else { 0 },
        }
    }

    /// Makes the first warp store to a word on each GPU: calls `send` with the words of each GPU in
    /// turn. With 32 threads or more, each lane has one GPU at most. Called by all lanes of the
    /// first warp.
    #[device]
    pub(in crate::grid) fn send(self, send: impl Fn(Global<u64>)) {
        let (mut gpu, mut address) = (lane_id(), self.first);
        while gpu < self.count {
            send(self.view(address));
            gpu += lanes();
            if gpu < self.count {
                address = self.words.read(ADDRESSES + gpu as usize);
            }
        }
    }

    /// Whether `has_come` holds for all GPUs that this lane handles.
    #[device]
    pub(in crate::grid) fn all(self, has_come: impl Fn(u32) -> bool) -> bool {
        let (mut gpu, mut all) = (lane_id(), true);
        while gpu < self.count {
            all &= has_come(gpu);
            gpu += lanes();
        }
        all
    }

    /// The words of a GPU.
    #[device]
    pub(in crate::grid) fn words_of(self, gpu: u32) -> Global<u64> {
        self.view(self.words.read(ADDRESSES + gpu as usize))
    }

    #[device]
    fn view(self, address: u64) -> Global<u64> {
        // SAFETY: the head of the words has the address of the words of each GPU, which have the
        // same length. The caller of the launch keeps them alive on all GPUs while any of the
        // kernels runs.
        unsafe { Global::from_address(address, self.words.len()) }
    }
}

/// The number of lanes of the first warp.
#[device]
pub(in crate::grid) fn lanes() -> u32 {
    thread::in_32_bits::threads_per_block().min(WARP_SIZE)
}

/// The lanes of the first warp, as a mask.
#[device]
pub(in crate::grid) fn all_lanes() -> u32 {
    let lanes = lanes();
    if lanes < WARP_SIZE { (1 << lanes) - 1 } else { FULL_MASK }
}
