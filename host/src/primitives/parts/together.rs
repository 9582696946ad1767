//! Concurrent work on several devices.

use crate::device::{Device, DeviceError};
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The time that several devices needed concurrently, in µs: the maximum, or the sum if they
/// `share` a GPU, because its time is divided among them.
pub(super) fn at_once(times: impl Iterator<Item = f64>, share: bool) -> f64 {
    if share { times.sum() } else { times.fold(0.0, f64::max) }
}

/// An error of device `gpu` of `count`, which names the device if there are several.
pub(super) fn of_gpu(
    error: DeviceError,
    (gpu, count): (usize, usize),
    device: &Device,
) -> DeviceError {
    if count > 1 { error.on_gpu(gpu, device) } else { error }
}

/// Calls `work` for each of `all`, and returns the results in order. If there are several, each
/// gets a thread, because a copy between a device and host memory blocks. If the system refuses a
/// thread, the calling thread does its work.
///
/// # Errors
/// The first error, in order.
///
/// # Panics
/// If `work` does.
pub(in crate::primitives) fn on_each<W: Send, R: Send, E: Send>(
    all: impl IntoIterator<Item = W>,
    work: impl Fn(W) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let all: Vec<_> = all.into_iter().map(|one| Mutex::new((Some(one), None))).collect();
    concurrently(all.len(), &|number| {
        // No other call has this number, so this never blocks.
        let (one, result) = &mut *all[number].lock().unwrap_or_else(PoisonError::into_inner);
        *result = one.take().map(&work);
    });
    let result = |one: Mutex<(_, Option<_>)>| {
        one.into_inner().unwrap_or_else(PoisonError::into_inner).1.expect("each has been done")
    };
    all.into_iter().map(result).collect()
}

/// Calls `work` with each number below `count`, each in another thread. This is built once, not
/// for each kind of work.
fn concurrently(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let Some(last) = count.checked_sub(1) else { return };
    thread::scope(|scope| {
        let begin = |number| thread::Builder::new().spawn_scoped(scope, move || work(number));
        let others: Vec<_> = (0..last).map(begin).collect();
        work(last);
        for (number, thread) in others.into_iter().enumerate() {
            match thread {
                Ok(thread) => thread.join().unwrap_or_else(|payload| resume_unwind(payload)),
                Err(_) => work(number),
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_the_first_error_is_returned() {
        assert_eq!(on_each(Vec::<u32>::new(), Ok::<u32, ()>), Ok(vec![]));
        assert_eq!(on_each([1, 2, 3], |n| Ok::<u32, ()>(n * n)), Ok(vec![1, 4, 9]));
        let odd = |n: u32| if n.is_multiple_of(2) { Ok(n) } else { Err(n) };
        assert_eq!(on_each([2, 3, 5, 4], odd), Err(3));
    }
}
