//! What a launch runs: the source of a kernel, or its PTX.

use super::{Emulator, lock, ptx};
use crate::device::assembled::Arguments;
use crate::device::{DeviceError, KernelInfo};
use std::ffi::c_void;
use std::sync::Arc;

/// A kernel with a copy of its arguments.
#[derive(Clone)]
pub(super) enum Work {
    /// The source. Whoever made this vouches for the arguments and for the kernel's contract.
    Source(KernelInfo, Arguments),
    /// PTX that is loaded, the bytes of its parameters, and the arguments that are addresses, with
    /// their names.
    Ptx(Arc<ptx_run::Kernel>, Vec<u8>, Vec<(u64, &'static str)>),
}

/// What each thread of a grid runs.
pub(super) type Body<'a> = Box<dyn Fn() + 'a>;

impl Work {
    /// What each thread runs.
    pub(super) fn body(&self) -> Body<'_> {
        match self {
            Self::Source(kernel, args) => {
                let args = args.pointers();
                // SAFETY: these are copies of the arguments that the kernel was launched with, and
                // the caller of that launch vouches for the kernel's contract.
                Box::new(move || unsafe { (kernel.run)(&args) })
            }
            Self::Ptx(kernel, bytes, _) => {
                Box::new(kernel.body(&**bytes).expect("the bytes of this kernel's parameters"))
            }
        }
    }

    /// The addresses and names of the arguments that may be views of device memory.
    pub(super) fn names(&self) -> Vec<(u64, &'static str)> {
        match self {
            // SAFETY: these are copies of arguments of this kernel.
            Self::Source(kernel, args) => unsafe { views(kernel, &args.pointers()).collect() },
            Self::Ptx(.., names) => names.clone(),
        }
    }
}

impl Emulator {
    /// The work of a launch of `kernel`: its PTX if the machine has PTX.
    ///
    /// # Safety
    /// As for [`Backend::launch`](crate::device::Backend::launch).
    pub(super) unsafe fn work(
        &self,
        kernel: &KernelInfo,
        args: &[*const c_void],
    ) -> Result<Work, DeviceError> {
        let Some(images) = self.machine.config.ptx else {
            // SAFETY: the caller passes live arguments of `kernel`.
            return Ok(Work::Source(*kernel, unsafe { Arguments::copy(kernel, args) }));
        };
        let mut all = lock(&self.machine.loaded);
        let loaded = match all.get(kernel.name) {
            Some(loaded) => loaded.clone(),
            None => {
                let loaded = images.load(kernel.name, &mut self.memory())?;
                all.entry(kernel.name).or_insert(loaded).clone()
            }
        };
        // SAFETY: the caller passes live arguments of `kernel`.
        let (bytes, names) =
            unsafe { (ptx::parameters(kernel, &loaded, args)?, views(kernel, args).collect()) };
        Ok(Work::Ptx(loaded, bytes, names))
    }
}

/// The addresses and names of the arguments that may be views of device memory, which consist of an
/// address and a length.
///
/// # Safety
/// `args` are live arguments of `kernel`, in number, type and order.
unsafe fn views(
    kernel: &KernelInfo,
    args: &[*const c_void],
) -> impl Iterator<Item = (u64, &'static str)> {
    let named = kernel.parameters.iter().zip(kernel.args).zip(args);
    named.filter(|((_, bytes), _)| **bytes == size_of::<[u64; 2]>()).map(|((&name, _), &arg)| {
        // SAFETY: the argument has 16 bytes, by the contract.
        (unsafe { arg.cast::<u64>().read_unaligned() }, name)
    })
}
