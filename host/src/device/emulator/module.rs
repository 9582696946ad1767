//! Launches of kernels of other compilers.

use super::{Body, Emulator, Machine, lock};
use crate::device::{DeviceError, Geometry};
use crate::ptx::{Argument, Kernel};
use simt::Memory;
use std::sync::Arc;

impl Emulator {
    /// Runs a kernel of a module on each GPU, or on this one, with these arguments.
    pub(crate) fn launch_ptx(
        &self,
        kernel: &Kernel,
        geometry: &Geometry,
        arguments: &[&[Argument]],
    ) -> Result<(), DeviceError> {
        let cannot_run = |error: ptx_run::Error| DeviceError::NotInterpreted {
            kernel: kernel.name,
            why: error.to_string(),
        };
        let config = self.configured(kernel.name, geometry)?;
        let bytes = arguments.iter().map(|arguments| kernel.bytes(arguments));
        let bytes: Vec<_> = bytes.collect::<Result<_, _>>()?;
        let _entered = self.gate.unrecorded("a launch of a PTX module")?;
        self.expect_alive("a launch")?;
        let mut memory = self.memory();
        let loaded = self.machine.load(kernel, &mut memory).map_err(cannot_run)?;
        loaded.expect_block(config.block).map_err(cannot_run)?;
        memory.name_arguments(arguments.iter().flat_map(|list| kernel.addresses(list)));
        let bodies = bytes.into_iter().map(|bytes| -> Result<Body<'_>, DeviceError> {
            Ok(Box::new(loaded.body(bytes).map_err(cannot_run)?))
        });
        let bodies: Vec<_> = bodies.collect::<Result<_, _>>()?;
        self.run_bodies(memory, &config, &bodies)
    }
}

impl Machine {
    /// The kernel with the variables of its module, which are allocated at the first launch of one
    /// of its kernels.
    fn load(
        &self,
        kernel: &Kernel,
        memory: &mut Memory,
    ) -> Result<ptx_run::Kernel, ptx_run::Error> {
        let mut modules = lock(&self.modules);
        let program = kernel.program.clone();
        if let Some((_, other)) =
            modules.iter().find(|(module, _)| Arc::ptr_eq(module, &kernel.module))
        {
            return Ok(other.beside(program));
        }
        let loaded = ptx_run::Kernel::load(program.clone(), memory)?;
        let other = loaded.beside(program);
        modules.push((kernel.module.clone(), other));
        Ok(loaded)
    }
}
