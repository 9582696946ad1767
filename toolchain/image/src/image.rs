//! An image: where its kernels are, and what it says about itself.

use crate::error::ImageError;
use crate::packed::Head;
use crate::text::head;
use std::fmt;

/// The kernels for one virtual architecture, as PTX text or packed.
#[derive(Clone, Copy)]
pub struct PtxImage<'a>(pub(crate) Source<'a>);

#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Text { compute: u32, text: &'a str },
    Packed(&'a [u8]),
}

impl<'a> PtxImage<'a> {
    /// PTX text that is compiled for the compute capability `compute`, 10·major + minor; newer ones run it too.
    #[must_use]
    pub const fn text(compute: u32, text: &'a str) -> Self {
        Self(Source::Text { compute, text })
    }

    /// What [`pack`](crate::pack) wrote. Its head says what it is compiled for.
    #[must_use]
    pub const fn packed(bytes: &'a [u8]) -> Self {
        Self(Source::Packed(bytes))
    }

    /// The compute capability that it is compiled for.
    ///
    /// # Errors
    /// When the head of a packed image is damaged, or of a format that this version does not read.
    pub fn compute(&self) -> Result<u32, ImageError> {
        match self.0 {
            Source::Text { compute, .. } => Ok(compute),
            Source::Packed(bytes) => Ok(Head::read(bytes)?.compute),
        }
    }

    /// The comment lines at the top: compiler, sources, and of a packed image how it is packed.
    ///
    /// # Errors
    /// As for [`compute`](Self::compute).
    pub fn head(&self) -> Result<&'a str, ImageError> {
        match self.0 {
            Source::Text { text, .. } => Ok(head(text)),
            Source::Packed(bytes) => Ok(Head::read(bytes)?.text),
        }
    }
}

impl fmt::Debug for PtxImage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Source::Text { compute, text } => {
                write!(f, "PtxImage(compute_{compute}, {} bytes)", text.len())
            }
            Source::Packed(bytes) => match self.compute() {
                Ok(compute) => {
                    write!(f, "PtxImage(compute_{compute}, {} bytes packed)", bytes.len())
                }
                Err(_) => write!(f, "PtxImage(damaged, {} bytes packed)", bytes.len()),
            },
        }
    }
}
