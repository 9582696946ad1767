//! Launches of kernels of other compilers.

use super::queue::Launched;
use super::work::Work;
use super::{Emulator, Machine, lock};
use crate::device::ptx::{Argument, Kernel};
use crate::device::{DeviceError, Geometry};
use simt::LaunchConfig;
use std::sync::Arc;

impl Emulator {
    /// Runs a kernel of a module on this GPU.
    pub(crate) fn launch_ptx(
        &self,
        kernel: &Kernel,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), DeviceError> {
        let config = self.configured(kernel.name, geometry)?;
        let entered = self.gate.recordable("a launch")?;
        self.expect_alive("a launch")?;
        let work = self.work_of(kernel, &config, arguments)?;
        let launch = Launched { config, work, overlaps: geometry.overlapping };
        self.begin(launch, entered.recorded())
    }

    /// Runs a kernel of a module on each GPU, with these arguments.
    pub(crate) fn launch_ptx_on_all(
        &self,
        kernel: &Kernel,
        geometry: &Geometry,
        arguments: &[&[Argument]],
    ) -> Result<(), DeviceError> {
        let config = self.configured(kernel.name, geometry)?;
        let _entered = self.gate.unrecorded("a launch on several GPUs")?;
        self.settle("a launch on several GPUs")?;
        let works = arguments.iter().map(|arguments| self.work_of(kernel, &config, arguments));
        let works = works.collect::<Result<Vec<_>, _>>()?;
        self.run(&config, &works.iter().collect::<Vec<_>>())
    }

    fn work_of(
        &self,
        kernel: &Kernel,
        config: &LaunchConfig<'_>,
        arguments: &[Argument],
    ) -> Result<Work, DeviceError> {
        let bytes = kernel.bytes(arguments)?;
        let loaded = self.machine.load(kernel);
        let loaded = loaded.and_then(|it| it.expect_block(config.block).map(|()| it));
        let loaded = loaded.map_err(|error| DeviceError::NotInterpreted {
            kernel: kernel.name,
            why: error.to_string(),
        })?;
        let variables = kernel.variables.iter();
        let variables = variables.filter_map(|name| Some((loaded.address(name)?, *name)));
        let names = kernel.addresses(arguments).chain(variables).collect();
        Ok(Work::Ptx(Arc::new(loaded), bytes, names))
    }
}

impl Machine {
    /// The kernel with the variables of its module, which are allocated at the first launch of one
    /// of its kernels.
    fn load(&self, kernel: &Kernel) -> Result<ptx_run::Kernel, ptx_run::Error> {
        let (mut kernels, mut memory) = (lock(&self.foreign), lock(&self.memory));
        let of_program = |(other, _): &&(Kernel, _)| Arc::ptr_eq(&other.program, &kernel.program);
        if let Some((_, loaded)) = kernels.iter().find(of_program) {
            return Ok(loaded.clone());
        }
        let of_module = |(other, _): &&(Kernel, _)| Arc::ptr_eq(&other.module, &kernel.module);
        let program = kernel.program.clone();
        let loaded = match kernels.iter().find(of_module) {
            Some((_, other)) => ptx_run::Kernel::beside(other, program, &mut memory)?,
            None => ptx_run::Kernel::load(program, &mut memory)?,
        };
        kernels.push((kernel.clone(), loaded.clone()));
        Ok(loaded)
    }
}
