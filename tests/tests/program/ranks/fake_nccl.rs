//! An NCCL for processes on one machine that use the fake driver: they meet in the folder
//! `FAKE_NCCL_FOLDER`, and record their actions as files there. `FAKE_NCCL` can be `old`, `hangs`
//! (in the all-gather), or `fails` (there).

use std::env;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fs;
use std::mem;
use std::path::PathBuf;

const SUCCESS: c_int = 0;
const INVALID_ARGUMENT: c_int = 4;
const REMOTE_ERROR: c_int = 6;
const IN_PROGRESS: c_int = 7;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

#[repr(C)]
pub struct Id([u8; 128]);

#[repr(C)]
pub struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: i32,
    cga_cluster_size: i32,
}

pub struct Comm {
    rank: c_int,
    ranks: c_int,
    gathers: u32,
    /// The destination of the bytes of all ranks, the bytes of each rank, and the stream.
    pending: Option<(u64, usize, usize)>,
}

fn mode(is: &str) -> bool {
    env::var("FAKE_NCCL").is_ok_and(|mode| mode == is)
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env::var_os("FAKE_NCCL_FOLDER").expect("a folder")).join(name)
}

/// Writes a file that is whole as soon as it exists.
fn leave(name: &str, bytes: &[u8]) {
    let partial = file(&format!("partial.{name}"));
    fs::write(&partial, bytes).expect("the folder takes files");
    fs::rename(partial, file(name)).expect("the folder takes files");
}

/// A function of the driver, which is already loaded.
fn driver(name: &str) -> *mut c_void {
    let path = CString::new(env::var("GRIDSYNC_LIBCUDA").expect("a driver")).expect("no NUL");
    let name = CString::new(name).expect("no NUL");
    // SAFETY: both end with NUL.
    let found = unsafe { dlsym(dlopen(path.as_ptr(), 2), name.as_ptr()) };
    assert!(!found.is_null(), "{name:?}");
    found
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetVersion(version: &mut c_int) -> c_int {
    *version = if mode("old") { 21_212 } else { 22_703 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetUniqueId(id: &mut Id) -> c_int {
    id.0 = std::array::from_fn(|at| at as u8 ^ 0xa5);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommInitRankConfig(
    comm: &mut *mut Comm,
    ranks: c_int,
    id: Id,
    rank: c_int,
    config: &Config,
) -> c_int {
    let is_right = config.size == 24
        && config.magic == 0xcafebeef
        && config.version == 21_400
        && config.blocking == 0
        && config.cga_cluster_size == i32::MIN
        && id.0 == std::array::from_fn(|at| at as u8 ^ 0xa5);
    if !is_right {
        return INVALID_ARGUMENT;
    }
    *comm = Box::into_raw(Box::new(Comm { rank, ranks, gathers: 0, pending: None }));
    leave(&format!("init.{rank}"), b"");
    IN_PROGRESS
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclAllGather(
    from: u64,
    to: u64,
    count: usize,
    of: c_int,
    comm: &mut Comm,
    stream: usize,
) -> c_int {
    if of != 1 || comm.pending.is_some() {
        return INVALID_ARGUMENT;
    }
    let mut bytes = vec![0u8; count];
    type Copy = unsafe extern "C" fn(*mut u8, u64, usize, usize) -> u32;
    // SAFETY: the driver has a function of this type with this name, and the bytes exist.
    let copied = unsafe {
        let copy: Copy = mem::transmute(driver("cuMemcpyDtoHAsync_v2"));
        copy(bytes.as_mut_ptr(), from, count, stream)
    };
    assert_eq!(copied, 0, "the bytes of this rank");
    comm.pending = Some((to, count, stream));
    leave(&format!("gather.{}.{}", comm.gathers, comm.rank), &bytes);
    IN_PROGRESS
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommGetAsyncError(comm: &mut Comm, error: &mut c_int) -> c_int {
    *error = IN_PROGRESS;
    if (0..comm.ranks).any(|rank| !file(&format!("init.{rank}")).exists()) {
        return SUCCESS;
    }
    let Some((to, count, stream)) = comm.pending else {
        *error = SUCCESS;
        return SUCCESS;
    };
    let files: Vec<_> =
        (0..comm.ranks).map(|rank| file(&format!("gather.{}.{rank}", comm.gathers))).collect();
    if mode("hangs") || files.iter().any(|file| !file.exists()) {
        return SUCCESS;
    }
    if mode("fails") {
        *error = REMOTE_ERROR;
        return SUCCESS;
    }
    let all = files.into_iter().flat_map(|file| fs::read(file).expect("it is there"));
    let all: Vec<u8> = all.collect();
    assert_eq!(all.len(), count * comm.ranks as usize, "as many bytes of each rank");
    type Copy = unsafe extern "C" fn(u64, *const u8, usize, usize) -> u32;
    // SAFETY: the driver has a function of this type with this name, and the bytes exist.
    let copied = unsafe {
        let copy: Copy = mem::transmute(driver("cuMemcpyHtoDAsync_v2"));
        copy(to, all.as_ptr(), all.len(), stream)
    };
    assert_eq!(copied, 0, "the bytes of all ranks");
    comm.gathers += 1;
    comm.pending = None;
    *error = SUCCESS;
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclCommFinalize(_comm: &mut Comm) -> c_int {
    IN_PROGRESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommDestroy(comm: *mut Comm) -> c_int {
    // SAFETY: it was created above, and nothing uses it any longer.
    let comm = unsafe { Box::from_raw(comm) };
    leave(&format!("destroyed.{}", comm.rank), b"");
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommAbort(comm: *mut Comm) -> c_int {
    // SAFETY: it was created above, and nothing uses it any longer.
    let comm = unsafe { Box::from_raw(comm) };
    leave(&format!("aborted.{}", comm.rank), b"");
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(result: c_int) -> *const c_char {
    match result {
        REMOTE_ERROR => c"a remote process exited or there was a network error".as_ptr(),
        _ => c"another error".as_ptr(),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_comm: *const Comm) -> *const c_char {
    c"the cable\nhas been pulled".as_ptr()
}
