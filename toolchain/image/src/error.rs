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

    /// An image holds only the kernels that differ from another image, and that image is missing.
    #[error(
        "the compute_{compute} image of the set `{set}` holds only what differs from compute_{below}, which is not among the images: give both"
    )]
    NoneBelow {
        /// The set of both images.
        set: String,
        /// The compute capability of the image.
        compute: u32,
        /// The compute capability of the missing image.
        below: u32,
    },

    /// The text of a kernel differs from the packed one.
    #[error(
        "`{kernel}` of the compute_{compute} image is not what was packed: CRC-32 {found:08x} of {length} bytes instead of {packed:08x} of {packed_length}; the file is damaged, or the image below it is of another build: build all together (cargo xtask build-kernels)"
    )]
    Mismatch {
        /// The kernel.
        kernel: String,
        /// The compute capability of the image.
        compute: u32,
        /// The CRC-32 of the text.
        found: u32,
        /// Its size in bytes.
        length: usize,
        /// The CRC-32 that was packed.
        packed: u32,
        /// The size in bytes that was packed.
        packed_length: usize,
    },
}

/// PTX that cannot be packed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The text does not name its target.
    #[error("the PTX has no line `.target sm_NN`: give the whole text that the compiler wrote")]
    NoTarget,

    /// The name of a set must be one word, because it goes into a line of words.
    #[error(
        "`{set}` is no name for a set of kernels: take letters, digits and underscores, at least one"
    )]
    BadSet {
        /// The name.
        set: String,
    },

    /// The image below has the same compute capability or a higher one.
    #[error("compute_{compute} cannot be packed above compute_{below}: take a lower one")]
    NotBelow {
        /// The compute capability of the image.
        compute: u32,
        /// The compute capability of the image below.
        below: u32,
    },

    /// Unpacking would not give back the kernel's text.
    #[error(
        "`{kernel}` would not be the same after packing: its PTX uses `*`, `#` or a backquote where the compiler writes none, or a register number with a leading zero"
    )]
    NotReversible {
        /// The kernel.
        kernel: String,
    },

    /// The kernel is too long for the format.
    #[error(
        "`{kernel}` has {bytes} bytes and {lines} distinct lines; {most_bytes} and {most_lines} can be packed: split it"
    )]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// Its size in bytes.
        bytes: usize,
        /// The largest size.
        most_bytes: usize,
        /// How many distinct lines it has.
        lines: usize,
        /// The most distinct lines.
        most_lines: usize,
    },
}
