//! Handles, structs and numbers of the driver API.

use std::ffi::{c_int, c_uint, c_void};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident, $opaque:ident;)*) => {
        $(
            #[doc = concat!("What a [`", stringify!($name), "`] points to; only the driver looks inside.")]
            #[repr(C)]
            #[derive(Debug)]
            pub struct $opaque {
                _opaque: [u8; 0],
            }

            $(#[$doc])*
            pub type $name = *mut $opaque;
        )*
    };
}

/// For [`cuMemHostRegister_v2`](crate::cuMemHostRegister_v2): every context may use the memory as
/// pinned.
pub const CU_MEMHOSTREGISTER_PORTABLE: c_uint = 1;

handles! {
    /// A context.
    CUcontext, CUctx_st;
    /// A loaded module.
    CUmodule, CUmod_st;
    /// A function of a loaded module.
    CUfunction, CUfunc_st;
    /// A stream; null is the default stream.
    CUstream, CUstream_st;
    /// An event.
    CUevent, CUevent_st;
    /// A graph.
    CUgraph, CUgraph_st;
    /// A node of a graph.
    CUgraphNode, CUgraphNode_st;
    /// An instantiated graph.
    CUgraphExec, CUgraphExec_st;
    /// A linker invocation.
    CUlinkState, CUlinkState_st;
}

/// The ordinal of a device, as `cuDeviceGet` returns it.
pub type CUdevice = c_int;
/// An address on the device.
pub type CUdeviceptr = u64;

