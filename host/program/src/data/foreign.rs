//! Recognises inputs other than `.npy` by their first bytes. They are refused with a message that
//! names the format, because their bytes as raw elements would be garbage.

use super::literal::printable;

/// Bytes at the start that are checked.
pub(super) const LOOKED_AT: usize = 512;

/// The format of an input, and how to convert it to an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    pub(super) seen: String,
    pub(super) advice: &'static str,
}

/// The first bytes of formats, their names, and how to read them.
const FORMATS: [(&[u8], &str, &str); 15] = [
    (b"\x1f\x8b", "compressed by gzip", "unpack it: `gunzip -c FILE | gridsync … -`"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it: `zstd -dc FILE | gridsync … -`"),
    (b"\xfd7zXZ\0", "compressed by xz", "unpack it: `xz -dc FILE | gridsync … -`"),
    (b"BZh", "compressed by bzip2", "unpack it: `bzip2 -dc FILE | gridsync … -`"),
    (
        b"PAR1",
        "Parquet",
        "save a column of it: `np.save(\"x.npy\", pandas.read_parquet(FILE)[NAME])`",
    ),
    (
        b"ARROW1",
        "Arrow",
        "save a column of it: `np.save(\"x.npy\", pandas.read_feather(FILE)[NAME])`",
    ),
    (b"\x89HDF\r\n\x1a\n", "HDF5", HDF5),
    (b"MATLAB 7.3", "MATLAB (HDF5)", HDF5),
    (
        b"MATLAB 5.0",
        "MATLAB",
        "save a variable of it: `np.save(\"x.npy\", scipy.io.loadmat(FILE)[NAME])`",
    ),
    (b"CDF\x01", "NetCDF", NETCDF),
    (b"CDF\x02", "NetCDF", NETCDF),
    (
        b"SIMPLE  =",
        "FITS",
        "save an image of it: `np.save(\"x.npy\", astropy.io.fits.getdata(FILE))`",
    ),
    (b"\x80\x05\x95", "a pickle", PICKLE),
    (b"\x80\x04\x95", "a pickle", PICKLE),
    (
        b"\x89PNG\r\n\x1a\n",
        "PNG",
        "save its pixels: `np.save(\"x.npy\", matplotlib.pyplot.imread(FILE))`",
    ),
];

const HDF5: &str = "save a data set of it: `np.save(\"x.npy\", h5py.File(FILE)[NAME])`";
const NETCDF: &str = "save a variable of it: `np.save(\"x.npy\", xarray.open_dataset(FILE)[NAME])`";
const PICKLE: &str = "if you trust it: `np.save(\"x.npy\", pickle.load(open(FILE, \"rb\")))`";
const TEXT: &str = "save its numbers: `np.save(\"x.npy\", np.loadtxt(FILE, delimiter=\",\"))`";

impl Foreign {
    /// The format that begins with `start`, if it is known. `start` is the whole input or its first
    /// [`LOOKED_AT`] bytes.
    pub(super) fn of(start: &[u8]) -> Option<Self> {
        if start.is_empty() {
            let advice = "check the program that should have written it";
            return Some(Self { seen: "empty (0 bytes)".into(), advice });
        }
        if let Some((_, name, advice)) = FORMATS.iter().find(|(magic, ..)| start.starts_with(magic))
        {
            return Some(Self { seen: (*name).into(), advice });
        }
        // In protocols 2 and 3, no frame follows the version.
        if let [0x80, 2 | 3, b'c' | b']' | b'}' | b'(' | b'K' | b'M' | b'J' | b'G' | b'X', ..] =
            start
        {
            return Some(Self { seen: "a pickle".into(), advice: PICKLE });
        }
        let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
        is_text(start)
            .then(|| Self { seen: format!("text (\"{}\")", printable(line)), advice: TEXT })
    }
}

/// Whether these bytes are UTF-8 text, which may end within a character.
fn is_text(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(start: &[u8]) -> String {
        Foreign::of(start).map_or(String::new(), |foreign| foreign.seen)
    }

    #[test]
    fn formats_are_recognised_by_their_first_bytes() {
        assert_eq!(seen(b""), "empty (0 bytes)");
        assert_eq!(seen(b"\x1f\x8b\x08\0\0\0"), "compressed by gzip");
        assert_eq!(seen(b"PAR1\x15\x04"), "Parquet");
        assert_eq!(seen(b"\x89HDF\r\n\x1a\n\0"), "HDF5");
        assert_eq!(seen(b"\x80\x04\x95\x0b\0"), "a pickle");
        assert_eq!(seen(b"\x80\x02cnumpy"), "a pickle");
        assert_eq!(seen("x,y\n1,ä".as_bytes()), "text (\"x,y\")");
        let mut cut = b"1.5\xc3\xa4".to_vec();
        cut.pop();
        assert_eq!(seen(&cut), "text (\"1.5\u{fffd}\")");
    }

    #[test]
    fn raw_elements_are_not_recognised_as_a_format() {
        for raw in [1.5f32, 3.0, -1e10, 1e-10] {
            assert_eq!(Foreign::of(bytemuck::bytes_of(&[raw; 4])), None, "{raw}");
        }
        for raw in [0u64, 1, 1 << 40, u64::MAX] {
            assert_eq!(Foreign::of(bytemuck::bytes_of(&[raw; 4])), None, "{raw}");
        }
    }
}
