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

/// Runs a kernel on zeros. A thread that has not begun is reported at the line of this call.
#[track_caller]
pub(crate) fn launch(config: &LaunchConfig<'_>, kernel: &dyn Fn(Zeros)) -> Result<u64, Fault> {
    let (mut memory, zeros) = memory();
    simt::launch(&mut memory, config, &|| kernel(zeros)).map(|stats| stats.steps)
}

/// Runs a kernel on zeros `launches` times in sequence, and returns the first words of array 0.
#[track_caller]
pub(crate) fn words_after<const WORDS: usize>(
    launches: u32,
    config: &LaunchConfig<'_>,
    kernel: &dyn Fn(Zeros),
) -> Result<[u32; WORDS], Fault> {
    let (mut memory, zeros) = memory();
    for _ in 0..launches {
        simt::launch(&mut memory, config, &|| kernel(zeros))?;
    }
    let mut bytes = vec![0; 4 * WORDS];
    memory.read(zeros.memory, &mut bytes).expect("the array has that many words");
    let word = |at: usize| bytes[4 * at..4 * at + 4].try_into().expect("four bytes");
    Ok(std::array::from_fn(|at| u32::from_ne_bytes(word(at))))
}

/// Device memory with the arrays in it.
fn memory() -> (Memory, Zeros) {
    let mut memory = Memory::new(ARRAYS * BYTES);
    let address = memory.alloc(ARRAYS * BYTES, 256).expect("all of it is free");
    memory.zero(address, ARRAYS * BYTES).expect("allocated just now");
    (memory, Zeros { memory: address })
}
