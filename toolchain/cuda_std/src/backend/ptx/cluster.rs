//! The position of a block in its cluster (PTX ISA, "Special Registers"), the shared memory of the
//! other blocks, and the cluster barrier.

use crate::dim::Dim3;
use core::arch::asm;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.ctarank"]
    safe fn cluster_ctarank() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.nctarank"]
    safe fn cluster_nctarank() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clusterid.x"]
    safe fn clusterid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clusterid.y"]
    safe fn clusterid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clusterid.z"]
    safe fn clusterid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nclusterid.x"]
    safe fn nclusterid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nclusterid.y"]
    safe fn nclusterid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nclusterid.z"]
    safe fn nclusterid_z() -> u32;
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
    fn barrier_arrive();
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned"]
    fn barrier_arrive_relaxed();
    #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
    fn barrier_wait();
}

#[inline(always)]
pub(crate) fn rank() -> u32 {
    cluster_ctarank()
}

#[inline(always)]
pub(crate) fn blocks() -> u32 {
    cluster_nctarank()
}

#[inline(always)]
pub(crate) fn idx() -> Dim3 {
    Dim3::new(clusterid_x(), clusterid_y(), clusterid_z())
}

#[inline(always)]
pub(crate) fn grid_dim() -> Dim3 {
    Dim3::new(nclusterid_x(), nclusterid_y(), nclusterid_z())
}

/// The address of `at` in the shared memory of block `rank` (PTX ISA, "mapa").
#[inline(always)]
pub(crate) fn shared_of(at: u32, _bytes: usize, rank: u32) -> u32 {
    let address: u32;
    // SAFETY: computes an address; does not access memory.
    unsafe {
        asm!("mapa.shared::cluster.u32 {}, {}, {};", out(reg32) address, in(reg32) at,
             in(reg32) rank, options(pure, nomem, nostack, preserves_flags));
    }
    address
}

#[inline(always)]
pub(crate) fn arrive() {
    // SAFETY: a convergent intrinsic without operands; the public function documents which threads
    // must call it.
    unsafe { barrier_arrive() }
}

#[inline(always)]
pub(crate) fn arrive_relaxed() {
    // SAFETY: a convergent intrinsic without operands; the public function documents which threads
    // must call it.
    unsafe { barrier_arrive_relaxed() }
}

#[inline(always)]
pub(crate) fn wait() {
    // SAFETY: a convergent intrinsic without operands; the public function documents which threads
    // must call it.
    unsafe { barrier_wait() }
}