macro_rules! numbers {
    ($(#[$type_doc:meta])* $type:ident { $($name:ident = $number:literal, $doc:literal;)* }) => {
        $(#[$type_doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $type(pub c_uint);

        $(
            #[doc = $doc]
            pub const $name: $type = $type($number);
        )*
    };
}

numbers! {
    /// Attributes for `cuDeviceGetAttribute`.
    CUdevice_attribute {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1, "Threads of a block, at most.";
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5, "Blocks of a grid in x, at most.";
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8, "Bytes of shared memory of a block without opting in.";
        CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10, "Lanes of a warp.";
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12, "32-bit registers of a block, at most.";
        CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, "Highest SM clock, kHz.";
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16, "SMs.";
        CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32, "1 if ECC is on.";
        CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33, "PCI bus.";
        CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34, "PCI device.";
        CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36, "Highest memory clock, kHz.";
        CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37, "Width of the memory bus, bits.";
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38, "Bytes of L2 cache.";
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39, "Threads resident on an SM, at most.";
        CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50, "PCI domain.";
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, "Compute capability, before the point.";
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76, "Compute capability, after the point.";
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81, "Bytes of shared memory of an SM.";
        CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82, "32-bit registers of an SM.";
        CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95, "1 if cooperative launches work.";
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97, "Bytes of shared memory of a block that opted in.";
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106, "Blocks resident on an SM, at most.";
        CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111, "Bytes of shared memory that the driver keeps of each block.";
        CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115, "1 if it has memory pools (CUDA 11.2).";
        CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120, "1 if cluster launches work (CUDA 11.8).";
    }
}

numbers! {
    /// Attributes for `cuFuncGetAttribute` and `cuFuncSetAttribute`.
    CUfunction_attribute {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0, "Threads of a block of this function, at most.";
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1, "Bytes of static shared memory.";
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2, "Bytes of constant memory.";
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3, "Bytes of local memory of a thread: stack and spills.";
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4, "Registers of a thread.";
        CU_FUNC_ATTRIBUTE_PTX_VERSION = 5, "Virtual architecture, 10·major + minor.";
        CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6, "Real architecture, 10·major + minor.";
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, "Bytes of dynamic shared memory that a launch may ask for; can be set.";
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9, "Share of L1 to use as shared memory, percent; can be set.";
        CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14, "1 if clusters of more than 8 blocks are allowed; can be set.";
    }
}

numbers! {
    /// Options of the JIT compiler and the linker.
    CUjit_option {
        CU_JIT_MAX_REGISTERS = 0, "Registers of a thread, at most.";
        CU_JIT_INFO_LOG_BUFFER = 3, "Where information goes, `*mut c_char`.";
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4, "Bytes of that buffer in, bytes filled out.";
        CU_JIT_ERROR_LOG_BUFFER = 5, "Where errors go, `*mut c_char`.";
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6, "Bytes of that buffer in, bytes filled out.";
        CU_JIT_OPTIMIZATION_LEVEL = 7, "0 to 4; 4 is the default.";
        CU_JIT_GENERATE_DEBUG_INFO = 11, "1 to emit debug information.";
        CU_JIT_LOG_VERBOSE = 12, "1 for verbose logs (registers and spills of each kernel).";
        CU_JIT_GENERATE_LINE_INFO = 13, "1 to emit line numbers.";
    }
}

numbers! {
    /// Input types for `cuLinkAddData_v2` and `cuLinkAddFile_v2`.
    CUjitInputType {
        CU_JIT_INPUT_CUBIN = 0, "A cubin.";
        CU_JIT_INPUT_PTX = 1, "PTX text, with its terminating NUL counted.";
        CU_JIT_INPUT_FATBINARY = 2, "A fatbinary.";
        CU_JIT_INPUT_OBJECT = 3, "A host object with device code in it.";
        CU_JIT_INPUT_LIBRARY = 4, "An archive of such objects (libcudadevrt.a).";
    }
}

numbers! {
    /// Attributes for `cuPointerGetAttribute`.
    CUpointer_attribute {
        CU_POINTER_ATTRIBUTE_CONTEXT = 1, "The context that it was allocated in, `CUcontext`; null if it is of none.";
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, "The ordinal of its device, `c_int`.";
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, "Where its allocation begins, `CUdeviceptr`.";
        CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12, "The bytes of its allocation, `usize`.";
    }
}

numbers! {
    /// Flags of an event.
    CUevent_flags {
        CU_EVENT_DEFAULT = 0, "It takes time stamps.";
        CU_EVENT_DISABLE_TIMING = 2, "It takes no time stamps, and is cheaper.";
    }
}

numbers! {
    /// The calls that a capture forbids, and in which threads.
    CUstreamCaptureMode {
        CU_STREAM_CAPTURE_MODE_GLOBAL = 0, "Unsafe calls are forbidden to every thread.";
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1, "Unsafe calls are forbidden to this thread.";
        CU_STREAM_CAPTURE_MODE_RELAXED = 2, "No call is forbidden.";
    }
}

numbers! {
    /// The member of [`CUlaunchAttributeValue`] that is used.
    CUlaunchAttributeID {
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2, "`cooperative`: all blocks resident, or the launch fails.";
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4, "`cluster`: blocks of a cluster.";
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6, "`programmatic`: may start before the previous kernel ends.";
    }
}

/// The value of a launch attribute: 64 bytes. Its [`CUlaunchAttributeID`] selects the member.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
pub union CUlaunchAttributeValue {
    /// All bytes.
    pub bytes: [u8; 64],
    /// 1 for a cooperative launch.
    pub cooperative: c_int,
    /// Blocks of a cluster in x, y and z.
    pub cluster: [c_uint; 3],
    /// 1 to allow programmatic stream serialisation.
    pub programmatic: c_int,
}

/// An attribute of a launch.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUlaunchAttribute {
    /// The kind of attribute.
    pub id: CUlaunchAttributeID,
    /// Always 0: the API pads the id to 8 bytes.
    pub pad: [u8; 4],
    /// Its value.
    pub value: CUlaunchAttributeValue,
}

impl CUlaunchAttribute {
    /// All blocks must be resident at once, or the launch fails with 720.
    #[must_use]
    pub fn cooperative() -> Self {
        let mut value = CUlaunchAttributeValue { bytes: [0; 64] };
        value.cooperative = 1;
        Self { id: CU_LAUNCH_ATTRIBUTE_COOPERATIVE, pad: [0; 4], value }
    }

    /// The grid may start before the previous kernel in the stream has ended.
    #[must_use]
    pub fn programmatic() -> Self {
        let mut value = CUlaunchAttributeValue { bytes: [0; 64] };
        value.programmatic = 1;
        Self { id: CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, pad: [0; 4], value }
    }

    /// Consecutive `blocks` in x form a cluster.
    #[must_use]
    pub fn cluster(blocks: u32) -> Self {
        let mut value = CUlaunchAttributeValue { bytes: [0; 64] };
        value.cluster = [blocks, 1, 1];
        Self { id: CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, pad: [0; 4], value }
    }
}

/// A launch, for `cuLaunchKernelEx` and `cuOccupancyMaxActiveClusters`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUlaunchConfig {
    /// Grid size in blocks, in x, y and z.
    pub grid: [c_uint; 3],
    /// Block size in threads, in x, y and z.
    pub block: [c_uint; 3],
    /// Bytes of dynamic shared memory per block.
    pub shared_bytes: c_uint,
    /// The stream.
    pub stream: CUstream,
    /// The attributes, `attribute_count` of them.
    pub attributes: *mut CUlaunchAttribute,
    /// The number of attributes.
    pub attribute_count: c_uint,
}

/// The value of a JIT option: a pointer, or a number cast to a pointer.
pub type CUjit_option_value = *mut c_void;

// The layouts of cuda.h (CUDA 11.8 to 13.0, 64-bit).
const _: () = {
    assert!(size_of::<CUlaunchAttributeValue>() == 64);
    assert!(size_of::<CUlaunchAttribute>() == 72);
    assert!(size_of::<CUlaunchConfig>() == 56);
    assert!(std::mem::offset_of!(CUlaunchConfig, stream) == 32);
};

/// A launch as a node of a graph: the first version of the struct, which every driver supports.
#[repr(C)]
#[derive(Debug)]
pub struct CUDA_KERNEL_NODE_PARAMS {
    /// The kernel.
    pub function: CUfunction,
    /// Grid size in blocks, in x, y and z.
    pub grid: [c_uint; 3],
    /// Block size in threads, in x, y and z.
    pub block: [c_uint; 3],
    /// Bytes of dynamic shared memory per block.
    pub shared_bytes: c_uint,
    /// One pointer per parameter.
    pub arguments: *mut *mut c_void,
    /// Null.
    pub extra: *mut *mut c_void,
}
