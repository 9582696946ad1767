//! Opens the library, once, and finds its functions.

use crate::{
    OLDEST, cudaStream_t, ncclComm_t, ncclConfig_t, ncclDataType_t, ncclResult_t, ncclSuccess,
    ncclUniqueId, version_of,
};
use std::{
    env,
    ffi::{CStr, CString, OsString, c_char, c_int, c_void},
    mem,
    os::unix::ffi::OsStringExt,
    sync::OnceLock,
};

/// The environment variable that names a library to open instead of `libnccl.so.2`.
pub const LIBRARY_VARIABLE: &str = "GRIDSYNC_LIBNCCL";

/// The library's soname on Linux.
const USUAL: &str = "libnccl.so.2";

/// The reason why NCCL cannot be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unavailable {
    /// The library could not be opened.
    #[error(
        "NCCL was not found ({said}); install it, for example as libnccl2 or as the Python package nvidia-nccl-cu12, or set {LIBRARY_VARIABLE} to the path of its libnccl.so.2"
    )]
    NotOpened {
        /// The dynamic loader's error.
        said: String,
    },
    /// The library lacks a function, or does not report its version.
    #[error(
        "{library} is not a suitable NCCL: {missing} is missing; install NCCL 2.14 or newer, or set {LIBRARY_VARIABLE} to the path of its libnccl.so.2"
    )]
    NotComplete {
        /// The library.
        library: String,
        /// The missing function.
        missing: &'static str,
    },
    /// The library is too old.
    #[error(
        "NCCL {}.{}.{} is too old, since its calls block forever when a rank is lost: install NCCL 2.14 or newer, or set {LIBRARY_VARIABLE} to the path of its libnccl.so.2",
        version_of(*.found)[0], version_of(*.found)[1], version_of(*.found)[2]
    )]
    TooOld {
        /// Its version, as `ncclGetVersion` returns it.
        found: c_int,
    },
}

