//! Runs the build: a nested cargo, whose PTX is then cleaned up and written.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::compiler::{run, stdout};
use crate::made_from::made_from;
use crate::ptx::tidy;
use crate::{Arch, BuildError, Compiler, Header, Sources, fingerprint, kernels};

/// Builds one kernels crate for one architecture.
#[derive(Debug, Clone)]
#[must_use = "nothing is built before `build`"]
pub struct CudaBuilder {
    path: PathBuf,
    arch: Arch,
    compiler: Option<Compiler>,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    build_args: Vec<String>,
    source_dirs: Vec<String>,
}

/// The result of a build.
#[derive(Debug, Clone)]
pub struct Built {
    /// The PTX file: the copy if [`copy_to`](CudaBuilder::copy_to) was called, otherwise the file
    /// in the target folder.
    pub ptx: PathBuf,
    /// The compiler version, on one line ([`Compiler::version`]).
    pub compiler: String,
    /// The names of the kernels, in the order of the file.
    pub kernels: Vec<String>,
    /// The compiler's warnings.
    pub warnings: Vec<String>,
    /// The files that the PTX was built from: sources and manifests of the crate and of its path
    /// dependencies. A build script that prints `cargo:rerun-if-changed=` for each of them reruns
    /// when one changes.
    pub made_from: Vec<PathBuf>,
}

impl CudaBuilder {
    /// A build of the crate in folder `path`, for [`Arch::Compute75`] unless [`arch`](Self::arch)
    /// is called.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            arch: Arch::default(),
            compiler: None,
            copy_to: None,
            target_dir: None,
            build_args: Vec::new(),
            source_dirs: Vec::new(),
        }
    }

    /// The architecture to build for.
    pub fn arch(mut self, arch: Arch) -> Self {
        self.arch = arch;
        self
    }

    /// The compiler to use, instead of the one from [`Compiler::find`].
    pub fn compiler(mut self, compiler: Compiler) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// The output file for the PTX. Its folder is created if it does not exist.
    pub fn copy_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.copy_to = Some(file.into());
        self
    }

    /// The folder for cargo's output, instead of `target/kernels` in the crate's workspace.
    pub fn target_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(dir.into());
        self
    }

    /// Additional arguments for cargo, for example `--locked` or `--features`.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Folders, relative to the root of the workspace. The PTX header records their
    /// [`fingerprint`].
    pub fn sources(mut self, dirs: &[impl AsRef<str>]) -> Self {
        self.source_dirs = dirs.iter().map(|dir| dir.as_ref().to_owned()).collect();
        self
    }

    /// Compiles the crate and writes the PTX.
    ///
    /// `core` is compiled too, with the same flags. Fat LTO keeps only what the kernels call.
    ///
    /// A panic is one `trap` (`-Cpanic=immediate-abort`). A call into `core::panicking` would cost
    /// every kernel with a bounds check registers and a stack frame, for a message that is lost.
    ///
    /// The MIR pass JumpThreading is off because it duplicates block barriers
    /// (rust-lang/rust#137086).
    ///
    /// The first build needs about half a minute, a later one about a second.
    ///
    /// # Errors
    /// If no compiler is found, if the compiler fails (the error quotes its output), or if a file
    /// cannot be read or written.
    pub fn build(self) -> Result<Built, BuildError> {
        let path = fs::canonicalize(&self.path).map_err(BuildError::io(&self.path))?;
        let compiler = match &self.compiler {
            Some(chosen) => chosen.clone(),
            None => Compiler::find()?,
        };
        let version = compiler.version()?;
        let root = workspace_root(&compiler, &path)?;
        let sources = match self.source_dirs.as_slice() {
            [] => None,
            dirs => Some(Sources { sha256: fingerprint(&root, dirs)?, dirs: dirs.to_vec() }),
        };

        let flags = rustflags(self.arch, &root, &compiler.sysroot()?);
        let base = self.target_dir.unwrap_or_else(|| root.join("target/kernels"));
        // Cargo names the result of a cdylib only after the crate, and considers it fresh even if
        // other flags or another compiler built it. So each combination has its own folder.
        let key = short_hash(&[flags.as_str(), version.as_str(), &self.build_args.join(" ")]);
        let target_dir = base.join(format!("sm_{}-{key}", self.arch));
        fs::create_dir_all(&target_dir).map_err(BuildError::io(&target_dir))?;
        let target_dir = fs::canonicalize(&target_dir).map_err(BuildError::io(&target_dir))?;
        let raw = target_dir.join("kernels.raw.ptx");

        let mut cargo = compiler.command();
        cargo
            .current_dir(&path)
            .args(["rustc", "--release", "--lib", "--crate-type=cdylib"])
            .args(["--target=nvptx64-nvidia-cuda", "-Zbuild-std=core"])
            .args(&self.build_args)
            .args(["--color=never", "--message-format=json-render-diagnostics"])
            .args(["--", &format!("--emit=asm={}", raw.display())])
            .env("CARGO_TARGET_DIR", &target_dir)
            .env("CARGO_ENCODED_RUSTFLAGS", flags);
        for (setting, value) in PROFILE {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
        }
        let said = run(&mut cargo)?;

        let text = fs::read_to_string(&raw).map_err(BuildError::io(&raw))?;
        let header = Header { target: target_line(self.arch), compiler: version.clone(), sources };
        let text = format!("{header}\n{}", tidy(&text));
        let ptx = self.copy_to.unwrap_or_else(|| target_dir.join("kernels.ptx"));
        write(&ptx, &text)?;
        Ok(Built {
            kernels: kernels(&text),
            ptx,
            compiler: version,
            warnings: warnings(&String::from_utf8_lossy(&said.stderr)),
            made_from: made_from(&String::from_utf8_lossy(&said.stdout), &target_dir)?,
        })
    }
}

