//! Launches as data, assembled by their dependencies.

use super::{Geometry, KernelInfo};
use cuda_std::launch::{IntoArgs, Kernel, KernelArgs};
use std::{ffi::c_void, fmt, ptr};

/// A launch that is not in a stream yet: the kernel, the geometry, and a copy of the arguments.
pub struct Launch {
    pub(super) kernel: KernelInfo,
    pub(super) geometry: Geometry,
    pub(super) args: Arguments,
}

impl Launch {
    /// A launch of `K`, with arguments as for [`Device::launch`](super::Device::launch). Running it
    /// is `unsafe`: the kernel's contract must hold, and the buffers must be alive until it has
    /// run.
    #[must_use]
    pub fn new<K: Kernel>(geometry: Geometry, args: impl IntoArgs<K::Args>) -> Self {
        let (kernel, args) = (KernelInfo::of::<K>(), args.into_args());
        // SAFETY: the pointers are those of this kernel's own arguments.
        let args = args.with_pointers(|args| unsafe { Arguments::copy(&kernel, args) });
        Self { kernel, geometry, args }
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Launch({} with {})", self.kernel.name, self.geometry)
    }
}

/// Copies of the arguments of a launch, each aligned to 8.
#[derive(Clone)]
pub(super) struct Arguments(Vec<Box<[u64]>>);

impl Arguments {
    /// Copies the arguments of `kernel`.
    ///
    /// # Safety
    /// `args` are live arguments of `kernel`, in number, type and order.
    pub(super) unsafe fn copy(kernel: &KernelInfo, args: &[*const c_void]) -> Self {
        let copies = args.iter().zip(kernel.args).map(|(&from, &bytes)| {
            let mut words = vec![0u64; bytes.div_ceil(size_of::<u64>())].into_boxed_slice();
            // SAFETY: the caller passes the address of an argument of this many bytes, and the
            // words have room for them.
            unsafe {
                ptr::copy_nonoverlapping(from.cast::<u8>(), words.as_mut_ptr().cast(), bytes);
            }
            words
        });
        Self(copies.collect())
    }

    /// The address of each argument, valid as long as `self` lives.
    pub(super) fn pointers(&self) -> Vec<*const c_void> {
        self.0.iter().map(|words| words.as_ptr().cast()).collect()
    }
}

/// A launch that comes after earlier ones, given by their indices.
#[derive(Debug)]
pub struct Ordered<'a> {
    /// The launch.
    pub launch: &'a Launch,
    /// The indices of the launches that it depends on. They are lower than its own index.
    pub after: Vec<usize>,
}

/// How launches that depend on each other are submitted to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// All in one stream, in order: each waits for the previous one.
    OneStream,
    /// In several streams, with an event for each dependency between two streams.
    Streams,
    /// A graph that is built node by node.
    Built,
    /// A graph that is captured from [`Streams`](Self::Streams).
    Captured,
}

impl Way {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::OneStream, Self::Streams, Self::Built, Self::Captured];
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OneStream => "one stream",
            Self::Streams => "streams and events",
            Self::Built => "a graph, built",
            Self::Captured => "a graph, captured",
        })
    }
}

/// Assigns launches to streams, so that each follows one of its dependencies where possible.
/// `after` lists the dependencies of each launch.
///
/// Returns the stream of each launch. Uses at most `most` streams.
pub(crate) fn deal<'a>(after: impl Iterator<Item = &'a [usize]>, most: usize) -> Vec<usize> {
    // The last launch of each stream.
    let mut last: Vec<usize> = Vec::new();
    let mut streams: Vec<usize> = Vec::new();
    for (at, after) in after.enumerate() {
        let follows = after.iter().map(|&before| (streams[before], before));
        let stream =
            follows.filter(|&(stream, before)| last[stream] == before).map(|(s, _)| s).min();
        let stream = stream.unwrap_or_else(|| {
            if last.len() < most {
                last.push(at);
                return last.len() - 1;
            }
            // The stream whose last launch is the oldest has probably run it.
            (0..most).min_by_key(|&stream| last[stream]).unwrap_or(0)
        });
        last[stream] = at;
        streams.push(stream);
    }
    streams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_follow_a_dependency_and_use_few_streams() {
        // Two chains that join: 0 → 2 → 4, 1 → 3 → 4.
        let diamond: [&[usize]; 5] = [&[], &[], &[0], &[1], &[2, 3]];
        assert_eq!(deal(diamond.into_iter(), 8), [0, 1, 0, 1, 0]);
        assert_eq!(deal(diamond.into_iter(), 1), [0; 5]);
        let wide = [&[][..]; 100];
        assert_eq!(deal(wide.into_iter(), 8).iter().max(), Some(&7));
    }
}
