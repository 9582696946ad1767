//! Host memory: how much is free, and arrays that return an error if they do not fit.
//!
//! A failed allocation in plain Rust ends the process. Here it is an error with the numbers. An
//! array that the system would promise but could not deliver is refused too, if the system reports
//! how much is free.

use bytemuck::Zeroable;
#[cfg(target_os = "linux")]
use std::fs;

/// An array that does not fit into host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes do not fit in memory{}", of_which(*.free))]
pub struct NoRoom {
    /// The requested bytes.
    pub bytes: u64,
    /// The free bytes, if the system reports them.
    pub free: Option<u64>,
}

fn of_which(free: Option<u64>) -> String {
    free.map_or_else(String::new, |free| format!(", of which {free} are free"))
}

/// Smaller arrays are not compared with the free memory: querying it would take longer than
/// allocating.
const WORTH_ASKING: usize = 64 << 20;

/// Reserves capacity for `more` elements in `array`.
///
/// # Errors
/// [`NoRoom`].
pub fn reserve<T>(array: &mut Vec<T>, more: usize) -> Result<(), NoRoom> {
    if array.capacity() - array.len() >= more {
        return Ok(());
    }
    let bytes = (array.len().saturating_add(more)).saturating_mul(size_of::<T>());
    promised(bytes)?;
    array.try_reserve(more).map_err(|_| no_room(bytes))
}

/// `len` elements whose bytes are all zero.
///
/// # Errors
/// [`NoRoom`].
pub fn zeroed<T: Zeroable>(len: usize) -> Result<Vec<T>, NoRoom> {
    let bytes = len.saturating_mul(size_of::<T>());
    promised(bytes)?;
    bytemuck::allocation::try_zeroed_vec(len).map_err(|()| no_room(bytes))
}

/// Allocates this many bytes and frees them, before code that allocates but cannot report an error.
///
/// # Errors
/// [`NoRoom`].
pub fn probe(bytes: usize) -> Result<(), NoRoom> {
    reserve(&mut Vec::<u8>::new(), bytes)
}

/// Requests pages of 2 MiB for memory that has not been touched yet. A file fills them twice as
/// fast as pages of 4 KiB, whose faults take as long as the copy. A refusal by the system is not an
/// error.
pub fn ask_for_huge_pages<T>(memory: &mut [T]) {
    const { assert!(size_of::<T>() == 1, "memory is asked for by bytes") };
    // Below this, the whole huge pages inside are too few to matter.
    const WORTHWHILE: usize = 4 << 20;
    // madvise(2) needs a page-aligned address; this alignment works for any size of small pages.
    const HUGE_PAGE: usize = 2 << 20;
    if memory.len() < WORTHWHILE {
        return;
    }
    let before = memory.as_ptr().align_offset(HUGE_PAGE);
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
    if let Some(pages) = memory.get_mut(before..) {
        #[cfg(target_os = "linux")]
        // SAFETY: the range is memory that we borrow exclusively, and this advice changes neither
        // its content nor its protection; where it cannot apply, it changes nothing and reports an
        // error.
        unsafe {
            libc::madvise(pages.as_mut_ptr().cast(), pages.len(), libc::MADV_HUGEPAGE);
        }
    }
}

/// Refuses more bytes than are free.
fn promised(bytes: usize) -> Result<(), NoRoom> {
    if bytes >= WORTH_ASKING && free().is_some_and(|free| bytes as u64 > free) {
        Err(no_room(bytes))
    } else {
        Ok(())
    }
}

/// The error for this many bytes.
pub(crate) fn no_room(bytes: usize) -> NoRoom {
    NoRoom { bytes: bytes as u64, free: free() }
}

/// Bytes that this process can still allocate and use, if the system reports them: free memory and
/// swap, or less if the process or its control group has a lower limit.
#[must_use]
pub fn free() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let limits = [of_the_machine(), of_the_process(), of_the_group()];
        limits.into_iter().flatten().min()
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Free memory and swap (proc_meminfo(5)).
#[cfg(target_os = "linux")]
fn of_the_machine() -> Option<u64> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes = |name: &str| -> Option<u64> {
        let line = table.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some((kibibytes("MemAvailable:")? + kibibytes("SwapFree:").unwrap_or(0)) << 10)
}

/// The remainder of the address space limit (getrlimit(2), proc_pid_statm(5)).
#[cfg(target_os = "linux")]
fn of_the_process() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer to the structure is valid for writes.
    let answered = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if !answered || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split_whitespace().next()?.parse().ok()?;
    // SAFETY: the call does not access our memory.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    Some(limit.rlim_cur.saturating_sub(pages * page))
}

/// The remainder of the control group's limit, counting its cached files as free ("Control Group
/// v2" of the kernel's documentation).
#[cfg(target_os = "linux")]
fn of_the_group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let folders = [format!("/sys/fs/cgroup{own}"), "/sys/fs/cgroup".into()];
    let folder = folders
        .into_iter()
        .find(|folder| fs::exists(format!("{folder}/memory.max")).unwrap_or(false))?;
    let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).ok();
    // Without a limit it is `max`, which is not a number.
    let limit: u64 = read("memory.max")?.trim().parse().ok()?;
    let used: u64 = read("memory.current")?.trim().parse().ok()?;
    let cached = read("memory.stat").and_then(|table| {
        let line = table.lines().find_map(|line| line.strip_prefix("inactive_file "))?;
        line.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_that_does_not_fit_is_an_error_with_its_bytes() {
        for error in [
            zeroed::<u64>(1 << 60).err(),
            reserve(&mut Vec::<u64>::new(), 1 << 60).err(),
            probe(1 << 63).err(),
        ] {
            let error = error.expect("no machine has so much");
            assert_eq!(error.bytes, 1 << 63);
            assert_eq!(error.free.is_some(), cfg!(target_os = "linux"), "{error}");
        }
        let overflows = zeroed::<u64>(usize::MAX).expect_err("no machine has so much");
        assert_eq!(overflows.bytes, u64::MAX);
    }

    #[test]
    fn an_array_that_fits_is_zeroed() {
        assert_eq!(zeroed::<u32>(5), Ok(vec![0; 5]));
        let mut array = vec![1u8, 2];
        assert_eq!(reserve(&mut array, 100), Ok(()));
        assert!(array.capacity() >= 102);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn free_memory_is_known() {
        let free = free().expect("Linux tells");
        assert!(free > 1 << 20 && free < 1 << 50, "{free}");
    }
}
