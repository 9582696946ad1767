//! The table of symbols: one line generates the definition, the declaration and the slot.

use crate::result::CUresult;
use crate::{
    trampoline::trampoline,
    types::{
        CUDA_KERNEL_NODE_PARAMS, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent,
        CUevent_flags, CUfunction, CUfunction_attribute, CUgraph, CUgraphExec, CUgraphNode,
        CUjit_option, CUjit_option_value, CUjitInputType, CUlaunchConfig, CUlinkState, CUmodule,
        CUpointer_attribute, CUstream, CUstreamCaptureMode,
    },
};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// Defines every symbol as a trampoline.
///
/// `typed` symbols are public with their signature. `untyped` ones are defined only for cust, which
/// declares them itself. A trampoline does not depend on the arguments.
macro_rules! driver {
    (
        typed { $($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?);)* }
        untyped { $($untyped:ident)* }
    ) => {
        /// The index of each symbol in [`NAMES`] and in the slots.
        enum Symbol { $($name,)* $($untyped,)* }

        /// Every symbol's name in the driver library.
        pub(crate) const NAMES: &[&CStr] = &[
            $(name(concat!(stringify!($name), "\0")),)*
            $(name(concat!(stringify!($untyped), "\0")),)*
        ];

        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// As documented in the driver API for this function: pointers are valid for its reads
            /// and writes, handles are live, and sizes and types match.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> CUresult {
                trampoline!(Symbol::$name as usize)
            }
        )*
        $(
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            extern "C" fn $untyped() -> CUresult {
                trampoline!(Symbol::$untyped as usize)
            }
        )*
    };
}

const fn name(with_nul: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(with_nul.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a symbol's name has one NUL, at its end"),
    }
}

