//! The memory calls: device memory, copies, and host memory.

use super::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, SUCCESS};
use crate::control::{before, before_release, count, has_pools};
use crate::device::{BYTES, HostCopy, Step, context_of, ended, state};
use crate::log::log;
use std::ffi::c_void;
use std::slice;

calls! {
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) may_fail OUT_OF_MEMORY {
        let mut state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        let Ok(at) = state.memory().alloc(bytes, 256) else { return OUT_OF_MEMORY };
        *address = at;
        state.allocated(at, bytes);
        count("allocation", 1);
        SUCCESS
    }
    // As in a real driver, this waits for all work of the device.
    fn cuMemFree_v2(address: u64) gives_back {
        log(&format!("free {address}"));
        let mut state = ended(None);
        if state.ready(0) != SUCCESS { return state.ready(0) }
        if state.free(address) { SUCCESS } else { INVALID_HANDLE }
    }
    fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: usize) may_fail OUT_OF_MEMORY {
        let mut state = state();
        if !has_pools() { return NOT_SUPPORTED }
        let first = state.uncapturable(stream);
        if first != SUCCESS { return first }
        let Ok(at) = state.memory().alloc(bytes, 256) else { return OUT_OF_MEMORY };
        *address = at;
        state.allocated(at, bytes);
        count("allocation", 1);
        SUCCESS
    }
    // Unlike `cuMemFree_v2`, this waits only in the stream.
    fn cuMemFreeAsync(address: u64, stream: usize) gives_back {
        log(&format!("free_async {address} {stream}"));
        let mut state = state();
        let first = state.uncapturable(stream);
        if first != SUCCESS { return first }
        state.run(stream, &Step::Free(address));
        state.ready(stream)
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) may_fail INVALID_VALUE {
        let mut state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        (*free, *total) = (state.memory().available(), BYTES);
        SUCCESS
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: usize)
    may_fail INVALID_VALUE {
        let host = from.expose_provenance();
        put_copy(stream, HostCopy { host, device: to, bytes, to_host: false })
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, stream: usize)
    may_fail INVALID_VALUE {
        let host = to.expose_provenance();
        put_copy(stream, HostCopy { host, device: from, bytes, to_host: true })
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: usize)
    may_fail INVALID_VALUE {
        let mut state = state();
        let step = Step::CopyWithin { to, from, bytes };
        if state.captured(stream, &step) { return SUCCESS }
        if state.ready(stream) == SUCCESS { state.run(stream, &step) }
        state.ready(stream)
    }
    // Kernels write there too, so it is emulator memory.
    fn cuMemAllocHost_v2(memory: *mut u64, bytes: usize) may_fail OUT_OF_MEMORY {
        let mut state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        let Ok(at) = state.memory().alloc(bytes, 4096) else { return OUT_OF_MEMORY };
        *memory = at;
        count("pinned memory", 1);
        SUCCESS
    }
    fn cuMemFreeHost(memory: u64) gives_back {
        let mut state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        if state.memory().free(memory).is_err() { return state.mistake("pinned memory") }
        count("pinned memory", -1);
        SUCCESS
    }
    fn cuMemHostRegister_v2(memory: *mut u8, bytes: usize, _flags: u32) may_fail OUT_OF_MEMORY {
        let state = state();
        if memory.is_null() || bytes == 0 { return INVALID_VALUE }
        if state.ready(0) == SUCCESS { count("pinned memory", 1) }
        state.ready(0)
    }
    fn cuMemHostUnregister(memory: *mut u8) gives_back {
        let state = state();
        if memory.is_null() { return INVALID_VALUE }
        count("pinned memory", -1);
        state.ready(0)
    }
    fn cuMemsetD8Async(at: u64, value: u8, bytes: usize, stream: usize) may_fail INVALID_VALUE {
        let mut state = state();
        let step = Step::Zero(at, bytes);
        if value != 0 { return INVALID_VALUE }
        if state.captured(stream, &step) { return SUCCESS }
        if state.ready(stream) == SUCCESS { state.run(stream, &step) }
        state.ready(stream)
    }

    // The default stream follows all others, and those follow it.
    fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) may_fail INVALID_VALUE {
        let mut state = ended(None);
        if state.ready(0) != SUCCESS { return state.ready(0) }
        let from = slice::from_raw_parts(from, bytes);
        if state.memory().write(to, from).is_err() { state.mistake("memory") } else { SUCCESS }
    }
    fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) may_fail INVALID_VALUE {
        let mut state = ended(None);
        if state.ready(0) != SUCCESS { return state.ready(0) }
        let to = slice::from_raw_parts_mut(to, bytes);
        if state.memory().read(from, to).is_err() { state.mistake("memory") } else { SUCCESS }
    }

    fn cuPointerGetAttribute(value: *mut c_void, attribute: u32, address: u64)
    may_fail INVALID_HANDLE {
        let state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        let Some((device, start, bytes)) = state.allocation_at(address) else {
            return INVALID_VALUE;
        };
        match attribute {
            1 => value.cast::<usize>().write(context_of(device)),
            9 => value.cast::<i32>().write(device as i32),
            11 => value.cast::<u64>().write(start),
            12 => value.cast::<usize>().write(bytes),
            _ => return INVALID_VALUE,
        }
        SUCCESS
    }
}

/// Adds a copy to a stream that runs nothing.
///
/// # Safety
///
/// The host memory must live until the copy has run.
unsafe fn put_copy(stream: usize, copy: HostCopy) -> u32 {
    let mut state = ended(Some(stream));
    match state.uncapturable(stream) {
        // SAFETY: the caller upholds this function's contract.
        SUCCESS => unsafe { state.put_copy(stream, copy) },
        first => first,
    }
}
