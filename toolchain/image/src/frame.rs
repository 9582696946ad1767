//! Frames: deflate streams after their lengths and a checksum.

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use std::io::{Read as _, Write as _};

/// The most bytes of an unpacked frame and of a kernel. It bounds what a reader allocates for a
/// damaged length.
pub(crate) const LARGEST: usize = 16 << 20;

/// A frame of a file, not yet unpacked.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// The offset of the frame in the file.
    pub(crate) offset: usize,
    packed: &'a [u8],
    unpacked: usize,
    /// The CRC-32 of the stream.
    crc: u32,
}

impl<'a> Frame<'a> {
    /// Appends `bytes` to `file` as a frame.
    pub(crate) fn write(bytes: &[u8], file: &mut Vec<u8>) {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
        let packed = packed.expect("memory takes everything");
        let lengths = [packed.len(), bytes.len()]
            .map(|length| u32::try_from(length).expect("a frame is no longer than LARGEST"));
        for number in lengths.into_iter().chain([crc32fast::hash(&packed)]) {
            file.extend(number.to_le_bytes());
        }
        file.extend(packed);
    }

    /// The frame at `offset` of the file, and the offset of the next; or what is wrong.
    pub(crate) fn read(file: &'a [u8], offset: usize) -> Result<(Self, usize), String> {
        let rest = &file[offset..];
        let (numbers, rest) = rest
            .split_first_chunk::<12>()
            .ok_or_else(|| format!("{} bytes are left, too few for a frame", rest.len()))?;
        let [packed, unpacked, crc] = [0, 4, 8].map(|at| {
            let number = [0, 1, 2, 3].map(|byte| numbers[at + byte]);
            u32::from_le_bytes(number)
        });
        let (packed, unpacked) = (packed as usize, unpacked as usize);
        let left = rest.len();
        let packed = rest
            .get(..packed)
            .ok_or_else(|| format!("a frame of {packed} bytes where {left} are left"))?;
        if unpacked > LARGEST {
            return Err(format!(
                "a frame that unpacks to {unpacked} bytes, where {LARGEST} are the most"
            ));
        }
        let frame = Self { offset, packed, unpacked, crc };
        Ok((frame, file.len() - left + packed.len()))
    }

    /// The unpacked bytes, or what is wrong.
    pub(crate) fn unpack(&self) -> Result<Vec<u8>, String> {
        let crc = crc32fast::hash(self.packed);
        if crc != self.crc {
            let (bytes, stated) = (self.packed.len(), self.crc);
            return Err(format!("CRC-32 {crc:08x} of {bytes} bytes instead of {stated:08x}"));
        }
        let mut bytes = Vec::with_capacity(self.unpacked);
        // It reads one byte more than stated, to notice a frame that is too long.
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
