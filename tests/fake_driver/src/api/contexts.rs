//! The calls about the driver, its devices, their contexts, and the access of one to the memory of
//! another.

use super::{INVALID_DEVICE, INVALID_VALUE, OUT_OF_MEMORY, SUCCESS};
use crate::control::{before, before_release, can_access, count, devices, has_pools};
use crate::device::{BYTES, MULTIPROCESSORS, context_of, ended, enter, entered, ordinal_of, state};
use crate::launch::SHARED;
use std::env;
use std::ffi::c_char;

const INVALID_CONTEXT: u32 = 201;
const PEER_ACCESS_UNSUPPORTED: u32 = 217;
const PEER_ACCESS_ALREADY_ENABLED: u32 = 704;

/// Whether a device with this number exists.
fn is_device(ordinal: i32) -> bool {
    u32::try_from(ordinal).is_ok_and(|ordinal| ordinal < devices())
}

calls! {
    fn cuInit(_flags: u32) may_fail INVALID_VALUE { SUCCESS }
    fn cuDriverGetVersion(version: *mut i32) may_fail INVALID_VALUE { *version = 13_000; SUCCESS }
    fn cuDeviceGetCount(count: *mut i32) may_fail INVALID_VALUE {
        *count = devices() as i32;
        SUCCESS
    }
    // The handle of a device is its number.
    fn cuDeviceGet(device: *mut i32, ordinal: i32) may_fail INVALID_VALUE {
        if !is_device(ordinal) { return INVALID_DEVICE }
        *device = ordinal;
        SUCCESS
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: i32) may_fail INVALID_VALUE {
        *bytes = BYTES;
        SUCCESS
    }
    fn cuDeviceGetName(name: *mut c_char, len: i32, _device: i32) may_fail INVALID_VALUE {
        let text = c"Fake GPU".to_bytes_with_nul();
        if text.len() > len as usize {
            return INVALID_VALUE;
        }
        name.cast::<u8>().copy_from(text.as_ptr(), text.len());
        SUCCESS
    }
    // A failure here would mean that the driver does not know the attribute. That is not an error,
    // so this call does not fail.
    fn cuDeviceGetAttribute(value: *mut i32, attribute: u32, device: i32) gives_back {
        *value = match attribute {
            1 => 1024,
            5 => i32::MAX,
            8 => 48 << 10,
            10 => 32,
            16 => MULTIPROCESSORS as i32,
            // The PCI bus, which distinguishes the GPUs of several processes.
            33 => device + env::var("GRIDSYNC_FAKE_PCI_BUS").map_or(0, |bus| bus.parse().unwrap_or(0)),
            36 => 1_000_000,
            37 => 4096,
            39 => 2048,
            75 => 9,
            95 | 120 => 1,
            97 => SHARED as i32,
            115 => i32::from(has_pools()),
            // The result of an old driver for an unknown attribute.
            111 => return INVALID_VALUE,
            _ => 0,
        };
        SUCCESS
    }

    fn cuDevicePrimaryCtxRetain(context: *mut usize, device: i32) may_fail OUT_OF_MEMORY {
        if !is_device(device) { return INVALID_DEVICE }
        *context = context_of(device as usize);
        state().gpu(device as usize).retained += 1;
        count("context", 1);
        SUCCESS
    }
    fn cuDevicePrimaryCtxRelease_v2(device: i32) gives_back {
        if !is_device(device) { return INVALID_DEVICE }
        state().gpu(device as usize).release();
        count("context", -1);
        SUCCESS
    }
    fn cuCtxSetCurrent(context: usize) may_fail INVALID_VALUE {
        if context != 0 && !state().is_context(context) { return INVALID_CONTEXT }
        enter(context);
        SUCCESS
    }

    fn cuCtxGetCurrent(context: *mut usize) may_fail INVALID_VALUE {
        *context = entered();
        SUCCESS
    }
    fn cuCtxSynchronize() may_fail INVALID_VALUE { ended(None).ready(0) }
    fn cuCtxGetDevice(device: *mut i32) may_fail INVALID_VALUE {
        let state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        *device = state.current() as i32;
        SUCCESS
    }

    fn cuDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) may_fail INVALID_VALUE {
        if !is_device(device) || !is_device(peer) { return INVALID_DEVICE }
        *can = i32::from(device != peer && can_access(device as u32, peer as u32));
        SUCCESS
    }
    fn cuCtxEnablePeerAccess(peer: usize, flags: u32) may_fail OUT_OF_MEMORY {
        let mut state = state();
        if flags != 0 { return INVALID_VALUE }
        if state.ready(0) != SUCCESS { return state.ready(0) }
        if !state.is_context(peer) { return INVALID_CONTEXT }
        let (own, peer) = (state.current(), ordinal_of(peer));
        if own == peer { return INVALID_DEVICE }
        if !can_access(own as u32, peer as u32) { return PEER_ACCESS_UNSUPPORTED }
        if state.gpu(own).reaches.insert(peer) { SUCCESS } else { PEER_ACCESS_ALREADY_ENABLED }
    }
}
