//! The location of NCCL's header and library, for building a program.
//!
//! NCCL is not part of the CUDA toolkit. It comes as a system package, or as the Python package
//! `nvidia-nccl-cu13`, a dependency of PyTorch.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable for the folder with NCCL's `include` and `lib`, which replaces the
/// usual folders.
const VARIABLE: &str = "NCCL_HOME";

/// The folders of system packages of NCCL.
const OF_SYSTEM: [&str; 3] = ["/usr", "/usr/local", "/usr/local/cuda"];

/// The folders of libraries inside an NCCL folder. Debian and Ubuntu have one for each processor.
const LIBS: [&str; 4] = ["lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"];

/// The names of the header and the library.
const HEADER: &str = "nccl.h";
const LIBRARY: &str = "libnccl.so.2";

/// Prints the folders of the Python package, which has no module that could be imported.
const PYTHON: &str = "import importlib.util as util\n\
    spec = util.find_spec('nvidia.nccl')\n\
    print(*(spec.submodule_search_locations if spec else []), sep='\\n')";

/// NCCL, for building a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nccl {
    /// The folder of `nccl.h`.
    include: PathBuf,
    /// The folder of `libnccl.so.2`.
    lib: PathBuf,
}

/// NCCL was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no NCCL to build with (include/{HEADER} and lib/{LIBRARY}) in {}: install libnccl-dev or the Python package nvidia-nccl-cu13, or name the folder of its include and lib in {VARIABLE}",
    shown(.looked_in)
)]
pub struct NoNccl {
    /// The searched folders.
    looked_in: Vec<PathBuf>,
}

fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl Nccl {
    /// NCCL in the folder named by `NCCL_HOME`. Without that variable, NCCL of the system, or else
    /// that of the `python3` on the `PATH`.
    ///
    /// # Errors
    /// [`NoNccl`] with the searched folders.
    pub fn find() -> Result<Self, NoNccl> {
        let named = env::var_os(VARIABLE).filter(|named| !named.is_empty());
        Self::first_of(named, &OF_SYSTEM.map(PathBuf::from), &mut Command::new("python3"))
    }

    /// NCCL in the folder `named`, or in one of the folders `of_system`, or in one reported by
    /// `python`.
    fn first_of(
        named: Option<OsString>,
        of_system: &[PathBuf],
        python: &mut Command,
    ) -> Result<Self, NoNccl> {
        let mut looked_in = match &named {
            Some(named) => vec![PathBuf::from(named)],
            None => of_system.to_vec(),
        };
        if let Some(found) = looked_in.iter().find_map(|folder| Self::in_folder(folder)) {
            return Ok(found);
        }
        if named.is_none() {
            let of_python = of_python(python);
            if let Some(found) = of_python.iter().find_map(|folder| Self::in_folder(folder)) {
                return Ok(found);
            }
            looked_in.extend(of_python);
        }
        Err(NoNccl { looked_in })
    }

    /// NCCL in this folder, if both of its files exist.
    fn in_folder(folder: &Path) -> Option<Self> {
        let include = folder.join("include");
        let libs = LIBS.map(|lib| folder.join(lib));
        let lib = libs.into_iter().find(|lib| lib.join(LIBRARY).is_file())?;
        include.join(HEADER).is_file().then_some(Self { include, lib })
    }

    /// The nvcc flags for building a program that also finds the library at run time.
    pub(super) fn flags(&self) -> Vec<OsString> {
        let of = |flag: &str, folder: &Path| {
            let mut flag = OsString::from(flag);
            flag.push(folder);
            flag
        };
        vec![
            of("-I", &self.include),
            of("-L", &self.lib),
            // The Python package has no libnccl.so, which -lnccl would need.
            format!("-l:{LIBRARY}").into(),
            "-Xlinker".into(),
            of("-rpath=", &self.lib),
        ]
    }
}

/// The folders of the Python package. Empty if Python or the package is missing.
fn of_python(python: &mut Command) -> Vec<PathBuf> {
    let Ok(output) = python.args(["-c", PYTHON]).output() else {
        return Vec::new();
    };
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// A folder with empty files of these names.
    fn folder(files: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().expect("it is in a folder")).expect("a folder");
            fs::write(file, "").expect("a file");
        }
        folder
    }

    /// A Python that does not exist.
    fn no_python() -> Command {
        Command::new("/nonexistent/python3")
    }

    #[test]
    fn nccl_is_found_in_the_folders_of_system_packages() {
        for lib in LIBS {
            let library = format!("{lib}/libnccl.so.2");
            let (empty, whole) = (folder(&[]), folder(&["include/nccl.h", &library]));
            let of_system = [empty.path().to_owned(), whole.path().to_owned()];
            let found = Nccl::first_of(None, &of_system, &mut no_python());
            let (include, lib) = (whole.path().join("include"), whole.path().join(lib));
            assert_eq!(found, Ok(Nccl { include, lib }));
        }
    }

    #[test]
    fn a_header_without_its_library_or_vice_versa_is_rejected() {
        for files in [["include/nccl.h", "lib/libnccl.so.1"], ["nccl.h", "lib/libnccl.so.2"]] {
            let folder = folder(&files);
            assert_eq!(Nccl::in_folder(folder.path()), None, "{files:?}");
        }
    }

    #[test]
    fn only_the_named_folder_is_searched() {
        let whole = folder(&["include/nccl.h", "lib/libnccl.so.2"]);
        let of_system = [whole.path().to_owned()];
        let find = |named: &Path| {
            Nccl::first_of(Some(named.into()), &of_system, &mut Command::new("python3"))
        };
        assert!(find(whole.path()).is_ok());
        let error = find(Path::new("/nonexistent/nccl")).expect_err("it is not there").to_string();
        assert!(error.contains(" in /nonexistent/nccl: install "), "{error}");
        assert!(error.contains("NCCL_HOME") && error.contains("nvidia-nccl-cu13"), "{error}");
    }

    #[test]
    fn the_python_package_is_tried_last_and_reported_if_incomplete() {
        let package = "nvidia/nccl";
        let files = ["nvidia/__init__.py", "nvidia/nccl/include/nccl.h"];
        let folder = folder(&files);
        let python = || {
            let mut python = Command::new("python3");
            python.env("PYTHONPATH", folder.path());
            python
        };
        let looked_in = match python().arg("--version").output() {
            Ok(_) => vec![folder.path().join(package)],
            Err(_) => Vec::new(),
        };
        let is_there = !looked_in.is_empty();
        assert_eq!(Nccl::first_of(None, &[], &mut python()), Err(NoNccl { looked_in }));

        let lib = folder.path().join(package).join("lib");
        fs::create_dir(&lib).expect("a folder");
        fs::write(lib.join(LIBRARY), "").expect("a file");
        let include = folder.path().join(package).join("include");
        let found = Nccl::first_of(None, &[], &mut python()).ok();
        assert_eq!(found, is_there.then_some(Nccl { include, lib }));
    }

    #[test]
    fn nvcc_flags_have_both_folders_and_the_run_time_path() {
        let nccl = Nccl { include: "/a/include".into(), lib: "/a/lib".into() };
        assert_eq!(
            nccl.flags(),
            ["-I/a/include", "-L/a/lib", "-l:libnccl.so.2", "-Xlinker", "-rpath=/a/lib"]
        );
    }
}
