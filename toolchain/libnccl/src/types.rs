//! Handles, structs and numbers of `nccl.h`.

use std::ffi::{c_char, c_int, c_uint};

/// The opaque target of an [`ncclComm_t`].
#[repr(C)]
#[derive(Debug)]
pub struct ncclComm {
    _opaque: [u8; 0],
}

/// A communicator: one rank's handle to a group of ranks.
pub type ncclComm_t = *mut ncclComm;

/// The opaque target of a [`cudaStream_t`].
#[repr(C)]
#[derive(Debug)]
pub struct CUstream_st {
    _opaque: [u8; 0],
}

/// A CUDA stream. The runtime, which `nccl.h` uses, and the driver have the same handles
/// (<https://docs.nvidia.com/cuda/cuda-runtime-api/driver-vs-runtime-api.html>).
pub type cudaStream_t = *mut CUstream_st;

/// Bytes of a unique id (`NCCL_UNIQUE_ID_BYTES` in `nccl.h`).
pub const NCCL_UNIQUE_ID_BYTES: usize = 128;

/// The id of a group of ranks. One rank creates it and sends it to all ranks of the group.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ncclUniqueId {
    /// Bytes that only NCCL reads.
    pub internal: [c_char; NCCL_UNIQUE_ID_BYTES],
}

/// The element type of a collective (`ncclDataType_t`, a C enum, which is an int).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ncclDataType_t(pub c_int);

/// Bytes (`ncclUint8` in `nccl.h`).
pub const ncclUint8: ncclDataType_t = ncclDataType_t(1);

/// A number that NCCL chooses (`NCCL_CONFIG_UNDEF_INT` in `nccl.h`, which is `INT_MIN`).
pub const NCCL_CONFIG_UNDEF_INT: c_int = c_int::MIN;

/// The oldest supported NCCL, 2.14.0, in the form of [`version_of`]: its `ncclCommInitRankConfig`
/// was the first that need not block.
pub const OLDEST: c_int = 21_400;

/// The configuration of a communicator: `ncclConfig_v21400`, as in the `nccl.h` of NCCL 2.14.
///
/// Newer versions append members. NCCL copies `size` bytes of the struct, and sets members newer
/// than `version` to their defaults (`parseCommConfig` in `src/init.cc`, 2.14 to 2.31). So the
/// oldest form works for all versions.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ncclConfig_t {
    /// Bytes of this struct.
    pub size: usize,
    /// `0xcafebeef`.
    pub magic: c_uint,
    /// The version of NCCL that defines this form.
    pub version: c_uint,
    /// 0 if calls return at once, with [`ncclInProgress`](crate::ncclInProgress) while they are not
    /// complete.
    pub blocking: c_int,
    /// The end of the struct, up to a multiple of 8 bytes. Since 2.17 this is `cgaClusterSize`, so
    /// it holds the undefined number.
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

/// A version from `ncclGetVersion`, as major, minor and patch (`NCCL_VERSION` in `nccl.h`):
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
    fn the_config_has_the_layout_of_the_2_14_header() {
        assert_eq!(size_of::<ncclConfig_t>(), 24);
        assert_eq!(offset_of!(ncclConfig_t, magic), 8);
        assert_eq!(offset_of!(ncclConfig_t, version), 12);
        assert_eq!(offset_of!(ncclConfig_t, blocking), 16);
        assert_eq!(size_of::<ncclUniqueId>(), 128);
    }

    #[test]
    fn versions_are_decoded_in_both_forms() {
        assert_eq!(version_of(2_708), [2, 7, 8]);
        assert_eq!(version_of(OLDEST), [2, 14, 0]);
        assert_eq!(version_of(22_703), [2, 27, 3]);
    }
}
