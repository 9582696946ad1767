//! Files for calls of the program.

use crate::call::{Call, run};
use gridsync_tests::oracle::Plain;
use gridsync_tests::{npy, program};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// A folder for the files of a test. Calls of the program run in it, so they name the files without
/// a path. It is removed when the value is dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with no files.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder should be there to write to"))
    }

    /// The folder with a file `name` of `bytes`.
    pub(crate) fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), bytes).expect("the folder should be there");
        self
    }

    /// The folder with a file `name` of so many zeros, which takes no room.
    pub(crate) fn with_zeros(self, name: &str, bytes: u64) -> Self {
        let file = File::create(self.path(name)).expect("the folder should be there");
        file.set_len(bytes).expect("the file may have holes");
        self
    }

    /// The path of the file `name`, which need not exist. An empty name gives the path of the
    /// folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The names of all files, in any order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder should be there");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
        names.map(|name| name.expect("the name should be UTF-8")).collect()
    }

    /// The bytes of the file `name`.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("the file should be there")
    }

    /// The values of the `.npy` file `name`, whose header must be that of an array of `len`
    /// elements.
    #[track_caller]
    pub(crate) fn values<T: Plain>(&self, name: &str, len: usize) -> Vec<T> {
        let file = self.read(name);
        let header = npy::shaped::<T>(&format!("({len},)"), &[]);
        assert!(file.starts_with(&header), "{:?}", String::from_utf8_lossy(&file));
        let values = file[header.len()..].chunks_exact(size_of::<T>());
        values.map(bytemuck::pod_read_unaligned).collect()
    }

    /// The program in this folder, as if this machine had no CUDA driver.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program::path());
        command.env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1").current_dir(&self.0);
        command
    }

    /// Calls the program in this folder as if this machine had no CUDA driver.
    pub(crate) fn call(&self, args: &[&str], stdin: &[u8]) -> Call {
        run(self.command(), args, stdin)
    }

    /// Calls the program in this folder on this machine. If there is a GPU, no other call uses it
    /// at the same time.
    pub(crate) fn gridsync(&self, args: &[&str], stdin: &[u8]) -> Call {
        static GPU: Mutex<()> = Mutex::new(());
        let _alone = GPU.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new(program::path());
        command.current_dir(&self.0);
        run(command, args, stdin)
    }
}
