//! Runs a program and has one of its calls of the file system fail.
//!
//! The kernel hands each such call to this process before it makes it (seccomp_unotify(2)), whatever library and whatever
//! thread of the program it comes from. Here it is counted, and either goes on or gets an error.

use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

/// Where the program has the other end of what the kernel hands over.
const LISTENER: i32 = 250;

/// ms without a call after which a program hangs.
const HANGS: i32 = 120_000;

/// What a call is about.
enum About {
    /// The file that is open as the first argument.
    Open,
    /// A path: which argument it is. Relative paths are those of the folder.
    Path(usize),
}

/// A call that can fail.
struct Watched {
    number: i64,
    name: &'static str,
    about: About,
    /// Whether it takes room on the disk. That of `openat` takes none if it opens to read.
    takes_room: bool,
}

const fn watched(number: i64, name: &'static str, about: About, takes_room: bool) -> Watched {
    Watched {
        number,
        name,
        about,
        takes_room,
    }
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

/// What happens at which call: the n-th of those that can fail, from 1 on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fail {
    /// Nothing happens.
    None,
    /// That one fails.
    Once(u64),
    /// That one fails, and all later ones for which the disk would need room.
    DiskFull(u64),
    /// The program gets this signal, and the call is made. The system has no files without a name.
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

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    /// The first call that failed, or that the signal came at, if there was one.
    pub(crate) failed: Option<String>,
}

/// Runs `command` in `folder` and has a call fail that is about a file of the folder, or about standard output.
///
/// # Errors
/// If this system lets nobody supervise a program so, if the program does not start, and
/// [`TimedOut`](io::ErrorKind::TimedOut) if it makes no call for two minutes and does not end.
pub(crate) fn run(command: &mut Command, folder: &Path, fail: Fail) -> io::Result<Ran> {
    let filter = filter();
    command.current_dir(folder);
    // SAFETY: the closure only makes system calls, with pointers to what it owns.
    unsafe { command.pre_exec(move || listen(&filter)) };
    let mut child = command.spawn()?;
    let supervised =
        listener_of(&child).and_then(|listener| supervise(&listener, &child, folder, fail));
    if supervised.is_err() {
        child.kill()?;
    }
    let status = child.wait()?;
    Ok(Ran {
        status,
        failed: supervised?,
    })
}

/// A program for the kernel's filter: the watched calls are handed over, all others are made.
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

/// Has this process, which is about to become the program, hand its calls over at [`LISTENER`].
fn listen(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: the program lives until the call ends, and the other arguments are numbers.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    // Without the flag that closes it when the program starts.
    // SAFETY: numbers only.
    match listener < 0 || unsafe { libc::dup2(listener as i32, LISTENER) } < 0 {
        true => Err(io::Error::last_os_error()),
        false => Ok(()),
    }
}

/// This process's own end of the program's [`LISTENER`].
fn listener_of(child: &Child) -> io::Result<OwnedFd> {
    let own = |fd: i64| match fd < 0 {
        true => Err(io::Error::last_os_error()),
        // SAFETY: the kernel gave it just now, and nobody else has it.
        false => Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) }),
    };
    // SAFETY: numbers only.
    let process = own(unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) })?;
    // SAFETY: numbers only.
    own(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), LISTENER, 0) })
}

/// Answers each call until the program has ended; says which failed first.
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
                // SAFETY: numbers only; nobody has waited for the child, so that it is still that one.
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

/// Whether the file is in the folder, or is written to as standard output.
fn is_ours(path: &Path, folder: &Path, call: &libc::seccomp_notif, watched: &Watched) -> bool {
    let writes_out = watched.name.contains("write") && call.data.args[0] == 1;
    path.starts_with(folder) || writes_out
}

/// Whether the call makes a file without a name.
fn makes_unnamed(call: &libc::seccomp_notif, watched: &Watched) -> bool {
    watched.name == "openat" && call.data.args[2] as i32 & libc::O_TMPFILE == libc::O_TMPFILE
}

/// Whether a full disk makes the call fail.
fn needs_room(call: &libc::seccomp_notif, watched: &Watched) -> bool {
    let opens_to_read =
        watched.name == "openat" && call.data.args[2] as i32 & (libc::O_WRONLY | libc::O_RDWR) == 0;
    watched.takes_room && !opens_to_read
}

/// The next call that the kernel hands over; none when the program has ended.
fn next_call(listener: &OwnedFd) -> io::Result<Option<libc::seccomp_notif>> {
    loop {
        let mut ready = libc::pollfd {
            fd: listener.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one of them.
        match unsafe { libc::poll(&raw mut ready, 1, HANGS) } {
            0 => return Err(io::ErrorKind::TimedOut.into()),
            n if n < 0 => return Err(io::Error::last_os_error()),
            _ if ready.revents & libc::POLLIN == 0 => return Ok(None),
            _ => {}
        }
        // SAFETY: numbers, for which zero is a value; the kernel asks for zeros.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: this request writes a `seccomp_notif`.
        let received = unsafe {
            libc::ioctl(
                listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_RECV,
                &raw mut call,
            )
        };
        if received == 0 {
            return Ok(Some(call));
        }
        let error = io::Error::last_os_error();
        // Whoever made the call may be gone by now.
        if ![libc::ENOENT, libc::EINTR]
            .map(Some)
            .contains(&error.raw_os_error())
        {
            return Err(error);
        }
    }
}

/// Has a call made, or fail.
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
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            &raw mut answer,
        )
    };
    match sent {
        0 => Ok(()),
        // The process was ended meanwhile.
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT) => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The path that a call is about, if there is one.
fn file_of(call: &libc::seccomp_notif, about: &About, folder: &Path) -> Option<PathBuf> {
    match *about {
        About::Open => fs::read_link(format!("/proc/{}/fd/{}", call.pid, call.data.args[0])).ok(),
        About::Path(argument) => {
            let memory = File::open(format!("/proc/{}/mem", call.pid)).ok()?;
            let mut bytes = vec![0; libc::PATH_MAX as usize];
            let mut len = 0;
            // Up to the end of its page; a path that goes on is read on.
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
