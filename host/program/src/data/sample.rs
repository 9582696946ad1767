//! A hash of samples of a file, by which processes check that they read the same one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crc32fast::Hasher;

use super::read::refused;
use super::{DataError, Input, npz};

/// The number of pieces of a file that are hashed, and the bytes of each. The first piece contains
/// the header of a `.npy` file, the last one the checksums of an archive.
const PIECES: u64 = 16;
const PIECE: u64 = 4096;

impl Input {
    /// A hash of the length of the file and of 16 pieces of it: the first, the last, and others
    /// evenly between them. Files of the same length that differ only elsewhere have the same hash.
    ///
    /// # Errors
    /// As for [`open`](super::open), if the file cannot be read.
    pub fn sample(&self) -> Result<u32, DataError> {
        let Self::Path(path) = self else { return Ok(0) };
        let archive = npz::split(path).filter(|_| !path.exists()).map(|(archive, _)| archive);
        let hashed = File::open(archive.as_ref().unwrap_or(path)).and_then(|file| hash(&file));
        hashed.map_err(|cause| refused(self, cause))
    }
}

fn hash(file: &File) -> io::Result<u32> {
    let len = file.metadata()?.len();
    let mut hasher = Hasher::new();
    hasher.update(&len.to_le_bytes());
    let last = len.saturating_sub(PIECE);
    let mut piece = vec![0; PIECE.min(len) as usize];
    for number in 0..PIECES {
        // Divided first, because a length may be near 2^64.
        let start = last / (PIECES - 1) * number + last % (PIECES - 1) * number / (PIECES - 1);
        file.read_exact_at(&mut piece, start)?;
        hasher.update(&piece);
    }
    Ok(hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_that_differ_in_a_piece_have_different_samples() {
        let folder = tempfile::tempdir().expect("a folder to write to");
        let sample = |bytes: &[u8]| {
            let path = folder.path().join("x");
            fs::write(&path, bytes).expect("the folder is there");
            Input::parse(&path).sample().expect("the file is there")
        };
        let bytes: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        let whole = sample(&bytes);
        assert_eq!(sample(&bytes), whole);
        assert_ne!(sample(&bytes[..99_999]), whole);
        for at in [0, 4095, 52_000, 99_999 - 4095, 99_999] {
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert_ne!(sample(&other), whole, "byte {at}");
        }
        let short: Vec<_> = [&b""[..], b"a", b"b", b"ab"].map(sample).into();
        assert!((1..4).all(|i| !short[..i].contains(&short[i])), "{short:?}");
        let absent = Input::parse(folder.path().join("absent")).sample();
        assert!(matches!(absent, Err(DataError::NotFound { .. })), "{absent:?}");
    }
}
