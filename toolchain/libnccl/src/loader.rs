//! Opening the library, once, and finding its functions.

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

/// The environment variable that names a library to open in place of `libnccl.so.2`.
pub const LIBRARY_VARIABLE: &str = "GRIDSYNC_LIBNCCL";

/// The name of the library on Linux, as `ldconfig` knows it.
const USUAL: &str = "libnccl.so.2";

/// Why NCCL cannot be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unavailable {
    /// The library could not be opened.
    #[error(
        "there is no NCCL ({said}); install it, for example as libnccl2 or as the Python package nvidia-nccl-cu12, \
         or name its libnccl.so.2 in {LIBRARY_VARIABLE}"
    )]
    NotOpened {
        /// What the dynamic loader said.
        said: String,
    },
    /// The library lacks a function, or does not tell its version.
    #[error(
        "{library} is not the NCCL that is needed: {missing} is missing; install NCCL 2.14 or newer, \
         or name its libnccl.so.2 in {LIBRARY_VARIABLE}"
    )]
    NotComplete {
        /// The library.
        library: String,
        /// What it lacks.
        missing: &'static str,
    },
    /// The library is too old.
    #[error(
        "NCCL {}.{}.{} is too old, since its calls block without end when a rank is lost: install NCCL 2.14 or newer, \
         or name its libnccl.so.2 in {LIBRARY_VARIABLE}",
        version_of(*.found)[0], version_of(*.found)[1], version_of(*.found)[2]
    )]
    TooOld {
        /// Its version, as `ncclGetVersion` gives it.
        found: c_int,
    },
}

/// Declares the table of functions, and looks them up.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The functions of the library.
        ///
        /// Each is as NCCL documents it. To call one is `unsafe`: pointers have to be valid for
        /// what it reads and writes, communicators alive, and streams of the device of the
        /// communicator.
        #[derive(Debug)]
        pub struct Nccl {
            version: c_int,
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($argument: $type),*) -> $result,)*
        }

        impl Nccl {
            /// Looks all functions up in `library`, whose name is `of`.
            fn find(library: *mut c_void, of: &str) -> Result<Self, Unavailable> {
                Ok(Self {
                    version: 0,
                    $($name: {
                        let symbol = concat!(stringify!($name), "\0");
                        // SAFETY: the handle came from `dlopen` and is never closed; the name ends
                        // with NUL.
                        let address = unsafe { libc::dlsym(library, symbol.as_ptr().cast()) };
                        if address.is_null() {
                            let missing = stringify!($name);
                            return Err(Unavailable::NotComplete { library: of.into(), missing });
                        }
                        // SAFETY: a function of this name has this type in `nccl.h`, from 2.14 on.
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
    /// Makes the name of a new group of ranks.
    fn ncclGetUniqueId(id: *mut ncclUniqueId) -> ncclResult_t;
    /// Joins the group `id` as rank `rank` of `ranks`, on the current device of the calling thread.
    fn ncclCommInitRankConfig(
        comm: *mut ncclComm_t,
        ranks: c_int,
        id: ncclUniqueId,
        rank: c_int,
        config: *mut ncclConfig_t
    ) -> ncclResult_t;
    /// Brings `count` values of each rank to all ranks, in the order of the ranks.
    fn ncclAllGather(
        from: *const c_void,
        to: *mut c_void,
        count: usize,
        of: ncclDataType_t,
        comm: ncclComm_t,
        stream: cudaStream_t
    ) -> ncclResult_t;
    /// How the calls that have returned go on.
    fn ncclCommGetAsyncError(comm: ncclComm_t, error: *mut ncclResult_t) -> ncclResult_t;
    /// Begins to end a communicator whose work is done.
    fn ncclCommFinalize(comm: ncclComm_t) -> ncclResult_t;
    /// Frees a communicator.
    fn ncclCommDestroy(comm: ncclComm_t) -> ncclResult_t;
    /// Frees a communicator, and stops what it still does on the device.
    fn ncclCommAbort(comm: ncclComm_t) -> ncclResult_t;
    /// What a result means, as text that is never freed.
    fn ncclGetErrorString(result: ncclResult_t) -> *const c_char;
    /// What went wrong last, as text that the library keeps; `comm` may be null.
    fn ncclGetLastError(comm: ncclComm_t) -> *const c_char;
}

impl Nccl {
    /// The version of the library: see [`version_of`].
    #[must_use]
    pub const fn version(&self) -> c_int {
        self.version
    }

    /// What `result` means, and what went wrong last, in words: for a message.
    #[must_use]
    pub fn tell(&self, result: ncclResult_t) -> String {
        // SAFETY: any number may be asked about.
        let meaning = text(unsafe { (self.ncclGetErrorString)(result) });
        // SAFETY: without a communicator it tells what went wrong last in this process.
        let last = text(unsafe { (self.ncclGetLastError)(std::ptr::null_mut()) });
        let more = [meaning, last].into_iter().filter(|text| !text.is_empty());
        let more: Vec<_> = more.collect();
        match more.is_empty() {
            true => result.to_string(),
            false => format!("{result}: {}", more.join("; ")),
        }
    }
}

/// Text of the library, in one line.
fn text(at: *const c_char) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: NCCL gives text that ends with NUL and that it keeps.
    let text = unsafe { CStr::from_ptr(at) }.to_string_lossy();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Opens `path`, or returns the dynamic loader's error.
fn open(path: OsString) -> Result<*mut c_void, String> {
    let path = CString::new(path.into_vec())
        .map_err(|path| format!("{:?} has a NUL in it", path.into_vec()))?;
    // SAFETY: `path` ends with NUL. The initialisers that run belong to the NCCL that the user
    // installed or named; opening it means running them.
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
    // The version comes first, so that an old library is told as old and not as incomplete.
    // SAFETY: the handle came from `dlopen` and is never closed; the name ends with NUL.
    let address = unsafe { libc::dlsym(library, c"ncclGetVersion".as_ptr()) };
    let unknown = || Unavailable::NotComplete { library: of.clone(), missing: "ncclGetVersion" };
    if address.is_null() {
        return Err(unknown());
    }
    // SAFETY: a function of this name has this type in `nccl.h`, in every version.
    let ask: unsafe extern "C" fn(*mut c_int) -> ncclResult_t = unsafe { mem::transmute(address) };
    let mut version = 0;
    // SAFETY: the version is there to be written.
    if unsafe { ask(&raw mut version) } != ncclSuccess {
        return Err(unknown());
    }
    if version < OLDEST {
        return Err(Unavailable::TooOld { found: version });
    }
    Ok(Nccl { version, ..Nccl::find(library, &of)? })
}

/// NCCL, opened at the first call. The answer stays the same until the process ends.
///
/// # Errors
/// [`Unavailable`], with the reason and what to do.
pub fn nccl() -> Result<&'static Nccl, Unavailable> {
    static NCCL: OnceLock<Result<Nccl, Unavailable>> = OnceLock::new();
    // If the user names a library, only that one counts: a fallback would hide a typo.
    let loaded =
        NCCL.get_or_init(|| load(env::var_os(LIBRARY_VARIABLE).unwrap_or_else(|| USUAL.into())));
    loaded.as_ref().map_err(Clone::clone)
}
