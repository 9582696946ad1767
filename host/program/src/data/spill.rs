//! A temporary file for what does not fit in memory.

use super::{DataError, Output};
use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file without a name, which is gone when this is dropped or the process ends.
pub struct Spill {
    file: File,
    folder: PathBuf,
    len: u64,
}

impl Spill {
    /// Creates the file in the folder of `output`, or in that for temporary files if the output is a
    /// stream or a device.
    ///
    /// # Errors
    /// [`DataError::Spill`].
    pub fn beside(output: Option<&Output>) -> Result<Self, DataError> {
        let folder = match output {
            Some(Output::Path(path)) if path.is_file() || !path.exists() => match path.parent() {
                Some(folder) if folder != Path::new("") => folder.to_owned(),
                _ => PathBuf::from("."),
            },
            Some(_) | None => env::temp_dir(),
        };
        match tempfile::tempfile_in(&folder) {
            Ok(file) => Ok(Self { file, folder, len: 0 }),
            Err(cause) => Err(DataError::Spill { folder, bytes: 0, cause }),
        }
    }

    /// Appends bytes. Returns where they are.
    ///
    /// # Errors
    /// [`DataError::Spill`].
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, DataError> {
        let at = self.len;
        let written = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(bytes));
        written.map_err(|cause| self.failed(at + bytes.len() as u64, cause))?;
        self.len += bytes.len() as u64;
        Ok(at)
    }

    /// Reads the bytes that start at `at`.
    ///
    /// # Errors
    /// [`DataError::Spill`].
    pub fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DataError> {
        let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(bytes));
        read.map_err(|cause| self.failed(self.len, cause))
    }

    fn failed(&self, bytes: u64, cause: io::Error) -> DataError {
        DataError::Spill { folder: self.folder.clone(), bytes, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_was_written_is_read_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let output = Output::parse(folder.path().join("x.npy"));
        let mut spill = Spill::beside(Some(&output)).unwrap();
        assert_eq!(spill.append(b"first").unwrap(), 0);
        assert_eq!(spill.append(b"second").unwrap(), 5);
        let mut read = [0; 6];
        spill.read(5, &mut read).unwrap();
        assert_eq!(&read, b"second");
        assert_eq!(spill.append(b"!").unwrap(), 11, "appended, wherever it was read");
        assert!(spill.read(7, &mut read).is_err(), "beyond the end");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_folder_is_named_with_a_remedy() {
        let output = Output::parse("/no/such/folder/x.npy");
        let Err(error) = Spill::beside(Some(&output)) else { panic!("there is no folder") };
        let message = error.to_string();
        assert!(message.contains("/no/such/folder") && message.contains("--part"), "{message}");
    }
}
