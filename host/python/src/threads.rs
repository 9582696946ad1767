//! The worker threads, of which a forked process needs new ones.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The threads of this process, or null before the first call. Never freed.
// Not a lock: a fork while another thread holds it would leave it locked.
static POOL: AtomicPtr<ThreadPool> = AtomicPtr::new(ptr::null_mut());

/// Runs `work` on all cores, without the lock of the interpreter.
pub(crate) fn on_all_cores<R: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> R + Send,
) -> PyResult<R> {
    let pool = pool()?;
    Ok(py.detach(|| pool.install(work)))
}

fn pool() -> PyResult<&'static ThreadPool> {
    let known = POOL.load(Ordering::Acquire);
    // SAFETY: it is null or was leaked below.
    if let Some(pool) = unsafe { known.as_ref() } {
        return Ok(pool);
    }
    let new = ThreadPoolBuilder::new().build().map_err(|error| {
        PyOSError::new_err(format!("the worker threads could not start: {error}"))
    })?;
    let new = Box::into_raw(Box::new(new));
    match POOL.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: it was leaked above, and nothing frees it.
        Ok(_) => Ok(unsafe { &*new }),
        Err(other) => {
            // SAFETY: no other thread has seen the new one. The other one was leaked by another thread.
            unsafe {
                drop(Box::from_raw(new));
                Ok(&*other)
            }
        }
    }
}

/// Forgets the threads, which do not exist in a forked process. The first call there starts new ones.
#[pyfunction]
pub(crate) fn after_fork() {
    POOL.store(ptr::null_mut(), Ordering::Release);
}
