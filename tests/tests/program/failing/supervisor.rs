//! Runs a program, and makes one of its calls to the file system fail.
//!
//! The kernel passes each such call to this process before it runs the call (seccomp_unotify(2)),
//! from any library and any thread of the program. This process counts the call, and lets it go on
//! or gives it an error.

use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

/// The descriptor in the program through which the kernel passes on its calls.
const LISTENER: i32 = 250;

/// A program that makes no call for this many ms hangs.
const HANGS: i32 = 120_000;

/// The file of a call.
enum About {
    /// The file that is open as the first argument.
    Open,
    /// The path in this argument. Relative paths start at the folder.
    Path(usize),
}

/// A call that can fail.
struct Watched {
    number: i64,
    name: &'static str,
    about: About,
    /// Whether it needs room on the disk; `openat` for reading does not.
    takes_room: bool,
}

const fn watched(number: i64, name: &'static str, about: About, takes_room: bool) -> Watched {
    Watched { number, name, about, takes_room }
}

const WATCHED: &[Watched] = &[
    watched(libc::SYS_openat, "openat", About::Path(1), true),
    watched(libc::SYS_read, "read", About::Open, false),
    watched(libc::SYS_pread64, "pread", About::Open, false),
    watched(libc::SYS_write, "write", About::Open, true),
    watched(libc::SYS_pwrite64, "pwrite", About::Open, true),
    watched(libc::SYS_writev, "writev", About::Open, true),
    watched(libc::SYS_ftruncate, "ftruncate", About::Open, true),
    watched(libc::SYS_fallocate, "fallocate", About::Open, true),
    watched(libc::SYS_fchmod, "fchmod", About::Open, false),
    watched(libc::SYS_fsync, "fsync", About::Open, false),
    watched(libc::SYS_fdatasync, "fdatasync", About::Open, false),
    watched(libc::SYS_linkat, "linkat", About::Path(3), true),
    #[cfg(target_arch = "x86_64")]
    watched(libc::SYS_rename, "rename", About::Path(1), false),
    watched(libc::SYS_renameat, "renameat", About::Path(3), false),
    watched(libc::SYS_renameat2, "renameat2", About::Path(3), false),
];

/// The action, and the call that it applies to. The calls that can fail are counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fail {
    /// Nothing happens.
    None,
    /// This call fails.
    Once(u64),
    /// This call fails, and so do all later ones that need room on the disk.
    DiskFull(u64),
    /// The program receives this signal at this call, which continues. The system pretends that it
    /// cannot create files without a name.
    Signal(u64, i32),
}

impl Fail {
    /// The number of the call; 0 for none.
    fn at(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Once(at) | Self::DiskFull(at) | Self::Signal(at, _) => at,
        }
    }
}

/// A finished run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    /// The first call that failed or at which the signal arrived, if any.
    pub(crate) failed: Option<String>,
}

/// Runs `command` in `folder`, and makes a call fail that uses standard output or a file of the
/// folder.
///
/// # Errors
///
/// Fails if this system does not allow supervising a program, if the program does not start, or
/// with [`TimedOut`](io::ErrorKind::TimedOut) if it makes no call for two minutes and does not end.
pub(crate) fn run(command: &mut Command, folder: &Path, fail: Fail) -> io::Result<Ran> {
    let filter = filter();
    command.current_dir(folder);
    // SAFETY: the closure only makes system calls, with pointers to data that it owns.
    unsafe { command.pre_exec(move || listen(&filter)) };
    let mut child = command.spawn()?;
    let supervised =
        listener_of(&child).and_then(|listener| supervise(&listener, &child, folder, fail));
    if supervised.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    Ok(Ran { status, failed: supervised? })
}

/// The program of the kernel's filter: it passes on the watched calls, and allows all others.
fn filter() -> Vec<libc::sock_filter> {
    let load = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    let equal = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    let give = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, k, jt, jf| libc::sock_filter { code, jt, jf, k };
    // The number of the call comes first in `seccomp_data`.
    let mut filter = vec![step(load, 0, 0, 0)];
    for call in WATCHED {
        filter.push(step(equal, call.number as u32, 0, 1));
        filter.push(step(give, libc::SECCOMP_RET_USER_NOTIF, 0, 0));
    }
    filter.push(step(give, libc::SECCOMP_RET_ALLOW, 0, 0));
    filter
}

/// Makes this process, which is about to become the program, pass on its calls through
/// [`LISTENER`].
fn listen(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the filter lives until the call ends, and the other arguments are numbers.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    // The copy lacks the flag that closes it when the program starts.
    //
    // SAFETY: only numbers.
    if listener < 0 || unsafe { libc::dup2(listener as i32, LISTENER) } < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// A copy of the program's [`LISTENER`] in this process.
fn listener_of(child: &Child) -> io::Result<OwnedFd> {
    let own = |fd: i64| match fd < 0 {
        true => Err(io::Error::last_os_error()),
        // SAFETY: the kernel has just created it, and nothing else owns it.
        false => Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) }),
    };
    // SAFETY: only numbers.
    let process = own(unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) })?;
    // SAFETY: only numbers.
    own(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), LISTENER, 0) })
}

