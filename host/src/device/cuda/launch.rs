//! Launches: plain, cooperative, in clusters, overlapping.

use super::{Cuda, Function, Last, lock};
use crate::device::limits::{Exceeded, exceeded};
use crate::device::{DeviceError, Geometry, KernelInfo};
use libcuda::{
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUlaunchAttribute, CUlaunchConfig, CUresult, CUstream,
};
use std::{ffi::c_void, ptr, sync::Arc};

/// Requirement for `cuLaunchKernelEx`.
const NEEDS_11_8: &str = "it needs a driver of CUDA 11.8 or newer";

/// The first image whose kernels can wait for the previous kernel.
pub(super) const OVERLAPPING_IMAGE: u32 = 90;

/// The first driver whose graphs keep recorded launches overlapping (CUDA 12.3, release notes).
pub(super) const OVERLAPPING_DRIVER: u32 = 12_030;

impl Cuda {
    /// [`Backend::launch`](crate::device::Backend::launch).
    ///
    /// # Safety
    /// As for `Backend::launch`.
    pub(super) unsafe fn launch_kernel(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
        args: &[*const c_void],
    ) -> Result<(), DeviceError> {
        let entered = self.stream.gate.recordable("a launch")?;
        self.gpu.enter()?;
        let geometry =
            Geometry { cooperative: geometry.cooperative || kernel.cooperative, ..*geometry };
        let function = self.prepare(kernel, &geometry)?;
        // The driver may check a recorded launch only when the graph is instantiated, and then its
        // error does not name the kernel. So this checks the launch now.
        if entered.recorded().is_some() && geometry.cooperative {
            self.expect_resident(kernel, geometry)?;
        }
        // SAFETY: the caller vouches for the arguments and the kernel's contract.
        let result = unsafe { self.submit(&function, &geometry, args, self.raw_stream()) };
        match result.ok() {
            Ok(()) => {
                let last = match entered.recorded() {
                    Some(capture) => &capture.last,
                    None => &self.last,
                };
                *lock(last) = Some(Last { kernel: kernel.name, geometry, of_graph: false });
                Ok(())
            }
            Err(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) => {
                let resident = self.resident_blocks(kernel, &geometry)?;
                Err(self.too_large(kernel, geometry, resident))
            }
            // A launch can also report a fault of earlier work.
            Err(result) if result.is_sticky() => DeviceError::check(result, || {
                self.after_last(&format!("launching `{}`", kernel.name))
            }),
            Err(result) => Err(self.refused(kernel.name, &function, geometry, result)),
        }
    }

    /// The error for a launch that the driver refused: the limit that it exceeds, if that is known.
    fn refused(
        &self,
        kernel: &'static str,
        function: &Function,
        geometry: Geometry,
        result: CUresult,
    ) -> DeviceError {
        match exceeded(&self.gpu.properties, &function.attributes, &geometry) {
            Some(Exceeded { what, asked, limit, remedy }) => {
                DeviceError::OverLimit { kernel, geometry, what, asked, limit, remedy }
            }
            None => DeviceError::Launch { kernel, geometry, result },
        }
    }

    /// Refuses a launch whose blocks do not all fit on the device at once.
    pub(super) fn expect_resident(
        &self,
        kernel: &KernelInfo,
        geometry: Geometry,
    ) -> Result<(), DeviceError> {
        let resident = self.resident_blocks(kernel, &geometry)?;
        if geometry.grid.volume() > resident {
            return Err(self.too_large(kernel, geometry, resident));
        }
        Ok(())
    }

