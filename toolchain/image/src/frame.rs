//! Frames: gzip members after their lengths.

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use std::io::{Read as _, Write as _};

/// A frame of a file, not yet unpacked.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// The offset of the frame in the file.
    pub(crate) offset: usize,
    packed: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Appends `bytes` to `file` as a frame.
    pub(crate) fn write(bytes: &[u8], file: &mut Vec<u8>) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
        let packed = packed.expect("writing to memory does not fail");
        let length = u32::try_from(packed.len()).expect("a frame is far below 4 GiB");
        file.extend(length.to_le_bytes());
        file.extend(packed);
    }

    /// The frame at `offset` of the file, and the offset of the next; or what is wrong.
    pub(crate) fn read(file: &'a [u8], offset: usize) -> Result<(Self, usize), String> {
        let rest = &file[offset..];
        let (length, rest) = rest
            .split_first_chunk()
            .ok_or_else(|| format!("{} bytes are left, too few for a frame", rest.len()))?;
        let length = u32::from_le_bytes(*length) as usize;
        let packed = rest
            .get(..length)
            .ok_or_else(|| format!("a frame of {length} bytes where {} are left", rest.len()))?;
        Ok((Self { offset, packed }, file.len() - rest.len() + length))
    }

    /// The unpacked bytes, or what is wrong. The decoder checks their CRC-32 and length.
    pub(crate) fn unpack(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let mut decoder = GzDecoder::new(self.packed);
        decoder
            .read_to_end(&mut bytes)
            .map_err(|error| format!("{error} after {} bytes", bytes.len()))?;
        match decoder.into_inner().len() {
            0 => Ok(bytes),
            left => Err(format!("{left} bytes are left after a frame of {}", bytes.len())),
        }
    }
}
