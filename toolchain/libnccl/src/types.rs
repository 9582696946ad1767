//! Handles, structs and numbers of `nccl.h`.

use std::ffi::{c_char, c_int, c_uint};

/// What an [`ncclComm_t`] points to; only NCCL looks inside.
#[repr(C)]
#[derive(Debug)]
pub struct ncclComm {
    _opaque: [u8; 0],
}

/// A communicator: what one rank holds of a group of ranks.
pub type ncclComm_t = *mut ncclComm;

/// What an [`cudaStream_t`] points to; only the driver looks inside.
#[repr(C)]
#[derive(Debug)]
pub struct CUstream_st {
    _opaque: [u8; 0],
}

/// A CUDA stream. The runtime, which `nccl.h` names, and the driver have the same handles
/// (<https://docs.nvidia.com/cuda/cuda-runtime-api/driver-vs-runtime-api.html>).
pub type cudaStream_t = *mut CUstream_st;

/// Bytes of a unique id (`NCCL_UNIQUE_ID_BYTES` in `nccl.h`).
pub const NCCL_UNIQUE_ID_BYTES: usize = 128;

/// The name of a group of ranks. One rank makes it, and all ranks of the group are given it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ncclUniqueId {
    /// Bytes that only NCCL reads.
    pub internal: [c_char; NCCL_UNIQUE_ID_BYTES],
}

/// The type of what a collective moves (`ncclDataType_t`, an enum of C, which is an int).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ncclDataType_t(pub c_int);

/// Bytes (`ncclUint8` in `nccl.h`).
pub const ncclUint8: ncclDataType_t = ncclDataType_t(1);

/// A number that the user leaves to NCCL (`NCCL_CONFIG_UNDEF_INT` in `nccl.h`, which is `INT_MIN`).
pub const NCCL_CONFIG_UNDEF_INT: c_int = c_int::MIN;

/// The oldest NCCL that is taken, 2.14.0, in the form of [`version_of`]: its
/// `ncclCommInitRankConfig` was the first that need not block.
pub const OLDEST: c_int = 21_400;

/// How a communicator behaves: `ncclConfig_v21400`, as `nccl.h` of NCCL 2.14 has it.
///
/// Newer versions append members. NCCL copies `size` bytes of the struct, and gives the members
/// that came after `version` their defaults (`parseCommConfig` in `src/init.cc`, 2.14 to 2.31). So
/// the oldest form is good for all.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ncclConfig_t {
    /// Bytes of this struct.
    pub size: usize,
    /// `0xcafebeef`.
    pub magic: c_uint,
    /// The version of NCCL whose form this is.
    pub version: c_uint,
    /// 0 if calls return at once, with [`ncclInProgress`](crate::ncclInProgress) while there is
    /// more to do.
    pub blocking: c_int,
    /// The end of the struct, up to a multiple of 8 bytes. From 2.17 on `cgaClusterSize` is in this
    /// place, so it has the number that says nothing.
    pub padding: c_int,
}

impl ncclConfig_t {
    /// The config of a communicator whose calls do not block (`NCCL_CONFIG_INITIALIZER` in
    /// `nccl.h`, with `blocking` 0).
    #[must_use]
    pub const fn without_blocking() -> Self {
        Self {
            size: size_of::<Self>(),
            magic: 0xcafe_beef,
            version: OLDEST as c_uint,
            blocking: 0,
            padding: NCCL_CONFIG_UNDEF_INT,
        }
    }
}

/// A version, as `ncclGetVersion` gives it, as major, minor and patch (`NCCL_VERSION` in `nccl.h`):
/// 10000·major + 100·minor + patch, and up to 2.8 1000·major + 100·minor + patch.
#[must_use]
pub const fn version_of(code: c_int) -> [c_int; 3] {
    let major = if code < 10_000 { 1_000 } else { 10_000 };
    [code / major, code % major / 100, code % 100]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn the_config_lies_in_memory_as_the_header_of_2_14_has_it() {
        assert_eq!(size_of::<ncclConfig_t>(), 24);
        assert_eq!(offset_of!(ncclConfig_t, magic), 8);
        assert_eq!(offset_of!(ncclConfig_t, version), 12);
        assert_eq!(offset_of!(ncclConfig_t, blocking), 16);
        assert_eq!(size_of::<ncclUniqueId>(), 128);
    }

    #[test]
    fn versions_have_two_forms() {
        assert_eq!(version_of(2_708), [2, 7, 8]);
        assert_eq!(version_of(OLDEST), [2, 14, 0]);
        assert_eq!(version_of(22_703), [2, 27, 3]);
    }
}
