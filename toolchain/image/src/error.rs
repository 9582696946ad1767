//! What can be wrong with an image.

/// An image that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The bytes are not those that were written.
    #[error(
        "the packed image is damaged: {what}, in the {part} from byte {offset} of {bytes}; build it again (cargo xtask build-kernels)"
    )]
    Damaged {
        /// What is wrong, with its numbers.
        what: String,
        /// What was being read.
        part: &'static str,
        /// Where that begins in the file.
        offset: usize,
        /// Bytes of the file.
        bytes: usize,
    },

    /// The bytes are of a format that this program does not know.
    #[error(
        "the packed image is of format {found}, and this program reads format {known}: build both from the same version"
    )]
    Format {
        /// The format of the file.
        found: u32,
        /// The one that is known.
        known: u32,
    },

    /// An image holds only what differs from another, and that one is not there.
    #[error(
        "the compute_{compute} image of the set `{set}` holds only what differs from compute_{below}, which is not among the images: give both"
    )]
    NoneBelow {
        /// The set of both images.
        set: String,
        /// What the image is for.
        compute: u32,
        /// What the missing image is for.
        below: u32,
    },

    /// The text of a kernel is not the one that was packed.
    #[error(
        "`{kernel}` of the compute_{compute} image is not what was packed: CRC-32 {found:08x} of {length} bytes instead of {packed:08x} of {packed_length}; the file is damaged, or the image below it is of another build: build all together (cargo xtask build-kernels)"
    )]
    Mismatch {
        /// The kernel.
        kernel: String,
        /// What the image is for.
        compute: u32,
        /// The CRC-32 of the text.
        found: u32,
        /// Bytes of the text.
        length: usize,
        /// The CRC-32 that was packed.
        packed: u32,
        /// Bytes that were packed.
        packed_length: usize,
    },
}

/// PTX that cannot be packed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// Nothing says what it is for.
    #[error("the PTX has no line `.target sm_NN`: give the whole text that the compiler wrote")]
    NoTarget,

    /// The name of a set goes into a line of words.
    #[error(
        "`{set}` is no name for a set of kernels: take letters, digits and underscores, at least one"
    )]
    BadSet {
        /// The name.
        set: String,
    },

    /// The image below is for something newer, or for the same.
    #[error("compute_{compute} cannot be packed above compute_{below}: take a lower one")]
    NotBelow {
        /// What the image is for.
        compute: u32,
        /// What the image below is for.
        below: u32,
    },

    /// A kernel that would not come back as it was.
    #[error(
        "`{kernel}` would not be the same after packing: its PTX uses `*`, `#` or a backquote where the compiler writes none, or a register number with a leading zero"
    )]
    NotReversible {
        /// The kernel.
        kernel: String,
    },

    /// A kernel that is too long for the format.
    #[error(
        "`{kernel}` has {bytes} bytes and {lines} distinct lines; {most_bytes} and {most_lines} can be packed: split it"
    )]
    TooLarge {
        /// The kernel.
        kernel: String,
        /// Its bytes.
        bytes: usize,
        /// The most there may be.
        most_bytes: usize,
        /// Its distinct lines.
        lines: usize,
        /// The most there may be.
        most_lines: usize,
    },
}
