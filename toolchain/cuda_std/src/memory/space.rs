//! State spaces (PTX ISA, "State Spaces"): which memory an address belongs to.

use core::fmt::Debug;

/// The memory instructions of a space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceKind {
    /// `.global`: device memory, shared by the whole grid.
    Global,
    /// `.shared`: on-chip memory of one block.
    Shared,
    /// `.shared::cluster`: the shared memory of any block of the cluster.
    Cluster,
}

/// A state space as a type: [`GlobalSpace`], [`SharedSpace`] or [`ClusterSpace`].
pub trait Space: sealed::Sealed + Copy + Debug + 'static {
    /// An address in this space: 64 bits for global memory, 32 bits for shared memory, on the
    /// device, a host pointer in the emulator.
    type Address: Copy + Debug + 'static;
    /// The memory instructions of this space.
    const KIND: SpaceKind;

    /// The address `bytes` bytes later.
    fn offset(address: Self::Address, bytes: usize) -> Self::Address;

    /// The address as a number.
    fn to_bits(address: Self::Address) -> u64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::GlobalSpace {}
    impl Sealed for super::SharedSpace {}
    impl Sealed for super::ClusterSpace {}
}

/// Device memory.
#[derive(Clone, Copy, Debug)]
pub enum GlobalSpace {}

/// Shared memory of a block.
#[derive(Clone, Copy, Debug)]
pub enum SharedSpace {}

/// Shared memory of the blocks of a cluster.
#[derive(Clone, Copy, Debug)]
pub enum ClusterSpace {}

macro_rules! spaces {
    ($($space:ty: $kind:ident, $device_address:ty);*) => {$(
        #[cfg(target_arch = "nvptx64")]
        impl Space for $space {
            type Address = $device_address;
            const KIND: SpaceKind = SpaceKind::$kind;

            #[inline(always)]
            fn offset(address: Self::Address, bytes: usize) -> Self::Address {
                address.wrapping_add(bytes as $device_address)
            }

            #[inline(always)]
            fn to_bits(address: Self::Address) -> u64 {
                address as u64
            }
        }

        #[cfg(not(target_arch = "nvptx64"))]
        impl Space for $space {
            type Address = *mut u8;
            const KIND: SpaceKind = SpaceKind::$kind;

            fn offset(address: Self::Address, bytes: usize) -> Self::Address {
                address.wrapping_add(bytes)
            }

            fn to_bits(address: Self::Address) -> u64 {
                address as u64
            }
        }
    )*};
}
spaces!(GlobalSpace: Global, u64; SharedSpace: Shared, u32; ClusterSpace: Cluster, u32);
