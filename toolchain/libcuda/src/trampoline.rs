//! The jump of each symbol, and the code of its first call.
//!
//! ```text
//! caller ── call cuX ──► cuX:  index → scratch register
//!                              jump  [SLOTS + 8·index] ──► the driver's cuX   (later calls)
//!                                          │
//!                                          └─► first_call: save the argument registers,
//!                                              resolve(index), restore, jump to the answer
//! ```
//!
//! When the driver's function starts, the stack is as the caller left it, so arguments on the stack
//! need no handling. Argument registers do, because [`resolve`] is ordinary code.

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("gridsync-libcuda reaches the CUDA driver on Linux, x86-64 or aarch64");

use crate::{
    CUDA_ERROR_NOT_FOUND, CUDA_ERROR_STUB_LIBRARY, CUresult, driver::NAMES, loader::library,
};
use std::{
    arch::naked_asm,
    sync::atomic::{AtomicPtr, Ordering},
};

/// The jump target of each symbol, by its index in [`NAMES`]: [`first_call`] until it is resolved.
pub(crate) static SLOTS: [AtomicPtr<()>; NAMES.len()] =
    [const { AtomicPtr::new(first_call as *const () as *mut ()) }; NAMES.len()];

/// The body of a symbol: puts its index in the register that [`first_call`] reads and jumps through
/// its slot.
///
/// r11 and eax do not carry arguments in the System V ABI, except for variadic functions, and no
/// driver function is variadic. x16 and x17 are the procedure call standard's veneer registers. On
/// aarch64 the slot is read with acquire, so that the jumping thread also sees the relocations and
/// initialisers that the resolving thread ran. On x86-64 every load acquires.
#[cfg(target_arch = "x86_64")]
macro_rules! trampoline {
    ($index:expr) => {
        std::arch::naked_asm!(
            "mov eax, {index}",
            "jmp qword ptr [rip + {slots} + {offset}]",
            index = const $index,
            offset = const 8 * $index,
            slots = sym $crate::trampoline::SLOTS,
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! trampoline {
    ($index:expr) => {
        std::arch::naked_asm!(
            "adrp x16, {slots}",
            "add x16, x16, :lo12:{slots}",
            "add x16, x16, #{offset}",
            "ldar x16, [x16]",
            "mov w17, #{index}",
            "br x16",
            index = const $index,
            offset = const 8 * $index,
            slots = sym $crate::trampoline::SLOTS,
        )
    };
}

pub(crate) use trampoline;

// The aarch64 `add` has a 12-bit offset.
const _: () = assert!(8 * NAMES.len() < 4096);

/// The first content of every slot: resolves the symbol whose index is in eax, then jumps to it.
///
/// On entry rsp is 8 below a multiple of 16, as after any call. 48 bytes of integer arguments and
/// 136 of vector arguments make it a multiple of 16 again for the call of [`resolve`].
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn first_call() {
    naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 136",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov edi, eax",
        "call {resolve}",
        "mov r11, rax",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 136",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp r11",
        resolve = sym resolve,
    )
}

/// The first content of every slot: resolves the symbol whose index is in w17, then jumps to it.
///
/// Saves x0–x7, x8 (the address of an indirect result), q0–q7, and the frame pointer and link
/// register, which the call of [`resolve`] overwrites: 16 + 80 + 128 = 224 bytes, a multiple of 16.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
extern "C" fn first_call() {
    naked_asm!(
        "stp x29, x30, [sp, #-224]!",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "str x8, [sp, #80]",
        "stp q0, q1, [sp, #96]",
        "stp q2, q3, [sp, #128]",
        "stp q4, q5, [sp, #160]",
        "stp q6, q7, [sp, #192]",
        "mov w0, w17",
        "bl {resolve}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldr x8, [sp, #80]",
        "ldp q0, q1, [sp, #96]",
        "ldp q2, q3, [sp, #128]",
        "ldp q4, q5, [sp, #160]",
        "ldp q6, q7, [sp, #192]",
        "ldp x29, x30, [sp], #224",
        "br x16",
        resolve = sym resolve,
    )
}

/// Finds the function for a symbol, stores it in the slot, and returns it.
///
/// Threads that do this at the same time do the same work and store the same address.
extern "C" fn resolve(index: u32) -> *mut () {
    let index = index as usize;
    let target = match library() {
        Ok(library) => library.find(NAMES[index]).unwrap_or(not_found as *const () as *mut ()),
        Err(_) => no_library as *const () as *mut (),
    };
    SLOTS[index].store(target, Ordering::Release);
    target
}

/// Replaces every symbol if the driver library cannot be opened.
extern "C" fn no_library() -> CUresult {
    CUDA_ERROR_STUB_LIBRARY
}

/// Replaces a symbol that the driver does not have.
extern "C" fn not_found() -> CUresult {
    CUDA_ERROR_NOT_FOUND
}
