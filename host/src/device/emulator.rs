//! The emulator as a device: the same kernels, thread by thread on the CPU, every access checked.

use super::{Backend, DeviceError, Geometry, KernelAttributes, KernelInfo, Properties};
use simt::{LaunchConfig, Memory, MemoryError, Policy, Schedule};
use std::{
    ffi::c_void,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// What is emulated, and how its threads take turns.
#[derive(Clone, Copy, Debug)]
pub struct EmulatorConfig {
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub memory_bytes: usize,
    /// Who runs when.
    pub schedule: Schedule,
}

impl Default for EmulatorConfig {
    /// A small GPU: 8 multiprocessors and 4 GiB, of which only what is used is taken from the
    /// host. The schedule is the fast one, which changes threads at synchronisation only.
    fn default() -> Self {
        Self {
            multiprocessors: 8,
            memory_bytes: 4 << 30,
            schedule: Schedule::new(Policy::Coarse),
        }
    }
}

/// An emulated GPU.
///
/// Launches run at once, on the thread that calls; a fault of the kernel is that launch's error.
/// Whatever the kernel, the blocks that the emulated multiprocessors hold are resident, and further
/// ones start as these end, in order: as on hardware, and with the same ways to hang, which end in
/// an error here.
pub struct Emulator {
    config: EmulatorConfig,
    properties: Properties,
    memory: Mutex<Memory>,
}

impl Emulator {
    /// An emulated GPU.
    #[must_use]
    pub fn new(config: EmulatorConfig) -> Self {
        Self {
            config,
            properties: properties(&config),
            memory: Mutex::new(Memory::new(config.memory_bytes)),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks of `threads` threads and `shared` bytes that one multiprocessor holds.
    fn blocks_per_multiprocessor(&self, threads: u32, shared: u32) -> u32 {
        let p = &self.properties;
        let warps = threads.div_ceil(p.warp_size).max(1);
        let by_threads = p.max_threads_per_multiprocessor / p.warp_size / warps;
        let by_shared = match shared {
            0 => u32::MAX,
            shared => p.shared_per_multiprocessor / shared,
        };
        by_threads
            .min(by_shared)
            .min(p.max_blocks_per_multiprocessor)
    }
}

/// The limits of compute capability 7.5 and later, at their least (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
fn properties(config: &EmulatorConfig) -> Properties {
    Properties {
        name: "emulator".into(),
        multiprocessors: config.multiprocessors,
        memory_bytes: config.memory_bytes as u64,
        warp_size: 32,
        max_grid_x: i32::MAX as u32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 1024,
        max_blocks_per_multiprocessor: 16,
        registers_per_block: 65_536,
        registers_per_multiprocessor: 65_536,
        shared_per_block: 48 << 10,
        shared_per_block_optin: 48 << 10,
        shared_per_multiprocessor: 64 << 10,
        cooperative: true,
        ..Properties::default()
    }
}

impl Backend for Emulator {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        self.memory()
            .alloc(bytes, 256)
            .map_err(|error| match error {
                MemoryError::OutOfMemory {
                    requested,
                    available,
                } => DeviceError::OutOfMemory {
                    requested,
                    free: available,
                    total: self.config.memory_bytes,
                },
                error => memory_error(error),
            })
    }

    unsafe fn free(&self, address: u64) {
        // An address that is not an allocation is excluded by the caller's promise.
        let _freed = self.memory().free(address);
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        self.memory().write(to, from).map_err(memory_error)
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        self.memory().read(from, to).map_err(memory_error)
    }

    unsafe fn zero(&self, at: u64, bytes: usize) -> Result<(), DeviceError> {
        self.memory().zero(at, bytes).map_err(memory_error)
    }

    unsafe fn launch(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError> {
        if geometry.cluster.is_some() {
            return Err(DeviceError::Unsupported {
                what: "cluster launches",
                device: self.properties.name.clone(),
                needs: "they take a GPU of compute capability 9.0",
            });
        }
        let geometry = Geometry {
            cooperative: geometry.cooperative || kernel.cooperative,
            ..*geometry
        };
        let resident = self.active_clusters(kernel, &geometry)?;
        if geometry.cooperative && geometry.grid.volume() > resident.into() {
            return Err(DeviceError::GridTooLarge {
                kernel: kernel.name,
                geometry,
                resident: resident.into(),
                device: self.properties.name.clone(),
                multiprocessors: self.properties.multiprocessors,
            });
        }
        let mut config = LaunchConfig::new(kernel.name, dim(geometry.grid), dim(geometry.block));
        config.dynamic_shared = geometry.dynamic_shared as usize;
        config.cooperative = geometry.cooperative;
        config.max_resident_blocks = Some(resident);
        config.schedule = self.config.schedule;
        // SAFETY: the caller vouches for the arguments and for the kernel's contract.
        let body = || unsafe { (kernel.run)(args) };
        simt::launch(&mut self.memory(), &config, &body)
            .map(|_stats| ())
            .map_err(|fault| DeviceError::Fault(Box::new(fault)))
    }

    /// The emulator keeps no registers: the number is 0.
    fn attributes(&self, _kernel: &KernelInfo) -> Result<KernelAttributes, DeviceError> {
        Ok(KernelAttributes {
            registers: 0,
            static_shared: 0,
            local: 0,
            max_threads: self.properties.max_threads_per_block,
        })
    }

    fn occupancy(
        &self,
        kernel: &KernelInfo,
        block_threads: u32,
        dynamic_shared: u32,
    ) -> Result<u32, DeviceError> {
        if dynamic_shared > self.properties.shared_per_block_optin {
            return Err(DeviceError::SharedTooLarge {
                kernel: kernel.name,
                static_shared: 0,
                dynamic_shared,
                limit: self.properties.shared_per_block_optin,
            });
        }
        Ok(self.blocks_per_multiprocessor(block_threads, dynamic_shared))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Time of the host that emulates: it says nothing about any GPU.
    fn time(&self, work: &mut dyn FnMut() -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    }
}

fn dim(dim: super::Dim3) -> simt::Dim3 {
    simt::Dim3::new(dim.x, dim.y, dim.z)
}

fn memory_error(error: MemoryError) -> DeviceError {
    DeviceError::EmulatedMemory(Box::new(error))
}