/// The release profile of a kernels crate. It overrides the profile of the workspace.
const PROFILE: [(&str, &str); 8] = [
    ("CODEGEN_UNITS", "1"),
    ("DEBUG", "false"),
    ("DEBUG_ASSERTIONS", "false"),
    ("INCREMENTAL", "false"),
    ("LTO", "fat"),
    ("OPT_LEVEL", "3"),
    ("OVERFLOW_CHECKS", "false"),
    ("PANIC", "abort"),
];

/// The flags for every device crate, including `core`, in cargo's encoding.
fn rustflags(arch: Arch, root: &Path, sysroot: &Path) -> String {
    let mut flags = vec![
        format!("-Ctarget-cpu=sm_{arch}"),
        format!("-Ctarget-feature=+ptx{}", arch.ptx_version()),
        // Linking is not needed: fat LTO produces one module, and its PTX is copied before the
        // linker runs.
        "-Clinker=true".into(),
        "-Zunstable-options".into(),
        "-Cpanic=immediate-abort".into(),
        "-Zmir-enable-passes=-JumpThreading".into(),
        // New lints of a newer compiler must not stop the build: lints are checked elsewhere.
        "--cap-lints=warn".into(),
        format!("--remap-path-prefix={}=/rust", sysroot.display()),
        format!("--remap-path-prefix={}=/src", root.display()),
    ];
    if let Some(home) = cargo_home() {
        flags.push(format!("--remap-path-prefix={}=/cargo", home.display()));
    }
    for capability in [80, 90] {
        if arch.capability() >= capability {
            flags.push(format!("--cfg=compute_ge_{capability}"));
        }
    }
    flags.join("\u{1f}")
}

fn cargo_home() -> Option<PathBuf> {
    env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| env::home_dir().map(|home| home.join(".cargo")))
}

fn workspace_root(compiler: &Compiler, path: &Path) -> Result<PathBuf, BuildError> {
    let manifest = stdout(compiler.command().current_dir(path).args([
        "locate-project",
        "--workspace",
        "--message-format=plain",
    ]))?;
    let manifest = Path::new(manifest.trim());
    Ok(manifest.parent().unwrap_or(manifest).to_owned())
}

fn target_line(arch: Arch) -> String {
    let version = arch.ptx_version();
    format!("sm_{arch}, PTX ISA {}.{}", version / 10, version % 10)
}

fn short_hash(parts: &[&str]) -> String {
    let hash = Sha256::digest(parts.join("\n"));
    hash[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the file atomically, so an interrupted build never leaves half a module.
fn write(file: &Path, text: &str) -> Result<(), BuildError> {
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(BuildError::io(dir))?;
    }
    let partial = file.with_extension("ptx.partial");
    fs::write(&partial, text).map_err(BuildError::io(&partial))?;
    fs::rename(&partial, file).map_err(BuildError::io(file))
}

/// The warnings in cargo's output, without its summaries and the warning that the flags above
/// always cause. A warning ends at the next empty line.
fn warnings(stderr: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    for line in stderr.lines() {
        if line.starts_with("warning: ") {
            let summary = line.starts_with("warning: `") && line.contains(" generated ");
            let ours = line.contains("unstable feature specified for `-Ctarget-feature`");
            inside = !summary && !ours;
            if inside {
                found.push(line.to_owned());
            }
        } else if line.is_empty() {
            inside = false;
        } else if inside && let Some(warning) = found.last_mut() {
            warning.push('\n');
            warning.push_str(line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_sets_its_target_and_cfgs() {
        let flags = |arch| rustflags(arch, Path::new("/w"), Path::new("/s"));
        let turing = flags(Arch::Compute75);
        assert!(turing.contains("-Ctarget-cpu=sm_75") && turing.contains("+ptx74"));
        assert!(!turing.contains("compute_ge"));
        assert!(flags(Arch::Compute86).contains("compute_ge_80"));
        assert!(!flags(Arch::Compute86).contains("compute_ge_90"));
        assert!(flags(Arch::Compute120).contains("compute_ge_90"));
        assert_eq!(target_line(Arch::Compute90), "sm_90, PTX ISA 8.0");
    }

    #[test]
    fn warnings_of_the_code_are_kept_and_those_of_the_flags_dropped() {
        let stderr = "   Compiling a v0.1.0
warning: unstable feature specified for `-Ctarget-feature`: `ptx80`
  |
  = note: x

warning: `a` (lib) generated 1 warning
   Compiling b v0.1.0
warning: unused variable: `x`
 --> b.rs:1

warning: `b` (lib) generated 2 warnings (1 duplicate)
    Finished";
        assert_eq!(warnings(stderr), ["warning: unused variable: `x`\n --> b.rs:1"]);
    }
}
