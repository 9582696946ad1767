//! Launches: plain, cooperative, in clusters.

use super::{Cuda, Function, lock};
use crate::device::{DeviceError, Geometry, KernelInfo};
use libcuda::{
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUlaunchAttribute, CUlaunchConfig, CUresult,
};
use std::{ffi::c_void, ptr, sync::Arc};

/// What the driver lacks when it has no `cuLaunchKernelEx`.
const NEEDS_11_8: &str = "it takes a driver of CUDA 11.8 or newer";

impl Cuda {
    /// [`Backend::launch`](crate::device::Backend::launch).
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn launch_kernel(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError> {
        self.enter()?;
        let geometry = Geometry {
            cooperative: geometry.cooperative || kernel.cooperative,
            ..*geometry
        };
        let function = self.prepare(kernel, &geometry)?;
        // SAFETY: the caller vouches for the arguments and the kernel's contract.
        let result = unsafe { self.submit(&function, &geometry, args) };
        match result.ok() {
            Ok(()) => {
                *lock(&self.last) = Some((kernel.name, geometry));
                Ok(())
            }
            Err(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) => {
                let clusters = self.resident_clusters(kernel, &geometry)?;
                Err(DeviceError::GridTooLarge {
                    kernel: kernel.name,
                    geometry,
                    resident: u64::from(clusters) * u64::from(geometry.cluster.unwrap_or(1)),
                    device: self.properties.name.clone(),
                    multiprocessors: self.properties.multiprocessors,
                })
            }
            // A fault of earlier work can come to light here.
            Err(result) if result.is_sticky() => DeviceError::check(result, || {
                self.after_last(&format!("launching `{}`", kernel.name))
            }),
            Err(result) => Err(DeviceError::Launch {
                kernel: kernel.name,
                geometry,
                result,
            }),
        }
    }

    /// [`Backend::active_clusters`](crate::device::Backend::active_clusters).
    pub(super) fn resident_clusters(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<u32, DeviceError> {
        self.enter()?;
        let function = self.prepare(kernel, geometry)?;
        if geometry.cluster.is_none() {
            let threads = u32::try_from(geometry.block.volume()).unwrap_or(u32::MAX);
            let blocks = function.blocks_per_multiprocessor(threads, geometry.dynamic_shared)?;
            return Ok(blocks * self.properties.multiprocessors);
        }
        let mut attributes = attributes(geometry);
        let config = self.config(geometry, &mut attributes);
        let mut clusters = 0;
        // SAFETY: the function is of a loaded module; `config` points to `attributes`, which
        // outlives the call; `clusters` is there to be written.
        let result = unsafe {
            libcuda::cuOccupancyMaxActiveClusters(
                &raw mut clusters,
                function.handle,
                &raw const config,
            )
        };
        DeviceError::check(result, || {
            format!(
                "asking how many clusters of `{}` with {geometry} fit on the device",
                kernel.name
            )
        })?;
        Ok(u32::try_from(clusters).unwrap_or(0))
    }

    /// The kernel's function, allowed what `geometry` asks for; or why the device cannot.
    fn prepare(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<Arc<Function>, DeviceError> {
        let unsupported = |what, needs| {
            Err(DeviceError::Unsupported {
                what,
                device: self.properties.name.clone(),
                needs,
            })
        };
        if geometry.cooperative && !self.properties.cooperative {
            return unsupported(
                "cooperative launches",
                "it takes compute capability 6.0, and no MPS or driver mode that forbids them",
            );
        }
        if geometry.cluster.is_some() && !self.properties.cluster {
            return unsupported("cluster launches", "they take compute capability 9.0");
        }
        if geometry.cluster.is_some() && !libcuda::provides(c"cuLaunchKernelEx") {
            return unsupported("cluster launches", NEEDS_11_8);
        }
        let function = self.function(kernel.name)?;
        function.allow_shared(geometry.dynamic_shared, &self.properties)?;
        if let Some(blocks) = geometry.cluster {
            function.allow_cluster(blocks)?;
        }
        Ok(function)
    }

    /// Puts the launch into the stream by the plainest call that can express it.
    ///
    /// # Safety
    /// `args` are the kernel's arguments, and its own contract holds.
    unsafe fn submit(
        &self,
        function: &Function,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> CUresult {
        let Geometry { grid, block, .. } = *geometry;
        // The driver copies the arguments and writes through none of these pointers.
        let arguments = args.as_ptr().cast::<*mut c_void>().cast_mut();
        let mut attributes = attributes(geometry);
        if attributes.is_empty() {
            // SAFETY: the function is of a loaded module, the stream is live, and the caller
            // vouches for the arguments.
            return unsafe {
                libcuda::cuLaunchKernel(
                    function.handle,
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    geometry.dynamic_shared,
                    self.raw_stream(),
                    arguments,
                    ptr::null_mut(),
                )
            };
        }
        if geometry.cluster.is_none() && !libcuda::provides(c"cuLaunchKernelEx") {
            // SAFETY: as above.
            return unsafe {
                libcuda::cuLaunchCooperativeKernel(
                    function.handle,
                    grid.x,
                    grid.y,
                    grid.z,
                    block.x,
                    block.y,
                    block.z,
                    geometry.dynamic_shared,
                    self.raw_stream(),
                    arguments,
                )
            };
        }
        let config = self.config(geometry, &mut attributes);
        // SAFETY: as above, and `config` points to `attributes`, which outlives the call.
        unsafe {
            libcuda::cuLaunchKernelEx(
                &raw const config,
                function.handle,
                arguments,
                ptr::null_mut(),
            )
        }
    }

    /// The driver's form of `geometry`; it points to `attributes`.
    fn config(&self, geometry: &Geometry, attributes: &mut [CUlaunchAttribute]) -> CUlaunchConfig {
        let Geometry { grid, block, .. } = *geometry;
        CUlaunchConfig {
            grid: [grid.x, grid.y, grid.z],
            block: [block.x, block.y, block.z],
            shared_bytes: geometry.dynamic_shared,
            stream: self.raw_stream(),
            attributes: attributes.as_mut_ptr(),
            attribute_count: attributes.len() as u32,
        }
    }
}

/// The attributes that `geometry` asks for beyond a plain launch.
fn attributes(geometry: &Geometry) -> Vec<CUlaunchAttribute> {
    let cooperative = geometry.cooperative.then(CUlaunchAttribute::cooperative);
    let cluster = geometry.cluster.map(CUlaunchAttribute::cluster);
    cooperative.into_iter().chain(cluster).collect()
}
