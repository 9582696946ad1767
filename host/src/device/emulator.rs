//! The emulator as a device: it runs the same kernels thread by thread on the CPU, and checks every
//! access.

mod config;
mod graph;
mod module;
mod ptx;
mod queue;
mod work;

pub use self::ptx::PtxKernels;
use super::{
    Backend, Device, DeviceError, Event, Geometry, KernelAttributes, KernelInfo, Marked, MemoryId,
    Ordered, Properties, Recording, Way, gate::Gate,
};
pub use config::EmulatorConfig;
use config::properties;
use graph::{Recorded, Step};
use libcuda::CUDA_ERROR_INVALID_CLUSTER_SIZE;
pub(super) use queue::Mark;
use queue::{Launched, Queue};
use simt::{Fault, LaunchConfig, Memory, MemoryError, OrderSite, Sites, Stats};
use std::{
    collections::HashMap,
    ffi::c_void,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Instant,
};
use work::Work;

/// The most blocks in a cluster: as many as every device with clusters allows (CUDA C++ Programming
/// Guide, "Thread Block Clusters").
const MAX_CLUSTER_BLOCKS: u32 = 8;

/// An emulated GPU.
///
/// A launch runs immediately, on the calling thread, and a fault of the kernel is the error of that
/// launch, unless the machine is [concurrent](EmulatorConfig::concurrent). As on hardware, only as
/// many blocks are resident as the emulated multiprocessors hold, and others start as these end, in
/// an order that the schedule draws. A grid that would hang on hardware ends in an error here.
///
/// A fault loses the emulator, as it loses a GPU's context: the grid was stopped halfway, and the
/// contents of its memory are meaningless. Every later call except freeing returns
/// [`DeviceError::Stopped`]. Create another emulator to continue.
pub struct Emulator {
    /// Its index among the GPUs of the machine.
    gpu: u32,
    /// The number of its stream on the machine.
    stream: u64,
    machine: Arc<Machine>,
    properties: Properties,
    gate: Gate<Recorded>,
}

/// State shared by the GPUs of an emulated machine.
struct Machine {
    config: EmulatorConfig,
    memory: Mutex<Memory>,
    /// Statistics of all launches so far.
    stats: Mutex<Stats>,
    sites: Sites,
    /// The kernels of PTX images that have been loaded into the memory.
    loaded: Mutex<HashMap<&'static str, Arc<ptx_run::Kernel>>>,
    /// The kernels of other compilers that have been loaded into the memory.
    foreign: Mutex<Vec<(crate::device::ptx::Kernel, ptx_run::Kernel)>>,
    /// The fault that stopped a grid, if any.
    fault: OnceLock<Box<Fault>>,
    /// Whether that fault occurred in a call that returns no error, so that the next one returns it.
    is_unreported: AtomicBool,
    /// The launches that have not run. Locked before the memory.
    queue: Mutex<Queue>,
    streams: AtomicU64,
}

impl Machine {
    /// Adds the statistics of launches, or keeps the fault that ended them.
    fn account(&self, launched: Result<Stats, Fault>) -> Result<(), DeviceError> {
        *lock(&self.stats) += launched.map_err(|fault| {
            let fault = Box::new(fault);
            if fault.had_started() {
                self.fault.get_or_init(|| fault.clone());
            }
            DeviceError::Fault(fault)
        })?;
        Ok(())
    }
}

impl Emulator {
    /// Creates an emulated GPU, the first one of its machine.
    ///
    /// # Panics
    /// If the machine has no GPU.
    #[must_use]
    pub fn new(config: EmulatorConfig) -> Self {
        assert!(config.gpus > 0, "an emulated machine has a GPU");
        let machine = Machine {
            config,
            memory: Mutex::new(Memory::of_gpus(config.gpus, config.memory_bytes)),
            stats: Mutex::default(),
            sites: Sites::default(),
            loaded: Mutex::default(),
            foreign: Mutex::default(),
            fault: OnceLock::new(),
            is_unreported: AtomicBool::new(false),
            queue: Mutex::default(),
            streams: AtomicU64::new(0),
        };
        Self::of(Arc::new(machine), 0)
    }

