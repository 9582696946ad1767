//! An all-gather from GPU to GPU by NCCL that never waits for a dead rank.
//!
//! The communicator is nonblocking: a call returns immediately, and its state is polled until it is
//! done. Each poll also checks the connections for a lost rank, and the deadline. If either fails,
//! the communicator is aborted, which also stops its kernels.

#![allow(non_upper_case_globals, reason = "NCCL's own names, in patterns")]

use super::RanksError;
use super::link::Link;
use gridsync::device::{Device, DeviceError};
use libnccl::{
    NCCL_UNIQUE_ID_BYTES, Nccl, cudaStream_t, ncclComm_t, ncclConfig_t, ncclInProgress,
    ncclResult_t, ncclSuccess, ncclUint8, ncclUniqueId,
};
use std::ffi::c_char;
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

/// Sleep between two polls.
const PAUSE: Duration = Duration::from_micros(50);

/// How long to wait at the end for the other ranks.
const FAREWELL: Duration = Duration::from_secs(2);

/// Creates the id of a new group of ranks, on rank 0.
///
/// # Errors
/// [`RanksError::Nccl`].
pub(super) fn new_id() -> Result<[u8; NCCL_UNIQUE_ID_BYTES], RanksError> {
    let doing = "making the id of the ranks";
    let nccl = libnccl::nccl().map_err(|why| failed(doing, why.to_string()))?;
    let mut id = ncclUniqueId { internal: [0; NCCL_UNIQUE_ID_BYTES] };
    // SAFETY: the pointer to the id is valid for writes.
    match unsafe { (nccl.ncclGetUniqueId)(&raw mut id) } {
        ncclSuccess => Ok(id.internal.map(|byte| byte as u8)),
        result => Err(failed(doing, nccl.tell(result))),
    }
}

/// This rank's member of a group of ranks, on its device.
pub(super) struct Communicator {
    nccl: &'static Nccl,
    /// Null after an abort.
    comm: ncclComm_t,
    device: Device,
}

impl Communicator {
    /// Joins the group `id` as the rank of `link`.
    ///
    /// # Errors
    /// If NCCL or the device fails, if a rank is lost, and with [`RanksError::NcclLate`].
    pub(super) fn new(device: &Device, id: &[u8], link: &mut Link) -> Result<Self, RanksError> {
        let doing = "bringing the ranks together";
        let nccl = libnccl::nccl().map_err(|why| failed(doing, why.to_string()))?;
        let mut internal: [c_char; NCCL_UNIQUE_ID_BYTES] = [0; NCCL_UNIQUE_ID_BYTES];
        if id.len() != internal.len() {
            return Err(failed(doing, format!("rank 0 has sent an id of {} bytes", id.len())));
        }
        internal.iter_mut().zip(id).for_each(|(to, &from)| *to = from as c_char);
        let mut config = ncclConfig_t::without_blocking();
        let mut this = Self { nccl, comm: ptr::null_mut(), device: device.clone() };
        // NCCL uses the device whose context is current.
        this.stream(doing)?;
        let (size, rank) = (link.size() as i32, link.rank() as i32);
        // SAFETY: the pointers to the communicator and the config are valid, and NCCL made the id.
        let result = unsafe {
            (nccl.ncclCommInitRankConfig)(
                &raw mut this.comm,
                size,
                ncclUniqueId { internal },
                rank,
                &raw mut config,
            )
        };
        this.finish(doing, result, link)?;
        Ok(this)
    }

    /// Returns the bytes of all ranks, whose lengths are `lens`.
    ///
    /// # Errors
    /// If NCCL or the device fails, if a rank is lost, and with [`RanksError::NcclLate`].
    pub(super) fn all_gather(
        &mut self,
        own: &[u8],
        lens: &[usize],
        link: &mut Link,
    ) -> Result<Vec<Vec<u8>>, RanksError> {
        let doing = "gathering the leaves";
        let longest = lens.iter().copied().max().unwrap_or(0);
        if longest == 0 {
            return Ok(vec![Vec::new(); lens.len()]);
        }
        // NCCL needs the same number of bytes from each rank.
        let mut padded = own.to_vec();
        padded.resize(longest, 0);
        let of_device = |error: DeviceError| failed(doing, error.to_string());
        let from = self.device.upload(&padded).map_err(of_device)?;
        let to = self.device.alloc::<u8>(longest * lens.len()).map_err(of_device)?;
        let stream = self.stream(doing)?;
        // SAFETY: both buffers are on the communicator's device and large enough. They are dropped
        // only after the stream has been waited for, or after the abort, which ends the kernel.
        let result = unsafe {
            (self.nccl.ncclAllGather)(
                from.address() as *const _,
                to.address() as *mut _,
                longest,
                ncclUint8,
                self.comm,
                stream,
            )
        };
        self.finish(doing, result, link)?;
        self.drain(doing, link)?;
        let all = to.download().map_err(of_device)?;
        Ok(all.chunks(longest).zip(lens).map(|(bytes, &len)| bytes[..len].to_vec()).collect())
    }