/// Declares the table of functions, and looks them up.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The functions of the library.
        ///
        /// NCCL documents each. Calling one is `unsafe`: pointers must be valid for its reads and
        /// writes, communicators alive, and streams on the device of the communicator.
        #[derive(Debug)]
        pub struct Nccl {
            version: c_int,
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($argument: $type),*) -> $result,)*
        }

        impl Nccl {
            /// Looks up all functions in `library`, which was opened as `of`.
            fn find(library: *mut c_void, of: &str) -> Result<Self, Unavailable> {
                Ok(Self {
                    version: 0,
                    $($name: {
                        let symbol = concat!(stringify!($name), "\0");
                        // SAFETY: the handle is from `dlopen` and is never closed; the name ends
                        // with NUL.
                        let address = unsafe { libc::dlsym(library, symbol.as_ptr().cast()) };
                        if address.is_null() {
                            let missing = stringify!($name);
                            return Err(Unavailable::NotComplete { library: of.into(), missing });
                        }
                        // SAFETY: a function of this name has this type in `nccl.h`, since 2.14.
                        unsafe {
                            mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument: $type),*) -> $result,
                            >(address)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    /// The version of the library: see [`version_of`].
    fn ncclGetVersion(version: *mut c_int) -> ncclResult_t;
    /// Creates the id of a new group of ranks.
    fn ncclGetUniqueId(id: *mut ncclUniqueId) -> ncclResult_t;
    /// Joins the group `id` as rank `rank` of `ranks`, on the current device of the calling thread.
    fn ncclCommInitRankConfig(
        comm: *mut ncclComm_t,
        ranks: c_int,
        id: ncclUniqueId,
        rank: c_int,
        config: *mut ncclConfig_t
    ) -> ncclResult_t;
    /// Gathers `count` values of each rank on all ranks, in the order of the ranks.
    fn ncclAllGather(
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        of: ncclDataType_t,
        comm: ncclComm_t,
        stream: cudaStream_t
    ) -> ncclResult_t;
    /// The state of calls that have returned before completing.
    fn ncclCommGetAsyncError(comm: ncclComm_t, error: *mut ncclResult_t) -> ncclResult_t;
    /// Starts to finalize a communicator whose work is done.
    fn ncclCommFinalize(comm: ncclComm_t) -> ncclResult_t;
    /// Frees a communicator.
    fn ncclCommDestroy(comm: ncclComm_t) -> ncclResult_t;
    /// Frees a communicator, and stops its running work on the device.
    fn ncclCommAbort(comm: ncclComm_t) -> ncclResult_t;
    /// A description of a result, as text that is never freed.
    fn ncclGetErrorString(result: ncclResult_t) -> *const c_char;
    /// The last error, as text that the library owns; `comm` may be null.
    fn ncclGetLastError(comm: ncclComm_t) -> *const c_char;
}

impl Nccl {
    /// The version of the library: see [`version_of`].
    #[must_use]
    pub const fn version(&self) -> c_int {
        self.version
    }

    /// A description of `result` and of the last error, for a message.
    #[must_use]
    pub fn tell(&self, result: ncclResult_t) -> String {
        // SAFETY: every number is a valid argument.
        let meaning = text(unsafe { (self.ncclGetErrorString)(result) });
        // SAFETY: a null communicator is allowed and selects the last error of this process.
        let last = text(unsafe { (self.ncclGetLastError)(std::ptr::null_mut()) });
        let more = [meaning, last].into_iter().filter(|text| !text.is_empty());
        let more: Vec<_> = more.collect();
        if more.is_empty() { result.to_string() } else { format!("{result}: {}", more.join("; ")) }
    }
}

/// Text from the library, on one line.
fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: NCCL returns text that ends with NUL and that it keeps.
    let text = unsafe { CStr::from_ptr(at) }.to_string_lossy();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Opens `path`, or returns the dynamic loader's error.
fn open(path: OsString) -> Result<*mut c_void, String> {
    let path = CString::new(path.into_vec())
        .map_err(|path| format!("{:?} has a NUL in it", path.into_vec()))?;
    // SAFETY: `path` ends with NUL. Opening a library runs its initialisers; they belong to the
    // NCCL that the user installed or named.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: `dlerror` returns null or text of this thread that lives until its next call.
    let said = text(unsafe { libc::dlerror() });
    Err(if said.is_empty() { format!("{}: not opened", path.to_string_lossy()) } else { said })
}

fn load(path: OsString) -> Result<Nccl, Unavailable> {
    let of = path.to_string_lossy().into_owned();
    let library = open(path).map_err(|said| Unavailable::NotOpened { said })?;
    // The version is checked first, so that an old library is reported as old and not as
    // incomplete.
    // SAFETY: the handle is from `dlopen` and is never closed; the name ends with NUL.
    let address = unsafe { libc::dlsym(library, c"ncclGetVersion".as_ptr()) };
    let unknown = || Unavailable::NotComplete { library: of.clone(), missing: "ncclGetVersion" };
    if address.is_null() {
        return Err(unknown());
    }
    // SAFETY: a function of this name has this type in `nccl.h`, in every version.
    let ask: unsafe extern "C" fn(*mut c_int) -> ncclResult_t = unsafe { mem::transmute(address) };
    let mut version = 0;
    // SAFETY: `version` is a writable variable.
    if unsafe { ask(&raw mut version) } != ncclSuccess {
        return Err(unknown());
    }
    if version < OLDEST {
        return Err(Unavailable::TooOld { found: version });
    }
    Ok(Nccl { version, ..Nccl::find(library, &of)? })
}

/// NCCL, opened at the first call. The result stays the same until the process ends.
///
/// # Errors
/// [`Unavailable`], with the reason and the remedy.
pub fn nccl() -> Result<&'static Nccl, Unavailable> {
    static NCCL: OnceLock<Result<Nccl, Unavailable>> = OnceLock::new();
    // If the user names a library, only that one counts: a fallback would hide a typo.
    let loaded =
        NCCL.get_or_init(|| load(env::var_os(LIBRARY_VARIABLE).unwrap_or_else(|| USUAL.into())));
    loaded.as_ref().map_err(Clone::clone)
}