/// Answers each call until the program has ended. Returns the call that failed first.
fn supervise(
    listener: &OwnedFd,
    child: &Child,
    folder: &Path,
    fail: Fail,
) -> io::Result<Option<String>> {
    let (mut count, mut failed) = (0, None);
    while let Some(call) = next_call(listener)? {
        let watched = WATCHED
            .iter()
            .find(|watched| watched.number == i64::from(call.data.nr))
            .expect("the filter hands over no other");
        let about = file_of(&call, &watched.about, folder);
        let about = about.filter(|path| is_ours(path, folder, &call, watched));
        count += u64::from(about.is_some());
        let (is_it, is_later) = (about.is_some() && count == fail.at(), count > fail.at());
        let error = match fail {
            Fail::Once(_) if is_it && !needs_room(&call, watched) => Some(libc::EIO),
            Fail::Once(_) if is_it => Some(libc::ENOSPC),
            Fail::DiskFull(_) if (is_it || is_later) && needs_room(&call, watched) => {
                about.is_some().then_some(libc::ENOSPC)
            }
            Fail::Signal(..) if makes_unnamed(&call, watched) => Some(libc::EOPNOTSUPP),
            _ => None,
        };
        let happens = match fail {
            Fail::Signal(_, signal) if is_it => {
                // SAFETY: only numbers. The child has not been waited for, so its process id has
                // not been reused.
                unsafe { libc::kill(child.id() as i32, signal) == 0 }
            }
            Fail::Signal(..) => false,
            _ => error.is_some(),
        };
        if let (true, Some(path)) = (happens, about) {
            failed.get_or_insert_with(|| format!("{} of {}", watched.name, path.display()));
        }
        answer(listener, call.id, error)?;
    }
    Ok(failed)
}

/// Whether the file is in the folder, or is standard output and written to.
fn is_ours(path: &Path, folder: &Path, call: &libc::seccomp_notif, watched: &Watched) -> bool {
    let writes_out = watched.name.contains("write") && call.data.args[0] == 1;
    path.starts_with(folder) || writes_out
}

/// Whether the call creates a file without a name.
fn makes_unnamed(call: &libc::seccomp_notif, watched: &Watched) -> bool {
    watched.name == "openat" && call.data.args[2] as i32 & libc::O_TMPFILE == libc::O_TMPFILE
}

/// Whether a full disk makes the call fail.
fn needs_room(call: &libc::seccomp_notif, watched: &Watched) -> bool {
    let opens_to_read =
        watched.name == "openat" && call.data.args[2] as i32 & (libc::O_WRONLY | libc::O_RDWR) == 0;
    watched.takes_room && !opens_to_read
}

/// The next call that the kernel passes on, or `None` when the program has ended.
fn next_call(listener: &OwnedFd) -> io::Result<Option<libc::seccomp_notif>> {
    loop {
        let mut ready = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: it points to one entry, and the count is 1.
        match unsafe { libc::poll(&raw mut ready, 1, HANGS) } {
            0 => return Err(io::ErrorKind::TimedOut.into()),
            n if n < 0 => return Err(io::Error::last_os_error()),
            _ if ready.revents & libc::POLLIN == 0 => return Ok(None),
            _ => {}
        }
        // SAFETY: it contains only numbers, so zero is valid. The kernel requires zeros.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: this request writes a `seccomp_notif`.
        let received = unsafe {
            libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call)
        };
        if received == 0 {
            return Ok(Some(call));
        }
        let error = io::Error::last_os_error();
        // The thread that made the call may have ended by now.
        if ![libc::ENOENT, libc::EINTR].map(Some).contains(&error.raw_os_error()) {
            return Err(error);
        }
    }
}

/// Lets a call continue, or makes it fail.
fn answer(listener: &OwnedFd, id: u64, error: Option<i32>) -> io::Result<()> {
    let mut answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: -error.unwrap_or(0),
        flags: match error {
            Some(_) => 0,
            None => libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        },
    };
    // SAFETY: this request reads a `seccomp_notif_resp`.
    let sent = unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer)
    };
    match sent {
        0 => Ok(()),
        // The process has ended.
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT) => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The path that a call uses, if any.
fn file_of(call: &libc::seccomp_notif, about: &About, folder: &Path) -> Option<PathBuf> {
    match *about {
        About::Open => fs::read_link(format!("/proc/{}/fd/{}", call.pid, call.data.args[0])).ok(),
        About::Path(argument) => {
            let memory = File::open(format!("/proc/{}/mem", call.pid)).ok()?;
            let mut bytes = vec![0; libc::PATH_MAX as usize];
            let mut len = 0;
            // Reads up to the end of a page, and continues if the path does.
            while !bytes[..len].contains(&0) {
                let at = call.data.args[argument] + len as u64;
                let end = bytes.len().min(len + 4096 - at as usize % 4096);
                match memory.read_at(&mut bytes[len..end], at) {
                    Ok(0) | Err(_) => return None,
                    Ok(more) => len += more,
                }
            }
            let path = CStr::from_bytes_until_nul(&bytes).ok()?.to_bytes();
            Some(folder.join(OsString::from_vec(path.to_vec())))
        }
    }
}