    /// Blocks of this launch that fit on the device at once.
    fn resident_blocks(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<u64, DeviceError> {
        let clusters = self.resident_clusters(kernel, geometry)?;
        Ok(u64::from(clusters) * u64::from(geometry.cluster.unwrap_or(1)))
    }

    /// The error for a cooperative launch when only `resident` of its blocks fit.
    fn too_large(&self, kernel: &KernelInfo, geometry: Geometry, resident: u64) -> DeviceError {
        DeviceError::GridTooLarge {
            kernel: kernel.name,
            geometry,
            resident,
            device: self.gpu.properties.name.clone(),
            multiprocessors: self.gpu.properties.multiprocessors,
        }
    }

    /// [`Backend::active_clusters`](crate::device::Backend::active_clusters).
    pub(super) fn resident_clusters(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<u32, DeviceError> {
        self.gpu.enter()?;
        let function = self.prepare(kernel, geometry)?;
        if geometry.cluster.is_none() {
            let threads = u32::try_from(geometry.block.volume()).unwrap_or(u32::MAX);
            let blocks = function.blocks_per_multiprocessor(threads, geometry.dynamic_shared)?;
            return Ok(blocks * self.gpu.properties.multiprocessors);
        }
        let mut attributes = attributes(geometry);
        let config = self.config(geometry, &mut attributes);
        let mut clusters = 0;
        // SAFETY: the function belongs to a loaded module; `config` points to `attributes`, which
        // outlives the call; the pointer to `clusters` is valid for writes.
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

    /// The compute capability of the kernel's image.
    pub(super) fn image_of(&self, kernel: &KernelInfo) -> u32 {
        self.gpu.modules.built_for(kernel.name).unwrap_or(self.gpu.image)
    }

    /// The kernel's function, with all opt-ins that `geometry` needs, or the reason why the device
    /// cannot launch it.
    pub(super) fn prepare(
        &self,
        kernel: &KernelInfo,
        geometry: &Geometry,
    ) -> Result<Arc<Function>, DeviceError> {
        let image = self.image_of(kernel);
        let unsupported = |what, needs| {
            Err(DeviceError::Unsupported {
                what,
                device: format!(
                    "{} of compute capability {}.{}, with the compute_{} kernels,",
                    self.gpu.properties.name,
                    self.gpu.properties.compute / 10,
                    self.gpu.properties.compute % 10,
                    image
                ),
                needs,
            })
        };
        if geometry.cooperative && !self.gpu.properties.cooperative {
            return unsupported(
                "cooperative launches",
                "it needs compute capability 6.0, and no MPS or driver mode that forbids them",
            );
        }
        if geometry.cluster.is_some() && !self.gpu.properties.cluster {
            return unsupported("cluster launches", "they need compute capability 9.0");
        }
        // A kernel built for an older target cannot wait for the previous one.
        if geometry.overlapping && image < OVERLAPPING_IMAGE {
            return unsupported(
                "overlapping launches",
                "they need compute capability 9.0, and kernels built for it",
            );
        }
        let attributes = [
            (geometry.cluster.is_some(), "cluster launches"),
            (geometry.overlapping, "overlapping launches"),
        ];
        for (asked, what) in attributes {
            if asked && !libcuda::provides(c"cuLaunchKernelEx") {
                return unsupported(what, NEEDS_11_8);
            }
        }
        let function = self.gpu.function(kernel.name)?;
        function.allow_shared(geometry.dynamic_shared, &self.gpu.properties)?;
        if let Some(blocks) = geometry.cluster {
            function.allow_cluster(blocks)?;
        }
        Ok(function)
    }

    /// Submits the launch to `stream` with the simplest call that can express it.
    ///
    /// # Safety
    /// `args` are the kernel's arguments, and its own contract holds. The stream is live.
    pub(super) unsafe fn submit(
        &self,
        function: &Function,
        geometry: &Geometry,
        args: &[*const c_void],
        stream: CUstream,
    ) -> CUresult {
        // The driver copies the arguments and writes through none of these pointers.
        let arguments = args.as_ptr().cast::<*mut c_void>().cast_mut();
        /// One of the driver's calls with the shape as separate arguments; only one of them has
        /// `extra`.
        macro_rules! launch {
            ($call:ident $(, $extra:expr)?) => {
                // SAFETY: the function belongs to a loaded module, the stream is live, and the
                // caller vouches for the arguments.
                unsafe {
                    libcuda::$call(
                        function.handle,
                        geometry.grid.x,
                        geometry.grid.y,
                        geometry.grid.z,
                        geometry.block.x,
                        geometry.block.y,
                        geometry.block.z,
                        geometry.dynamic_shared,
                        stream,
                        arguments,
                        $($extra)?
                    )
                }
            };
        }
        let mut attributes = attributes(geometry);
        if attributes.is_empty() {
            return launch!(cuLaunchKernel, ptr::null_mut());
        }
        // Without `cuLaunchKernelEx`, every other launch with attributes was refused before.
        if !libcuda::provides(c"cuLaunchKernelEx") {
            return launch!(cuLaunchCooperativeKernel);
        }
        let config = CUlaunchConfig { stream, ..self.config(geometry, &mut attributes) };
        // SAFETY: the function belongs to a loaded module, the stream is live, the caller vouches
        // for the arguments, and `config` points to `attributes`, which outlives the call.
        unsafe {
            libcuda::cuLaunchKernelEx(
                &raw const config,
                function.handle,
                arguments,
                ptr::null_mut(),
            )
        }
    }

    /// Converts `geometry` for the driver. The result points to `attributes`.
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

/// The attributes that `geometry` needs beyond a plain launch.
fn attributes(geometry: &Geometry) -> Vec<CUlaunchAttribute> {
    let cooperative = geometry.cooperative.then(CUlaunchAttribute::cooperative);
    let cluster = geometry.cluster.map(CUlaunchAttribute::cluster);
    let overlapping = geometry.overlapping.then(CUlaunchAttribute::programmatic);
    [cooperative, cluster, overlapping].into_iter().flatten().collect()
}