driver! {
    typed {
        /// Initialises the driver. All other calls except `cuDriverGetVersion` need it first.
        fn cuInit(flags: c_uint);
        /// The newest CUDA version that the driver supports, 1000·major + 10·minor.
        fn cuDriverGetVersion(version: *mut c_int);

        /// The number of devices.
        fn cuDeviceGetCount(count: *mut c_int);
        /// The handle of a device, by its ordinal.
        fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
        /// The name of a device, NUL-terminated in `len` bytes.
        fn cuDeviceGetName(name: *mut c_char, len: c_int, device: CUdevice);
        /// Bytes of memory on a device.
        fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
        /// An attribute of a device; `CUDA_ERROR_INVALID_VALUE` if the driver does not support it.
        fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
        /// Whether a device can access the memory of another: 1 if so.
        fn cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice);
        /// Retains a device's primary context.
        fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
        /// Releases one retain of a device's primary context.
        fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
        /// Makes a context current on the calling thread; with null, none is current.
        fn cuCtxSetCurrent(context: CUcontext);
        /// The device of the current context.
        fn cuCtxGetDevice(device: *mut CUdevice);
        /// Lets the current context access the memory of another, on another device; `flags` is 0.
        fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);

        /// Allocates device memory, aligned to 256 bytes or more.
        fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize);
        /// Frees device memory, after the work that may use it.
        fn cuMemFree_v2(address: CUdeviceptr);
        /// Allocates device memory in stream order, from the pool of the device (CUDA 11.2).
        fn cuMemAllocAsync(address: *mut CUdeviceptr, bytes: usize, stream: CUstream);
        /// Frees memory of a pool in stream order.
        fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);
        /// Free and total bytes on the current device.
        fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
        /// Copies to the device in stream order.
        fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
        /// Copies to the host in stream order.
        fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
        /// Copies within the device in stream order.
        fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
        /// Allocates pinned host memory, which the device uses at the same address.
        fn cuMemAllocHost_v2(memory: *mut *mut c_void, bytes: usize);
        /// Frees memory from `cuMemAllocHost_v2`.
        fn cuMemFreeHost(memory: *mut c_void);
        /// An attribute of the memory at an address; the type of `value` depends on the attribute.
        fn cuPointerGetAttribute(
            value: *mut c_void,
            attribute: CUpointer_attribute,
            address: CUdeviceptr,
        );
        /// Pins host memory, so that copies need no intermediate buffer.
        fn cuMemHostRegister_v2(memory: *mut c_void, bytes: usize, flags: c_uint);
        /// Unpins memory from `cuMemHostRegister_v2`.
        fn cuMemHostUnregister(memory: *mut c_void);
        /// Fills bytes in stream order.
        fn cuMemsetD8Async(at: CUdeviceptr, value: u8, bytes: usize, stream: CUstream);

        /// Creates a stream; `flags` is 0 for one that synchronises with the default stream.
        fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int);
        /// Destroys a stream after its work has ended.
        fn cuStreamDestroy_v2(stream: CUstream);
        /// The context of a stream; for the default stream, the current context.
        fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext);
        /// Makes later work of a stream wait for an event; `flags` is 0.
        fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
        /// Creates an event.
        fn cuEventCreate(event: *mut CUevent, flags: CUevent_flags);
        /// Destroys an event after it has completed.
        fn cuEventDestroy_v2(event: CUevent);
        /// Makes an event represent all work in a stream so far.
        fn cuEventRecord(event: CUevent, stream: CUstream);
        /// Whether an event has completed: `CUDA_ERROR_NOT_READY` if not.
        fn cuEventQuery(event: CUevent);
        /// Waits until an event has completed.
        fn cuEventSynchronize(event: CUevent);
        /// Milliseconds between two completed events, both with timestamps.
        fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);
        /// Waits for everything in a stream; returns the error of any work that failed in it.
        fn cuStreamSynchronize(stream: CUstream);
        /// Whether all work in a stream is done: `CUDA_ERROR_NOT_READY` if not.
        fn cuStreamQuery(stream: CUstream);
        /// Whether a stream is being captured: 0 if not.
        fn cuStreamIsCapturing(stream: CUstream, status: *mut c_uint);
        /// Exchanges the mode by which calls of this thread are checked during captures.
        fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode);
        /// Begins a capture: later work in the stream is recorded instead of run.
        fn cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode);
        /// Ends a capture and returns its graph.
        fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
        /// Creates a graph without nodes; `flags` is 0.
        fn cuGraphCreate(graph: *mut CUgraph, flags: c_uint);
        /// Adds a launch to a graph, after `count` of its nodes.
        fn cuGraphAddKernelNode(
            node: *mut CUgraphNode,
            graph: CUgraph,
            after: *const CUgraphNode,
            count: usize,
            params: *const CUDA_KERNEL_NODE_PARAMS,
        );
        /// Makes a graph executable (CUDA 11.4); `flags` is 0 for none.
        fn cuGraphInstantiateWithFlags(exec: *mut CUgraphExec, graph: CUgraph, flags: u64);
        /// Uploads an executable graph to the device before its first launch.
        fn cuGraphUpload(exec: CUgraphExec, stream: CUstream);
        /// Launches an executable graph into a stream.
        fn cuGraphLaunch(exec: CUgraphExec, stream: CUstream);
        /// Destroys an executable graph.
        fn cuGraphExecDestroy(exec: CUgraphExec);
        /// Destroys a graph.
        fn cuGraphDestroy(graph: CUgraph);

        /// Loads a cubin, or compiles and loads NUL-terminated PTX, with `count` options.
        fn cuModuleLoadDataEx(
            module: *mut CUmodule,
            image: *const c_void,
            count: c_uint,
            options: *mut CUjit_option,
            values: *mut CUjit_option_value,
        );
        /// Unloads a module.
        fn cuModuleUnload(module: CUmodule);
        /// Finds a kernel by name.
        fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
        /// Finds a global variable by name, and its size in bytes.
        fn cuModuleGetGlobal_v2(
            address: *mut CUdeviceptr,
            bytes: *mut usize,
            module: CUmodule,
            name: *const c_char,
        );
        /// Begins a link, with `count` options that must outlive it.
        fn cuLinkCreate_v2(
            count: c_uint,
            options: *mut CUjit_option,
            values: *mut CUjit_option_value,
            state: *mut CUlinkState,
        );
        /// Adds code from memory to a link.
        fn cuLinkAddData_v2(
            state: CUlinkState,
            kind: CUjitInputType,
            data: *mut c_void,
            bytes: usize,
            name: *const c_char,
            count: c_uint,
            options: *mut CUjit_option,
            values: *mut CUjit_option_value,
        );
        /// Adds code from a file to a link.
        fn cuLinkAddFile_v2(
            state: CUlinkState,
            kind: CUjitInputType,
            path: *const c_char,
            count: c_uint,
            options: *mut CUjit_option,
            values: *mut CUjit_option_value,
        );
        /// Completes a link. The cubin belongs to the link and is freed with it.
        fn cuLinkComplete(state: CUlinkState, cubin: *mut *mut c_void, bytes: *mut usize);
        /// Ends a link.
        fn cuLinkDestroy(state: CUlinkState);

        /// An attribute of a function.
        fn cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction);
        /// Sets an attribute of a function.
        fn cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
        /// The number of blocks of a function that fit on one SM at once.
        fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
            blocks: *mut c_int,
            function: CUfunction,
            block_threads: c_int,
            dynamic_shared: usize,
        );
        /// The number of clusters of a launch that fit on the device at once (CUDA 11.8).
        fn cuOccupancyMaxActiveClusters(
            clusters: *mut c_int,
            function: CUfunction,
            config: *const CUlaunchConfig,
        );
        /// Launches a kernel; `arguments` points to one pointer per parameter.
        fn cuLaunchKernel(
            function: CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: CUstream,
            arguments: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
        /// Launches a kernel with all of its blocks resident, or fails with 720.
        fn cuLaunchCooperativeKernel(
            function: CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: CUstream,
            arguments: *mut *mut c_void,
        );
        /// Launches a kernel with attributes (CUDA 11.8): clusters, cooperation, overlap.
        fn cuLaunchKernelEx(
            config: *const CUlaunchConfig,
            function: CUfunction,
            arguments: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
    }
    // All other symbols in the sources of cust 0.3.2.
    untyped {
        cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy cuCtxCreate_v2
        cuCtxDestroy_v2 cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent
        cuCtxGetFlags cuCtxGetLimit cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange
        cuCtxPopCurrent_v2 cuCtxPushCurrent_v2 cuCtxSetCacheConfig cuCtxSetLimit
        cuCtxSetSharedMemConfig cuCtxSynchronize cuDestroyExternalMemory
        cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxSetFlags_v2
        cuExternalMemoryGetMappedBuffer cuFuncSetCacheConfig cuFuncSetSharedMemConfig
        cuGetErrorString cuGraphDebugDotPrint
        cuGraphGetEdges cuGraphGetNodes cuGraphKernelNodeGetParams cuGraphNodeGetType
        cuImportExternalMemory cuLaunchHostFunc cuMemAdvise
        cuMemAllocManaged cuMemPrefetchAsync cuMemcpy2D_v2
        cuMemcpyAtoH_v2 cuMemcpyDtoD_v2 cuMemcpyDtoH_v2 cuMemcpyHtoA_v2 cuMemcpyHtoD_v2
        cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8_v2
        cuModuleLoad cuModuleLoadData cuOccupancyAvailableDynamicSMemPerBlock
        cuOccupancyMaxPotentialBlockSize         cuStreamGetFlags cuStreamGetPriority cuSurfObjectCreate
        cuSurfObjectDestroy cuSurfObjectGetResourceDesc cuTexObjectCreate cuTexObjectDestroy
        cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
    }
}