    /// One of the machine's GPUs.
    fn of(machine: Arc<Machine>, gpu: u32) -> Self {
        let properties = properties(&machine.config, gpu);
        let stream = machine.streams.fetch_add(1, Ordering::Relaxed);
        Self { gpu, stream, machine, properties, gate: Gate::default() }
    }

    /// Refuses every call after a fault. `doing` names the call.
    fn expect_alive(&self, doing: &'static str) -> Result<(), DeviceError> {
        match self.machine.fault.get() {
            None => Ok(()),
            Some(fault) if self.machine.is_unreported.swap(false, Ordering::Relaxed) => {
                Err(DeviceError::Fault(fault.clone()))
            }
            Some(fault) => Err(DeviceError::Stopped { doing, fault: fault.clone() }),
        }
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.machine.memory)
    }

    /// Runs a launch that has been checked, with the work of each GPU.
    fn run(&self, config: &LaunchConfig<'_>, works: &[&Work]) -> Result<(), DeviceError> {
        let Machine { config: own, sites, .. } = &*self.machine;
        let bodies: Vec<_> = works.iter().map(|work| work.body()).collect();
        let bodies: Vec<&dyn Fn()> = bodies.iter().map(|body| &**body).collect();
        let config = LaunchConfig { sites: own.sites.then_some(sites), ..*config };
        let mut memory = self.memory();
        memory.name_arguments(works.iter().flat_map(|work| work.names()));
        let launched = simt::launch_on_gpus(&mut memory, &config, &bodies);
        drop(memory);
        self.machine.account(launched)
    }

    /// Runs a launch on this GPU, or keeps it for later.
    fn begin(&self, launch: Launched, recorded: Option<&Recorded>) -> Result<(), DeviceError> {
        if let Some(recorded) = recorded {
            lock(recorded).push(Step::Launch(Box::new(launch)));
            Ok(())
        } else if self.machine.config.concurrent {
            self.submit(launch)
        } else {
            self.run(&launch.config, &[&launch.work])
        }
    }

    /// Checks a launch and returns its configuration.
    fn checked(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<LaunchConfig<'static>, DeviceError> {
        let geometry =
            Geometry { cooperative: geometry.cooperative || kernel.cooperative, ..*geometry };
        self.configured(kernel.name, &geometry)
    }

    /// As [`checked`](Self::checked), for a kernel of this name.
    fn configured(
        &self,
        kernel: &'static str,
        geometry: &Geometry,
    ) -> Result<LaunchConfig<'static>, DeviceError> {
        let clusters = self.resident_clusters(kernel, geometry)?;
        let resident = clusters * geometry.cluster.unwrap_or(1);
        if geometry.cooperative && geometry.grid.volume() > resident.into() {
            return Err(DeviceError::GridTooLarge {
                kernel,
                geometry: *geometry,
                resident: resident.into(),
                device: self.properties.name.clone(),
                multiprocessors: self.properties.multiprocessors,
            });
        }
        let mut config = LaunchConfig::new(kernel, dim(geometry.grid), dim(geometry.block));
        config.cluster = geometry.cluster;
        config.dynamic_shared = geometry.dynamic_shared as usize;
        config.shared_per_block = self.properties.shared_per_block_optin as usize;
        config.cooperative = geometry.cooperative;
        config.max_resident_blocks = Some(resident);
        config.multiprocessors = self.properties.multiprocessors;
        let own = &self.machine.config;
        config.schedule = own.schedule;
        config.races = own.races;
        config.zeroed = own.zeroed;
        config.weak_memory = own.weak_memory;
        config.weaken = own.weaken;
        config.count = own.count;
        config.stack_bytes = own.stack_bytes;
        config.step_limit = own.step_limit;
        config.patience = own.patience;
        Ok(config)
    }

    /// How many clusters are resident at once. The blocks of a cluster may be on any
    /// multiprocessors, so only whole clusters are counted.
    fn resident_clusters(
        &self,
        kernel: &'static str,
        geometry: &Geometry,
    ) -> Result<u32, DeviceError> {
        let cluster = geometry.cluster.unwrap_or(1);
        if !(1..=MAX_CLUSTER_BLOCKS).contains(&cluster) {
            return Err(DeviceError::Launch {
                kernel,
                geometry: *geometry,
                result: CUDA_ERROR_INVALID_CLUSTER_SIZE,
            });
        }
        let threads = u32::try_from(geometry.block.volume()).unwrap_or(u32::MAX);
        let blocks = self.resident_blocks(kernel, threads, geometry.dynamic_shared)?
            * self.properties.multiprocessors;
        Ok(blocks / cluster)
    }

    /// How many blocks one multiprocessor holds.
    fn resident_blocks(
        &self,
        kernel: &'static str,
        block_threads: u32,
        dynamic_shared: u32,
    ) -> Result<u32, DeviceError> {
        if dynamic_shared > self.properties.shared_per_block_optin {
            return Err(DeviceError::SharedTooLarge {
                kernel,
                static_shared: 0,
                dynamic_shared,
                limit: self.properties.shared_per_block_optin,
            });
        }
        Ok(self.blocks_per_multiprocessor(block_threads, dynamic_shared))
    }

    /// How many blocks of `threads` threads and `shared` bytes one multiprocessor holds.
    fn blocks_per_multiprocessor(&self, threads: u32, shared: u32) -> u32 {
        let p = &self.properties;
        let warps = threads.div_ceil(p.warp_size).max(1);
        let by_threads = p.max_threads_per_multiprocessor / p.warp_size / warps;
        let by_shared = match shared {
            0 => u32::MAX,
            shared => p.shared_per_multiprocessor / shared,
        };
        by_threads.min(by_shared).min(p.max_blocks_per_multiprocessor)
    }
}

