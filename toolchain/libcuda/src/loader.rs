//! Opens the driver library, once, and finds symbols in it.

use std::{
    env,
    ffi::{CStr, CString, OsString, c_void},
    os::unix::ffi::OsStringExt,
    sync::OnceLock,
};

/// The environment variable that names a driver library to open instead of the usual ones.
pub const LIBRARY_VARIABLE: &str = "GRIDSYNC_LIBCUDA";

/// The usual locations of the library: by soname, then where WSL has the Windows driver's.
const USUAL: [&str; 2] = ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"];

/// Why the CUDA driver library could not be opened.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "no CUDA driver library ({}); install the NVIDIA driver, or name its libcuda.so.1 in {LIBRARY_VARIABLE}",
    .tried.join("; ")
)]
pub struct Unavailable {
    /// The dynamic loader's error for each candidate, in the order tried.
    pub tried: Vec<String>,
}

/// Whether the driver library could be opened. Opens it at the first call.
///
/// This does not initialise the driver: only `cuInit` reports whether there is a device.
///
/// # Errors
/// [`Unavailable`], with the reason for each file tried. The result stays the same until the
/// process ends.
pub fn available() -> Result<(), Unavailable> {
    library().as_ref().map(|_| ()).map_err(Clone::clone)
}

/// Whether the driver exports `symbol`, a full name such as `cuLaunchKernelEx`.
#[must_use]
pub fn provides(symbol: &CStr) -> bool {
    library().as_ref().is_ok_and(|library| library.find(symbol).is_some())
}

/// A library that stays open until the process ends.
#[derive(Debug)]
pub(crate) struct Library(*mut c_void);

// SAFETY: the handle is only ever passed to `dlsym`, which POSIX requires to be thread-safe.
unsafe impl Send for Library {}
// SAFETY: the handle is only ever passed to `dlsym`, which POSIX requires to be thread-safe;
// `Library` has no interior mutability.
unsafe impl Sync for Library {}

impl Library {
    /// Opens `path`, or returns the dynamic loader's error.
    fn open(path: OsString) -> Result<Self, String> {
        let path = CString::new(path.into_vec())
            .map_err(|path| format!("{:?} has a NUL in it", path.into_vec()))?;
        // SAFETY: `path` is a NUL-terminated string. Opening a library runs its initialisers; they
        // belong to the driver that the user installed or named.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if !handle.is_null() {
            return Ok(Self(handle));
        }
        // SAFETY: `dlerror` returns null or a string of this thread that lives until its next call.
        let said = unsafe {
            let text = libc::dlerror();
            if text.is_null() {
                None
            } else {
                Some(CStr::from_ptr(text).to_string_lossy().into_owned())
            }
        };
        Err(said.unwrap_or_else(|| format!("{}: not opened", path.to_string_lossy())))
    }

    /// The address of `symbol`, if the library exports it.
    pub(crate) fn find(&self, symbol: &CStr) -> Option<*mut ()> {
        // SAFETY: the handle is from `dlopen` and is never closed; the name is NUL-terminated.
        let address = unsafe { libc::dlsym(self.0, symbol.as_ptr()) };
        (!address.is_null()).then_some(address.cast())
    }
}

/// The driver library, opened at the first call.
pub(crate) fn library() -> &'static Result<Library, Unavailable> {
    static LIBRARY: OnceLock<Result<Library, Unavailable>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // If the user names a library, only that one counts: a fallback would hide a typo.
        let candidates = match env::var_os(LIBRARY_VARIABLE) {
            Some(named) => vec![named],
            None => USUAL.map(OsString::from).into(),
        };
        let mut tried = Vec::new();
        for candidate in candidates {
            match Library::open(candidate) {
                Ok(library) => return Ok(library),
                Err(said) => tried.push(said),
            }
        }
        Err(Unavailable { tried })
    })
}
