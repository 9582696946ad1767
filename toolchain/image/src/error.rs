//! The errors of reading and packing images.

/// An image that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The bytes are not the packed ones.
    #[error(
        "the packed image is damaged: {what}, in the {part} from byte {offset} of {bytes}; build it again (cargo xtask build-kernels)"
    )]
    Damaged {
        /// What is wrong, with its numbers.
        what: String,
        /// The part that was being read.
        part: &'static str,
        /// Where that part begins in the file.
        offset: usize,
        /// The size of the file in bytes.
        bytes: usize,
    },

    /// This program does not know the format.
    #[error(
        "the packed image is of format {found}, and this program reads format {known}: build both from the same version"
    )]
    Format {
        /// The format of the file.
        found: u32,
        /// The format that this program reads.
        known: u32,
    },
}

/// PTX that cannot be packed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The text does not name its target.
    #[error("the PTX has no line `.target sm_NN`: give the whole text that the compiler wrote")]
    NoTarget,

    /// Unpacking would not give back the kernel's text.
    #[error(
        "`{kernel}` would not be the same after packing: its PTX has a `#` after a register, or a register number with a leading zero or above 2^32"
    )]
    NotReversible {
        /// The kernel.
        kernel: String,
    },

    /// The kernel has more distinct lines than a group can number.
    #[error("`{kernel}` has {lines} distinct lines, at most {most} can be packed: split it")]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// The number of its distinct lines.
        lines: usize,
        /// The largest number that can be packed.
        most: usize,
    },
}
