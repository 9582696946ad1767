//! A kernel as compiled by the driver.

use super::{PtxModule, module::Module};
use crate::device::{DeviceError, KernelAttributes, Properties};
use libcuda::{
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CUfunction,
    CUfunction_attribute,
};
use std::sync::Mutex;

/// The cluster size that every device with clusters allows (CUDA programming guide, thread block
/// clusters). For larger clusters the function must opt in.
const PORTABLE_CLUSTER: u32 = 8;

/// A kernel's handle, its requirements, and the limits raised for it so far.
pub(super) struct Function {
    name: &'static str,
    pub(super) handle: CUfunction,
    pub(super) attributes: KernelAttributes,
    allowed: Mutex<Allowed>,
    /// The module of `handle`, unloaded with the function.
    _module: Module,
}

/// The settings of a function, which only grow.
struct Allowed {
    dynamic_shared: u32,
    cluster: u32,
}

// SAFETY: the driver API may be called from any thread on which the context is current, and the
// handles of the function and its module refer to nothing else.
unsafe impl Send for Function {}
// SAFETY: the driver API may be called from any thread on which the context is current, and a mutex
// guards the part that changes.
unsafe impl Sync for Function {}

impl Function {
    /// Compiles and loads `module`, which contains the kernel `name`, and reads the kernel's
    /// attributes. The context must be current.
    pub(super) fn load(name: &'static str, module: PtxModule) -> Result<Self, DeviceError> {
        let module = Module::load(name, module)?;
        let handle = module.function()?;
        let get = |attribute: CUfunction_attribute| {
            let mut value = 0;
            // SAFETY: the handle belongs to a loaded module, and the pointer to `value` is valid
            // for writes.
            let result = unsafe { libcuda::cuFuncGetAttribute(&raw mut value, attribute, handle) };
            DeviceError::check(result, || format!("reading the attributes of `{name}`"))?;
            Ok::<u32, DeviceError>(u32::try_from(value).unwrap_or(0))
        };
        Ok(Self {
            name,
            handle,
            attributes: KernelAttributes {
                registers: get(CU_FUNC_ATTRIBUTE_NUM_REGS)?,
                static_shared: get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
                local: get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
                max_threads: get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            },
            allowed: Mutex::new(Allowed {
                dynamic_shared: get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
                cluster: PORTABLE_CLUSTER,
            }),
            _module: module,
        })
    }

    /// Opts in to `bytes` of dynamic shared memory if that is more than the function is allowed.
    pub(super) fn allow_shared(
        &self,
        bytes: u32,
        properties: &Properties,
    ) -> Result<(), DeviceError> {
        let limit = properties.shared_per_block_optin.max(properties.shared_per_block);
        if u64::from(bytes) + u64::from(self.attributes.static_shared) > u64::from(limit) {
            return Err(DeviceError::SharedTooLarge {
                kernel: self.name,
                static_shared: self.attributes.static_shared,
                dynamic_shared: bytes,
                limit,
            });
        }
        let mut allowed = super::lock(&self.allowed);
        if bytes > allowed.dynamic_shared {
            self.set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
            allowed.dynamic_shared = bytes;
        }
        Ok(())
    }

    /// Opts in to clusters of `blocks` if not every device with clusters allows them.
    pub(super) fn allow_cluster(&self, blocks: u32) -> Result<(), DeviceError> {
        let mut allowed = super::lock(&self.allowed);
        if blocks > allowed.cluster {
            self.set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
            allowed.cluster = u32::MAX;
        }
        Ok(())
    }

    /// Blocks that fit on one SM at once.
    pub(super) fn blocks_per_multiprocessor(
        &self,
        block_threads: u32,
        dynamic_shared: u32,
    ) -> Result<u32, DeviceError> {
        let mut blocks = 0;
        // SAFETY: the handle belongs to a loaded module, and the pointer to `blocks` is valid for
        // writes.
        let result = unsafe {
            libcuda::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.handle,
                i32::try_from(block_threads).unwrap_or(i32::MAX),
                dynamic_shared as usize,
            )
        };
        DeviceError::check(result, || {
            format!(
                "asking how many blocks of {block_threads} threads and {dynamic_shared} B of \
                 dynamic shared memory of `{}` fit on an SM",
                self.name
            )
        })?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    fn set(&self, attribute: CUfunction_attribute, value: u32) -> Result<(), DeviceError> {
        let value = i32::try_from(value).unwrap_or(i32::MAX);
        // SAFETY: the handle belongs to a loaded module; the driver checks attribute and value.
        let result = unsafe { libcuda::cuFuncSetAttribute(self.handle, attribute, value) };
        DeviceError::check(result, || {
            format!("setting {attribute:?} of `{}` to {value}", self.name)
        })
    }
}
