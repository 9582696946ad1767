//! Launches: of kernels that the emulator runs, or of kernels with special names.

use crate::device::{BLOCKS, MULTIPROCESSORS};
use crate::kernels;
use crate::log::log;
use simt::{LaunchConfig, Memory, Policy, Schedule};
use std::ffi::c_void;

/// Limit of the shared memory of a block, in bytes, as on Hopper.
pub(crate) const SHARED: usize = 227 << 10;

/// A launch with a copy of its arguments.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) name: &'static str,
    shape: Shape,
    /// Each argument, aligned to 8 bytes.
    arguments: Vec<Vec<u64>>,
}

/// The shape of a launch, as given to the driver.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared: u32,
    pub(crate) cluster: Option<u32>,
}

impl Launch {
    /// A launch of the kernel `name`.
    ///
    /// # Safety
    ///
    /// `arguments` has the addresses of that kernel's arguments.
    pub(crate) unsafe fn new(
        name: &'static str,
        shape: Shape,
        arguments: *const *const c_void,
    ) -> Self {
        let sizes = match kernels::find(name) {
            Some(entry) => entry.sizes,
            // An address, and the value to store there.
            None if name.ends_with("store") => &[8, 4],
            None => &[],
        };
        let copy = |(number, &bytes): (usize, &usize)| {
            let mut words = vec![0u64; bytes.div_ceil(8)];
            // SAFETY: the caller passes the address of an argument of `bytes` bytes.
            unsafe {
                let from = (*arguments.add(number)).cast::<u8>();
                words.as_mut_ptr().cast::<u8>().copy_from(from, bytes);
            }
            words
        };
        Self { name, shape, arguments: sizes.iter().enumerate().map(copy).collect() }
    }

    /// The address and the value, if it is a single store.
    pub(crate) fn stores(&self) -> Option<(u64, u32)> {
        match (&self.arguments[..], kernels::find(self.name)) {
            ([address, value], None) => Some((address[0], value[0] as u32)),
            _ => None,
        }
    }

    /// Runs the launch, unless it is a single store. Returns whether it ended without a fault.
    pub(crate) fn run(&self, memory: &mut Memory) -> bool {
        let Some(entry) = kernels::find(self.name) else {
            return !self.name.ends_with("fault");
        };
        let arguments: Vec<_> = self.arguments.iter().map(|words| words.as_ptr().cast()).collect();
        let dim = |[x, y, z]: [u32; 3]| simt::Dim3::new(x, y, z);
        let shape = self.shape;
        let mut config = LaunchConfig::new(self.name, dim(shape.grid), dim(shape.block));
        config.cluster = shape.cluster;
        config.dynamic_shared = shape.shared as usize;
        config.shared_per_block = SHARED;
        config.max_resident_blocks = Some(MULTIPROCESSORS * BLOCKS);
        config.schedule = Schedule::new(Policy::Coarse);
        // SAFETY: these are copies of the arguments of the launch. Its caller guarantees the
        // kernel's contract, and the emulator checks every access.
        let body = || unsafe { (entry.run)(&arguments) };
        match simt::launch(memory, &config, &body) {
            Ok(_) => true,
            Err(fault) => {
                log(&format!("fault {}: {fault}", self.name));
                false
            }
        }
    }
}
