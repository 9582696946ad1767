//! An image: its kernels, its target and its head.

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
    /// PTX text compiled for the compute capability `compute` (10·major + minor). Devices of a
    /// higher capability run it too.
    #[must_use]
    pub const fn text(compute: u32, text: &'a str) -> Self {
        Self(Source::Text { compute, text })
    }

    /// The bytes that [`pack`](crate::pack) wrote. Their head states the compute capability.
    #[must_use]
    pub const fn packed(bytes: &'a [u8]) -> Self {
        Self(Source::Packed(bytes))
    }

    /// The compute capability that it is compiled for.
    ///
    /// # Errors
    /// If the head of a packed image is damaged, or its format is unknown.
    pub fn compute(&self) -> Result<u32, ImageError> {
        match self.0 {
            Source::Text { compute, .. } => Ok(compute),
            Source::Packed(bytes) => Ok(Head::read(bytes)?.compute),
        }
    }

    /// The comment lines at the top: compiler and sources, and how a packed image is packed.
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