    /// The device's stream. Makes its context current on this thread.
    fn stream(&self, doing: &'static str) -> Result<cudaStream_t, RanksError> {
        match self.device.backend().cuda_stream() {
            Ok(Some(stream)) => Ok(stream.cast()),
            Ok(None) => Err(failed(doing, "this is not a CUDA device".into())),
            Err(error) => Err(failed(doing, error.to_string())),
        }
    }

    /// Waits until a call that returned `result` is done.
    fn finish(
        &mut self,
        doing: &'static str,
        mut result: ncclResult_t,
        link: &mut Link,
    ) -> Result<(), RanksError> {
        let deadline = Instant::now() + link.timeout();
        while result == ncclInProgress && !self.comm.is_null() {
            self.go_on(doing, deadline, link)?;
            result = self.state();
        }
        match result {
            ncclSuccess => Ok(()),
            result => Err(self.aborted(failed(doing, self.nccl.tell(result)))),
        }
    }

    /// Waits until the stream is empty.
    fn drain(&mut self, doing: &'static str, link: &mut Link) -> Result<(), RanksError> {
        let deadline = Instant::now() + link.timeout();
        loop {
            match self.device.backend().is_idle() {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => return Err(self.aborted(failed(doing, error.to_string()))),
            }
            match self.state() {
                ncclSuccess | ncclInProgress => self.go_on(doing, deadline, link)?,
                result => return Err(self.aborted(failed(doing, self.nccl.tell(result)))),
            }
        }
    }

    /// The state of the calls made so far.
    fn state(&self) -> ncclResult_t {
        let mut state = ncclSuccess;
        // SAFETY: the communicator is alive, and the pointer to the state is valid for writes.
        match unsafe { (self.nccl.ncclCommGetAsyncError)(self.comm, &raw mut state) } {
            ncclSuccess => state,
            failed => failed,
        }
    }

    /// Sleeps briefly. Aborts if a rank is lost or the deadline has passed.
    fn go_on(
        &mut self,
        doing: &'static str,
        deadline: Instant,
        link: &mut Link,
    ) -> Result<(), RanksError> {
        if let Err(lost) = link.check() {
            return Err(self.aborted(lost));
        }
        if Instant::now() >= deadline {
            let seconds = link.timeout().as_secs_f64();
            return Err(self.aborted(RanksError::NcclLate { doing, seconds }));
        }
        thread::sleep(PAUSE);
        Ok(())
    }

    /// Aborts because of `error`, and returns it.
    fn aborted(&mut self, error: RanksError) -> RanksError {
        if !self.comm.is_null() {
            // SAFETY: the communicator is alive and is not used after this.
            let _ended = unsafe { (self.nccl.ncclCommAbort)(self.comm) };
            self.comm = ptr::null_mut();
        }
        error
    }

    /// Ends the communicator immediately, with any work in progress.
    pub(super) fn abort(mut self) {
        if !self.comm.is_null() {
            // SAFETY: the communicator is alive and is not used after this.
            let _ended = unsafe { (self.nccl.ncclCommAbort)(self.comm) };
            self.comm = ptr::null_mut();
        }
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if self.comm.is_null() || self.stream("ending").is_err() {
            // After a device fault the driver frees everything when the process exits.
            return;
        }
        let deadline = Instant::now() + FAREWELL;
        // SAFETY: the communicator is alive, and its work is done.
        let mut result = unsafe { (self.nccl.ncclCommFinalize)(self.comm) };
        while result == ncclInProgress && Instant::now() < deadline {
            thread::sleep(PAUSE);
            result = self.state();
        }
        // SAFETY: the communicator is alive and is not used after this.
        let _ended = unsafe {
            match result {
                ncclSuccess => (self.nccl.ncclCommDestroy)(self.comm),
                _ => (self.nccl.ncclCommAbort)(self.comm),
            }
        };
    }
}

fn failed(doing: &'static str, why: String) -> RanksError {
    RanksError::Nccl { doing, why }
}
