//! Numbers of 1, 2, 4 or 8 bytes in the emulator's memory.

/// The number at `pointer`, extended with zeros.
///
/// # Safety
/// These bytes are live and aligned, and no other thread runs.
pub(super) unsafe fn read(pointer: *const u8, bytes: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => pointer.read().into(),
            2 => pointer.cast::<u16>().read().into(),
            4 => pointer.cast::<u32>().read().into(),
            _ => pointer.cast::<u64>().read(),
        }
    }
}

/// Writes the lowest bytes of a number.
///
/// # Safety
/// As for [`read`].
pub(super) unsafe fn write(pointer: *mut u8, bytes: usize, value: u64) {
    // SAFETY: the caller's promise.
    unsafe {
        match bytes {
            1 => pointer.write(value as u8),
            2 => pointer.cast::<u16>().write(value as u16),
            4 => pointer.cast::<u32>().write(value as u32),
            _ => pointer.cast::<u64>().write(value),
        }
    }
}