// SAFETY: every copy is complete when it returns, every launch too or before the next call that
// uses or frees memory, and the emulator's memory checks addresses.
unsafe impl Backend for Emulator {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn emulator(&self) -> Option<&Emulator> {
        Some(self)
    }

    fn emulated(&self) -> Option<Stats> {
        self.machine.settle_quietly();
        Some(*lock(&self.machine.stats))
    }

    fn order_sites(&self) -> Vec<OrderSite> {
        self.machine.settle_quietly();
        self.machine.sites.sorted()
    }

    fn free_memory(&self) -> Result<usize, DeviceError> {
        Ok(self.memory().available_on(self.gpu))
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        let _entered = self.gate.unrecorded("an allocation")?;
        self.expect_alive("an allocation")?;
        self.memory().alloc_on(self.gpu, bytes, 256).map_err(|error| match error {
            MemoryError::OutOfMemory { requested, available } => DeviceError::OutOfMemory {
                requested,
                free: available,
                total: self.machine.config.memory_bytes,
            },
            error => memory_error(error),
        })
    }

    unsafe fn free(&self, address: u64) {
        self.machine.settle_quietly();
        // Nothing uses the memory any more, and there is no need to wait for a recording. The caller
        // promises that the address is an allocation.
        let _freed = self.memory().free(address);
    }

    fn memory_id(&self) -> MemoryId {
        MemoryId::of(&self.machine, self.gpu)
    }

    fn new_stream(&self) -> Result<Arc<dyn Backend>, DeviceError> {
        self.expect_alive("making a stream")?;
        Ok(Arc::new(Self::of(self.machine.clone(), self.gpu)))
    }

    fn mark(self: Arc<Self>) -> Result<Marked, DeviceError> {
        let _entered = self.gate.unrecorded("recording an event")?;
        self.expect_alive("recording an event")?;
        if !self.machine.config.concurrent {
            return Ok(Marked::passed());
        }
        let moment = lock(&self.machine.queue).moment(self.stream);
        Ok(Marked::emulated(Mark { machine: self.machine.clone(), moment }))
    }

    fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        let _entered = self.gate.unrecorded("waiting for an event")?;
        self.expect_alive("waiting for an event")?;
        match event.emulated() {
            Some(mark) if Arc::ptr_eq(&mark.machine, &self.machine) => {
                lock(&self.machine.queue).wait_for(self.stream, &mark.moment);
                Ok(())
            }
            _ => event.synchronize(),
        }
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        let _entered = self.gate.unrecorded("a copy to the device")?;
        self.settle("a copy to the device")?;
        self.memory().write(to, from).map_err(memory_error)
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        let _entered = self.gate.unrecorded("a copy from the device")?;
        self.settle("a copy from the device")?;
        self.memory().read(from, to).map_err(memory_error)
    }

    unsafe fn zero(&self, at: u64, bytes: usize) -> Result<(), DeviceError> {
        let entered = self.gate.recordable("filling with zero")?;
        self.expect_alive("filling with zero")?;
        if let Some(recorded) = entered.recorded() {
            lock(recorded).push(Step::Zero(at, bytes));
            return Ok(());
        }
        self.machine.settle()?;
        self.memory().zero(at, bytes).map_err(memory_error)
    }

    unsafe fn launch(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError> {
        let config = self.checked(kernel, geometry)?;
        let entered = self.gate.recordable("a launch")?;
        self.expect_alive("a launch")?;
        // SAFETY: the caller vouches for the arguments and for the kernel's contract.
        let work = unsafe { self.work(kernel, args) }?;
        let launch = Launched { config, work, overlaps: geometry.overlapping };
        self.begin(launch, entered.recorded())
    }

    fn machine(&self) -> Vec<Arc<dyn Backend>> {
        let of_machine = |gpu| Arc::new(Self::of(self.machine.clone(), gpu)) as Arc<dyn Backend>;
        (0..self.machine.config.gpus).map(of_machine).collect()
    }

    unsafe fn launch_on_all(
        &self,
        all: &[Device],
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[&[*const c_void]],
    ) -> Result<(), DeviceError> {
        let config = self.checked(kernel, geometry)?;
        let _entered = self.gate.unrecorded("a launch on several GPUs")?;
        self.settle("a launch on several GPUs")?;
        debug_assert_eq!(all.len(), args.len());
        // SAFETY: the caller vouches for the arguments and for the kernel's contract.
        let works = args.iter().map(|args| unsafe { self.work(kernel, args) });
        let works = works.collect::<Result<Vec<_>, _>>()?;
        self.run(&config, &works.iter().collect::<Vec<_>>())
    }

    /// The emulator has no registers, so their number is 0.
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
        self.resident_blocks(kernel.name, block_threads, dynamic_shared)
    }

    fn active_clusters(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<u32, DeviceError> {
        self.resident_clusters(kernel.name, geometry)
    }

    fn can_overlap(&self, kernel: &KernelInfo) -> bool {
        let EmulatorConfig { concurrent, ptx, .. } = self.machine.config;
        concurrent && ptx.is_none_or(|ptx| ptx.waits(kernel.name))
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        let _entered = self.gate.unrecorded("waiting for the stream")?;
        self.settle("waiting for the stream")
    }

    /// The time on the host, which is unrelated to that of any GPU.
    fn time(
        &self,
        before: &mut dyn FnMut() -> Result<(), DeviceError>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<f64, DeviceError> {
        // `before` and `work` pass the gate themselves.
        drop(self.gate.unrecorded("timing")?);
        before()?;
        self.machine.settle()?;
        let start = Instant::now();
        work()?;
        self.machine.settle()?;
        Ok(start.elapsed().as_secs_f64() * 1e6)
    }

    fn record(
        self: Arc<Self>,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        self.record_steps(work)
    }

    fn assemble(
        self: Arc<Self>,
        launches: &[Ordered<'_>],
        _way: Way,
    ) -> Result<Box<dyn Recording>, DeviceError> {
        self.put_together(launches)
    }

    fn is_recording(&self) -> bool {
        self.gate.is_recording()
    }
}

/// Locks the mutex even after another thread has panicked: the data of these mutexes is consistent
/// at every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn dim(dim: super::Dim3) -> simt::Dim3 {
    simt::Dim3::new(dim.x, dim.y, dim.z)
}

fn memory_error(error: MemoryError) -> DeviceError {
    DeviceError::EmulatedMemory(Box::new(error))
}

#[cfg(test)]
mod tests;
