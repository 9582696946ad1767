//! One block, run by the emulator alone, to count what it does.

use cuda_std::memory::{Global, Scalar};
use gridsync::device::DeviceError;
use simt::{LaunchConfig, Memory, Stats};

/// Runs `body` as `config` says, and counts what warps do in shared memory.
pub(super) fn count(
    memory: &mut Memory,
    config: &LaunchConfig<'_>,
    body: impl Fn(),
) -> Result<Stats, DeviceError> {
    let config = LaunchConfig {
        count: true,
        ..*config
    };
    simt::launch(memory, &config, &body).map_err(|fault| DeviceError::Fault(Box::new(fault)))
}

/// The view of a copy of `host`, at a multiple of 256 bytes.
pub(super) fn uploaded<T: bytemuck::Pod + Scalar>(memory: &mut Memory, host: &[T]) -> Global<T> {
    let bytes: &[u8] = bytemuck::cast_slice(host);
    let address = memory
        .alloc(bytes.len(), 256)
        .expect("what one block works on should fit in a megabyte");
    memory
        .write(address, bytes)
        .expect("an allocation should take its bytes");
    // SAFETY: address and length are those of the allocation, which nobody frees; only the launch
    // uses the view.
    unsafe { Global::from_address(address, host.len()) }
}
