//! Frames: deflate streams with their lengths before them.

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use std::io::{Read as _, Write as _};

/// The most bytes that a frame is unpacked to, and that a kernel may have. No damaged length makes a reader allocate
/// more.
pub(crate) const LARGEST: usize = 16 << 20;

/// A frame of a file, not yet unpacked.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// Where it begins in the file.
    pub(crate) offset: usize,
    packed: &'a [u8],
    unpacked: usize,
}

impl<'a> Frame<'a> {
    /// Appends `bytes` to `file` as a frame.
    pub(crate) fn write(bytes: &[u8], file: &mut Vec<u8>) {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
        let packed = packed.expect("memory takes everything");
        for length in [packed.len(), bytes.len()] {
            let length = u32::try_from(length).expect("a frame is no longer than LARGEST");
            file.extend(length.to_le_bytes());
        }
        file.extend(packed);
    }

    /// The frame at `offset` of the file, and where the next one begins; or what is wrong.
    pub(crate) fn read(file: &'a [u8], offset: usize) -> Result<(Self, usize), String> {
        let rest = &file[offset..];
        let (lengths, rest) = rest
            .split_first_chunk::<8>()
            .ok_or_else(|| format!("{} bytes are left, too few for two lengths", rest.len()))?;
        let [packed, unpacked] = [0, 4].map(|at| {
            let length = [0, 1, 2, 3].map(|byte| lengths[at + byte]);
            u32::from_le_bytes(length) as usize
        });
        let left = rest.len();
        let packed = rest
            .get(..packed)
            .ok_or_else(|| format!("a frame of {packed} bytes where {left} are left"))?;
        if unpacked > LARGEST {
            return Err(format!(
                "a frame that unpacks to {unpacked} bytes, where {LARGEST} are the most"
            ));
        }
        let frame = Self {
            offset,
            packed,
            unpacked,
        };
        Ok((frame, file.len() - left + packed.len()))
    }

    /// The bytes; or what is wrong.
    pub(crate) fn unpack(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(self.unpacked);
        // One byte more than it should have shows that it has more.
        let mut decoder = DeflateDecoder::new(self.packed).take(self.unpacked as u64 + 1);
        decoder
            .read_to_end(&mut bytes)
            .map_err(|error| format!("{error} after {} bytes", bytes.len()))?;
        if bytes.len() != self.unpacked {
            let (found, stated) = (bytes.len(), self.unpacked);
            return Err(format!("a frame has {found} bytes or more, not {stated}"));
        }
        Ok(bytes)
    }
}
