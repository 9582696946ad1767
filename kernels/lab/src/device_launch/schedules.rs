//! Three schedules for `a = 5`, `b = 7`, `c = a · b`: three children, launched by one thread.

use super::children::{fill, multiply};
use super::tell;
use cuda_std::device_runtime::{
    Block, Error, FireAndForget, Geometry, Queue, Stream, TailLaunch, launch,
};
use cuda_std::prelude::*;

/// The memory of the children, and the cycles for which each of them spins first.
#[derive(Clone, Copy)]
struct Work {
    a: Global<u32>,
    b: Global<u32>,
    c: Global<u32>,
    cycles: u32,
}

impl Work {
    /// Blocks of 128 threads, one thread for each element, up to 64 blocks.
    #[device]
    fn geometry(self) -> Geometry {
        Geometry::new((self.c.len().div_ceil(128) as u32).clamp(1, 64), 128)
    }

    /// `a = 5`.
    #[device]
    fn a(self, queue: &impl Queue) -> Result<(), Error> {
        // SAFETY: the parents order the uses of `a`.
        unsafe { launch::<fill>(self.geometry(), queue, (self.a, 5, self.cycles)) }
    }

    /// `b = 7`.
    #[device]
    fn b(self, queue: &impl Queue) -> Result<(), Error> {
        // SAFETY: the parents order the uses of `b`.
        unsafe { launch::<fill>(self.geometry(), queue, (self.b, 7, self.cycles)) }
    }

    /// `c = a · b`.
    #[device]
    fn c(self, queue: &impl Queue) -> Result<(), Error> {
        // SAFETY: the parents order this after the writes of `a` and `b`.
        unsafe { launch::<multiply>(self.geometry(), queue, (self.a, self.b, self.c, self.cycles)) }
    }
}

/// One stream: `a`, then `b`, then `c`.
#[device]
fn in_one_stream(work: Work) -> Result<(), Error> {
    let block = Block::this();
    let stream = block.default_stream();
    work.a(&stream)?;
    work.b(&stream)?;
    work.c(&stream)
}

/// Two streams: `a` in one and `b` in the other. An event makes `c` wait for both.
#[device]
fn in_two_streams(work: Work) -> Result<(), Error> {
    let block = Block::this();
    let (left, right): (Stream<'_>, Stream<'_>) = (block.stream()?, block.stream()?);
    let filled = block.event()?;
    work.a(&left)?;
    work.b(&right)?;
    filled.record(&right)?;
    left.wait(&filled)?;
    work.c(&left)
}

/// Two phases: `a` and `b` in any order, and `c` by a tail launch.
#[device]
fn in_two_phases(work: Work) -> Result<(), Error> {
    work.a(&FireAndForget)?;
    work.b(&FireAndForget)?;
    work.c(&TailLaunch)
}

macro_rules! schedules {
    ($($(#[$doc:meta])* $name:ident: $launches:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// `a`, `b` and `c` have the same length, `status` has one element, and nothing else uses
        /// them until the launch has ended.
        #[kernel(prefix = "device_launch_")]
        pub unsafe fn $name(
            a: Global<u32>,
            b: Global<u32>,
            c: Global<u32>,
            cycles: u32,
            status: Global<u32>,
        ) {
            if thread::index() == 0 {
                tell(status, $launches(Work { a, b, c, cycles }));
            }
        }
    )*};
}
schedules! {
    /// Launches the children into one stream.
    serial: in_one_stream;
    /// Launches the two fills into two streams, and the product after both.
    two_streams: in_two_streams;
    /// Launches the two fills at once, and the product as a tail launch.
    two_phases: in_two_phases;
}
