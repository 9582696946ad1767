//! The order of grids (PTX ISA, "griddepcontrol").

unsafe extern "C" {
    #[link_name = "llvm.nvvm.griddepcontrol.wait"]
    fn griddepcontrol_wait();
    #[link_name = "llvm.nvvm.griddepcontrol.launch.dependents"]
    fn griddepcontrol_launch_dependents();
}

#[inline(always)]
pub(crate) fn wait() {
    // SAFETY: an intrinsic without operands. LLVM assumes that it reads and writes any memory, so
    // no access moves across it.
    unsafe { griddepcontrol_wait() }
}

#[inline(always)]
pub(crate) fn launch_dependents() {
    // SAFETY: an intrinsic without operands. LLVM assumes that it reads and writes any memory.
    unsafe { griddepcontrol_launch_dependents() }
}
