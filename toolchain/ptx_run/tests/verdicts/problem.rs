//! A problem and its solutions, right and faulty: kernels with the same launch, arguments and result.

/// What runs of a kernel must show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The result, and no fault, under all schedules.
    Right,
    /// A race of accesses in lines marked `// race`.
    Race,
    /// Threads that wait forever in a line marked `// deadlock`.
    Deadlock,
    /// An access beyond its allocation, in a line marked `// out of bounds`.
    OutOfBounds,
    /// A read of bytes never written, in a line marked `// uninitialised`.
    Uninitialised,
    /// A barrier or an exchange of lanes, in a line marked `// barrier`, that not all threads reach
    /// which it needs.
    Barrier,
    /// Another result under some schedules, and no fault.
    Wrong,
}

/// One argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Argument {
    /// An array of words.
    Words(&'static [u32]),
    /// An array of so many words that were never written.
    Unwritten(usize),
    /// A number of 32 bits.
    Number(u32),
}

/// An array of one zero.
pub(crate) const ZERO: Argument = Argument::Words(&[0]);
/// An array of eight zeros.
pub(crate) const ZEROS: Argument = Argument::Words(&[0; 8]);

/// A launch and its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Problem {
    /// Blocks, and threads of each.
    pub(crate) shape: (u32, u32),
    /// The first one is an array that holds the result at the end.
    pub(crate) arguments: &'static [Argument],
    /// The beginning of that array.
    pub(crate) result: &'static [u32],
    /// Blocks that are resident at once, if not all.
    pub(crate) resident: Option<u32>,
    /// The kernels that try to solve it.
    pub(crate) kernels: &'static [(&'static str, Verdict)],
}

impl Problem {
    /// A problem for a grid of which all blocks are resident.
    pub(crate) const fn new(
        shape: (u32, u32),
        arguments: &'static [Argument],
        result: &'static [u32],
        kernels: &'static [(&'static str, Verdict)],
    ) -> Self {
        Self { shape, arguments, result, resident: None, kernels }
    }

    /// Only so many blocks are resident at once.
    pub(crate) const fn resident(self, blocks: u32) -> Self {
        Self { resident: Some(blocks), ..self }
    }
}

/// The numbers that begin with `first` and grow by `step`.
pub(crate) const fn line<const LEN: usize>(first: u32, step: i32) -> [u32; LEN] {
    let (mut all, mut at) = ([first; LEN], 1);
    while at < LEN {
        all[at] = all[at - 1].wrapping_add_signed(step);
        at += 1;
    }
    all
}
