//! Streams and events, which order the launches of a block.

use super::Error;
use super::sealed::{Place, Queue};
use crate::backend::device_runtime as backend;
use core::marker::PhantomData;
use cuda_std_macros::instruction;

/// The calling thread's block, which owns streams and events.
#[derive(Debug)]
pub struct Block {
    /// Keeps the value in its thread.
    own: PhantomData<*mut ()>,
}

impl Block {
    /// The block of the calling thread.
    #[instruction]
    pub fn this() -> Self {
        Self { own: PhantomData }
    }

    /// The stream that all threads of the block share (`NULL` in CUDA). Each block has its own.
    #[instruction]
    pub fn default_stream(&self) -> Stream<'_> {
        Stream { place: Place::Block, of: PhantomData }
    }

    /// A new stream, in addition to the default one (`cudaStreamCreateWithFlags`,
    /// `cudaStreamNonBlocking`).
    ///
    /// # Errors
    /// If the runtime has no room for it.
    #[instruction]
    pub fn stream(&self) -> Result<Stream<'_>, Error> {
        let place = Place::Made(backend::create_stream()?);
        Ok(Stream { place, of: PhantomData })
    }

    /// A new event (`cudaEventCreateWithFlags`, `cudaEventDisableTiming`). Until it is recorded,
    /// waiting for it has no effect.
    ///
    /// # Errors
    /// If the runtime has no room for it.
    #[instruction]
    pub fn event(&self) -> Result<Event<'_>, Error> {
        Ok(Event { handle: backend::create_event()?, of: PhantomData })
    }
}

/// A stream of a block: its launches run in order.
///
/// A thread uses the streams that it has created, and the default stream of its block. Launches
/// into a stream that is then dropped still run (`cudaStreamDestroy`).
///
/// # What does not compile
///
/// This compiles, and each example below differs from it in one thing:
///
/// ```
/// use cuda_std::device_runtime::{Block, Error};
///
/// fn order() -> Result<(), Error> {
///     let block = Block::this();
///     let (stream, event) = (block.stream()?, block.event()?);
///     event.record(&stream)?;
///     block.default_stream().wait(&event)
/// }
/// ```
///
/// A stream that outlives its block:
///
/// ```compile_fail,E0515
/// # use cuda_std::device_runtime::{Block, Error, Stream};
/// fn order<'a>() -> Result<Stream<'a>, Error> {
///     let block = Block::this();
///     let (stream, event) = (block.stream()?, block.event()?);
///     event.record(&stream)?;
///     block.default_stream().wait(&event)?;
///     Ok(stream)
/// }
/// ```
///
/// A handle that is used after it was moved, which would duplicate it:
///
/// ```compile_fail,E0382
/// # use cuda_std::device_runtime::{Block, Error};
/// fn order() -> Result<(), Error> {
///     let block = Block::this();
///     let (stream, event) = (block.stream()?, block.event()?);
///     drop(event);
///     event.record(&stream)?;
///     block.default_stream().wait(&event)
/// }
/// ```
///
/// A handle in device memory:
///
/// ```compile_fail,E0599
/// # use cuda_std::device_runtime::{Block, Error, Stream};
/// # use cuda_std::memory::Global;
/// fn order(memory: Global<u64>) -> Result<(), Error> {
///     let block = Block::this();
///     let stored = unsafe { Global::<Stream<'_>>::from_address(memory.address(), 1) };
///     Ok(())
/// }
/// ```
///
/// A handle in another thread, which only the host has:
///
/// ```compile_fail,E0277
/// # use cuda_std::device_runtime::{Block, Error};
/// fn order() -> Result<(), Error> {
///     let block = Block::this();
///     let (stream, event) = (block.stream()?, block.event()?);
///     std::thread::scope(|scope| scope.spawn(|| event.record(&stream)).join()).expect("it ends")?;
///     block.default_stream().wait(&event)
/// }
/// ```
///
/// An event in a queue that does not support events:
///
/// ```compile_fail,E0308
/// # use cuda_std::device_runtime::{Block, Error, TailLaunch};
/// fn order() -> Result<(), Error> {
///     let block = Block::this();
///     let (stream, event) = (block.stream()?, block.event()?);
///     event.record(&TailLaunch)?;
///     block.default_stream().wait(&event)
/// }
/// ```
#[derive(Debug)]
#[must_use = "a stream that nothing is launched into has no effect"]
pub struct Stream<'block> {
    place: Place,
    of: PhantomData<(&'block Block, *mut ())>,
}

impl Stream<'_> {
    /// Makes later launches into this stream wait for the work that `event` represents now
    /// (`cudaStreamWaitEvent`). An event that was never recorded represents nothing.
    ///
    /// # Errors
    /// If the runtime reports an error. That of CUDA 13.0 (driver 580.159.04) rejects one wait in
    /// 32 768 with [`Error::INVALID_VALUE`], in CUDA C++ too: 24 of 800 000 launches of a kernel
    /// with one event, each 32 768 launches after the previous, on an H200. So check the result,
    /// and have the host launch again.
    #[instruction]
    pub fn wait(&self, event: &Event<'_>) -> Result<(), Error> {
        backend::wait(self.place, event.handle)
    }
}

impl super::Queue for Stream<'_> {}

impl Queue for Stream<'_> {
    #[inline(always)]
    fn place(&self) -> Place {
        self.place
    }
}

impl Drop for Stream<'_> {
    #[instruction]
    fn drop(&mut self) {
        if let Place::Made(handle) = self.place {
            backend::destroy_stream(handle);
        }
    }
}

/// A point in a stream that other streams of the block can wait for. It has no timestamp, and a
/// thread can neither wait for it nor query whether it has been reached.
#[derive(Debug)]
#[must_use = "an event that is not recorded has no effect"]
pub struct Event<'block> {
    handle: u64,
    of: PhantomData<(&'block Block, *mut ())>,
}

impl Event<'_> {
    /// Makes the event represent everything launched into `stream` so far (`cudaEventRecord`).
    /// Recording it again replaces that, but not for streams that already wait.
    ///
    /// # Errors
    /// If the runtime reports an error.
    #[instruction]
    pub fn record(&self, stream: &Stream<'_>) -> Result<(), Error> {
        backend::record(self.handle, stream.place)
    }
}

impl Drop for Event<'_> {
    #[instruction]
    fn drop(&mut self) {
        backend::destroy_event(self.handle);
    }
}
