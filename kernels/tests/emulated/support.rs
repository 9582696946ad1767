//! Device memory for kernels under test.

use cuda_std::memory::{Global, Scalar};
use simt::{Fault, LaunchConfig, Memory};

/// Arrays of zeros, large enough for every case.
#[derive(Clone, Copy)]
pub(crate) struct Zeros {
    memory: u64,
}

/// Bytes of each array.
const BYTES: usize = 1 << 16;
/// The number of arrays.
const ARRAYS: usize = 5;

impl Zeros {
    /// Array `number`, as `len` elements of `T`.
    pub(crate) fn of<T: Scalar>(self, number: usize, len: usize) -> Global<T> {
        assert!(number < ARRAYS && len * size_of::<T>() <= BYTES);
        // SAFETY: `launch` has allocated that much, for as long as the kernel runs.
        unsafe { Global::from_address(self.memory + (number * BYTES) as u64, len) }
    }
}

/// Runs a kernel on zeros. A thread that has not begun is at the line of this call.
#[track_caller]
pub(crate) fn launch(config: &LaunchConfig<'_>, kernel: &dyn Fn(Zeros)) -> Result<u64, Fault> {
    let mut memory = Memory::new(ARRAYS * BYTES);
    let address = memory.alloc(ARRAYS * BYTES, 256).expect("all of it is free");
    memory.zero(address, ARRAYS * BYTES).expect("allocated just now");
    let zeros = Zeros { memory: address };
    simt::launch(&mut memory, config, &|| kernel(zeros)).map(|stats| stats.steps)
}
