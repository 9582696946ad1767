//! Finds a rustc that can compile `core` for the GPU.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::BuildError;

/// A cargo and a rustc of one toolchain that has the sources of its `core`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// The cargo to run.
    pub cargo: PathBuf,
    /// The rustc that cargo uses.
    pub rustc: PathBuf,
}

impl Compiler {
    /// The first of [`Compiler::candidates`].
    ///
    /// # Errors
    /// [`BuildError::NoCompiler`] if there is none. Its message names what to install.
    pub fn find() -> Result<Self, BuildError> {
        Self::candidates().into_iter().next().ok_or_else(|| BuildError::NoCompiler {
            looked_at: sysroots()
                .iter()
                .map(|root| root.display().to_string())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// Every kernel compiler on this machine, in order of preference:
    ///
    /// 1. `GRIDSYNC_KERNEL_CARGO` and `GRIDSYNC_KERNEL_RUSTC`, unchecked. One of them is enough.
    /// 2. The active toolchain, if it has the component `rust-src`.
    /// 3. The distribution's toolchain in `/usr`, if its sources are installed.
    pub fn candidates() -> Vec<Self> {
        let cargo = env::var_os("GRIDSYNC_KERNEL_CARGO");
        let rustc = env::var_os("GRIDSYNC_KERNEL_RUSTC");
        let named = (cargo.is_some() || rustc.is_some()).then(|| Self {
            cargo: cargo.map_or("cargo".into(), PathBuf::from),
            rustc: rustc.map_or("rustc".into(), PathBuf::from),
        });
        let mut found: Vec<Self> = named.into_iter().collect();
        for root in sysroots() {
            if root.join("lib/rustlib/src/rust/library/core").is_dir() {
                let compiler = Self::in_sysroot(&root);
                if !found.contains(&compiler) {
                    found.push(compiler);
                }
            }
        }
        found
    }

    /// Release, commit and LLVM version on one line, from `rustc -vV`.
    ///
    /// # Errors
    /// If rustc does not start or fails.
    pub fn version(&self) -> Result<String, BuildError> {
        let text = stdout(Command::new(&self.rustc).arg("-vV"))?;
        let first = text.lines().next().unwrap_or_default();
        let llvm = text.lines().find(|line| line.starts_with("LLVM version")).unwrap_or_default();
        Ok(format!("{first}, {}", llvm.replace(':', "")))
    }

    /// The root folder of this toolchain.
    pub(crate) fn sysroot(&self) -> Result<PathBuf, BuildError> {
        sysroot_of(&self.rustc)
    }

    /// `cargo`, without the environment variables of an outer cargo, rustup or shell that affect a
    /// build.
    ///
    /// Under `cargo run` or in a build script these variables select another toolchain, other flags
    /// and another target folder. They would change the PTX or make cargo use the wrong rustc.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        for (name, _) in env::vars_os() {
            if steers_the_build(&name) {
                command.env_remove(name);
            }
        }
        command.env("RUSTC", &self.rustc);
        // Stable and distribution compilers reject -Z without it. It affects only the kernel build.
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    }

    fn in_sysroot(root: &Path) -> Self {
        let own_cargo = root.join("bin/cargo");
        Self {
            cargo: if own_cargo.is_file() { own_cargo } else { "cargo".into() },
            rustc: root.join("bin/rustc"),
        }
    }
}

/// Runs a command and waits for it. If it fails, the error quotes its output.
pub(crate) fn run(command: &mut Command) -> Result<Output, BuildError> {
    let done = command.output();
    let program = PathBuf::from(command.get_program());
    match done {
        Err(source) => Err(BuildError::Start { program, source }),
        Ok(done) if !done.status.success() => Err(BuildError::Failed {
            program,
            status: done.status,
            stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
        }),
        Ok(done) => Ok(done),
    }
}

/// The standard output of a command.
pub(crate) fn stdout(command: &mut Command) -> Result<String, BuildError> {
    Ok(String::from_utf8_lossy(&run(command)?.stdout).into_owned())
}

/// The toolchain folders to search: the active one, then the distribution's.
fn sysroots() -> Vec<PathBuf> {
    let active = env::var_os("RUSTC").map_or("rustc".into(), PathBuf::from);
    let mut roots: Vec<PathBuf> = sysroot_of(&active).into_iter().collect();
    let distribution = PathBuf::from("/usr");
    if distribution.join("bin/rustc").is_file() && !roots.contains(&distribution) {
        roots.push(distribution);
    }
    roots
}

fn sysroot_of(rustc: &Path) -> Result<PathBuf, BuildError> {
    let text = stdout(Command::new(rustc).args(["--print", "sysroot"]))?;
    Ok(PathBuf::from(text.trim()))
}

fn steers_the_build(name: &OsString) -> bool {
    // These set where crates come from and what the terminal shows, which is up to the user.
    const KEPT: [&str; 6] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTR",
        "CARGO_SOURCE_",
        "CARGO_TERM_",
    ];
    let name = name.to_string_lossy();
    let steers = ["CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTUP_TOOLCHAIN"]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    steers && !KEPT.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_an_outer_cargo_are_cleared() {
        for name in [
            "CARGO",
            "CARGO_BUILD_TARGET",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_MAKEFLAGS",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_TARGET_DIR",
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(steers_the_build(&name.into()), "{name}");
        }
    }

    #[test]
    fn settings_of_crate_sources_are_kept() {
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_MINE_INDEX",
            "HTTPS_PROXY",
            "PATH",
            "RUSTUP_HOME",
        ] {
            assert!(!steers_the_build(&name.into()), "{name}");
        }
    }

    #[test]
    fn errors_quote_the_output_of_a_failed_program() {
        let error = run(Command::new("sh").args(["-c", "echo no luck >&2; exit 3"])).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no luck") && text.contains('3'), "{text}");
    }

    #[test]
    fn the_error_without_a_compiler_names_what_to_install() {
        let error = BuildError::NoCompiler { looked_at: "/opt/rust".into() };
        let text = error.to_string();
        assert!(text.contains("rustup component add rust-src"), "{text}");
        assert!(text.contains("apt-get install rustc-web cargo-web rust-web-src"), "{text}");
        assert!(text.contains("/opt/rust"), "{text}");
    }
}
