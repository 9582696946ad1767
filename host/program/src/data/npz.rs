//! Members of `.npz` archives: zip files in which each array is a `.npy` file, stored or deflated.
//!
//! The crate `zip` reads the directory of the archive. The members are inflated and checked while
//! they stream, so that an array of an archive can be read part by part like any other.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::shown::escaped;
use crc32fast::Hasher;
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

/// First bytes of a zip file (PKWARE APPNOTE, 4.3.7, and 4.3.16 for an empty one).
pub(super) const MAGIC: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Errors in an archive, or in the request for one of its arrays.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// The archive cannot be read.
    #[error("the archive cannot be read: {0}; save it again with `np.savez`")]
    Broken(zip::result::ZipError),
    /// The archive does not have this array.
    #[error("has no array {name:?}, only {}; name one as in file.npz:NAME", list(.names))]
    NoSuchMember {
        /// The requested name.
        name: String,
        /// The names of its arrays.
        names: Vec<String>,
    },
    /// The request did not name an array, and the archive does not have exactly one.
    #[error("is an archive of {}; name one as in file.npz:NAME", list(.names))]
    WhichMember {
        /// The names of its arrays.
        names: Vec<String>,
    },
    /// The array cannot be unpacked.
    #[error(
        "the array {name:?} is {how}, but only stored and deflated ones can be read; save it again with `np.savez`"
    )]
    Packed {
        /// Name of the array.
        name: String,
        /// Its compression method.
        how: String,
    },
    /// The archive is a stream. Its directory is at the end, and a stream cannot seek there.
    #[error("is a zip or .npz archive, whose directory is at its end; save it to a file")]
    Piped,
}

fn list(names: &[String]) -> String {
    match names {
        [] => "no arrays".into(),
        names => escaped(&names.join(", ")).into_owned(),
    }
}

/// Splits `file.npz:name` into the path of the archive and the name of the member.
pub(super) fn split(path: &Path) -> Option<(PathBuf, String)> {
    let text = path.to_str()?;
    let at = text.to_ascii_lowercase().rfind(".npz:")? + ".npz".len();
    Some((text[..at].into(), text[at + 1..].to_owned()))
}

/// Whether the file name, without its folder, names an array in an archive.
pub(super) fn is_member(path: &Path) -> bool {
    path.file_name().is_some_and(|name| split(Path::new(name)).is_some())
}

/// Opens the array `name` in the archive, or the only one. Also returns the length of its `.npy`
/// file in bytes.
pub(super) fn open(
    mut file: File,
    name: Option<&str>,
) -> Result<(impl Read + Send + use<>, u64), NpzError> {
    let mut archive = ZipArchive::new(BufReader::new(&mut file)).map_err(NpzError::Broken)?;
    let names: Vec<String> = archive
        .file_names()
        .map(|name| name.map_or_else(|_| "\u{fffd}".into(), |name| name.into_owned()))
        .collect();
    let short = |name: &String| name.strip_suffix(".npy").unwrap_or(name).to_owned();
    let all = || names.iter().map(short).collect::<Vec<_>>();
    let index = match name {
        Some(asked) => names.iter().position(|name| name == asked || short(name) == asked),
        None => (names.len() == 1).then_some(0),
    };
    let Some(index) = index else {
        return Err(match name {
            Some(name) => NpzError::NoSuchMember { name: name.to_owned(), names: all() },
            None => NpzError::WhichMember { names: all() },
        });
    };
    let member = archive.by_index_raw(index).map_err(NpzError::Broken)?;
    let packed = |how: String| NpzError::Packed { name: short(&names[index]), how };
    if member.encrypted() {
        return Err(packed("encrypted".into()));
    }
    let (len, checksum) = (member.size(), member.crc32());
    let (start, packed_len) = (member.data_start(), member.compressed_size());
    let method = member.compression();
    drop(member);
    drop(archive);
    file.seek(SeekFrom::Start(start.unwrap_or(0)))
        .map_err(|cause| NpzError::Broken(cause.into()))?;
    let packed_bytes = file.take(packed_len);
    let reader: Box<dyn Read + Send> = match method {
        CompressionMethod::Stored => Box::new(packed_bytes),
        CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(packed_bytes)),
        other => return Err(packed(format!("packed by {other}"))),
    };
    Ok((Checked::new(reader, checksum), len))
}

/// A reader that verifies a checksum at the end of its bytes.
struct Checked<R> {
    reader: R,
    seen: Hasher,
    expected: u32,
}

impl<R: Read> Checked<R> {
    fn new(reader: R, expected: u32) -> Self {
        Self { reader, seen: Hasher::new(), expected }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let found = self.reader.read(into)?;
        self.seen.update(&into[..found]);
        if found == 0 && !into.is_empty() && self.seen.clone().finalize() != self.expected {
            let why = "its checksum is wrong: the archive is damaged";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(found)
    }
}
