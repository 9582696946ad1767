//! The probes as PTX, built once per architecture.

use crate::skipped;
use cuda_builder::{Arch, Built, Compiler, CudaBuilder};
use std::path::Path;
use std::sync::OnceLock;
use std::thread;

/// The architectures of gridsync's committed PTX: everything since Turing, and Hopper's additions.
pub(crate) const ARCHS: [Arch; 2] = [Arch::Compute75, Arch::Compute90];

/// Prefix of probes for functions of many instructions. They have no individual claims.
pub(crate) const ACCURATE: &str = "accurate_";

/// The probes for one architecture.
pub(crate) struct Probes {
    pub(crate) arch: Arch,
    pub(crate) built: Built,
    pub(crate) ptx: String,
}

/// The probes for each of [`ARCHS`]. Without a kernel compiler, prints a message and returns none.
///
/// # Panics
/// If the probes do not compile.
pub(crate) fn all() -> &'static [Probes] {
    static ALL: OnceLock<Vec<Probes>> = OnceLock::new();
    ALL.get_or_init(|| match Compiler::find() {
        // Each build uses one core.
        Ok(compiler) => thread::scope(|scope| {
            let compiler = &compiler;
            let builds = ARCHS.map(|arch| scope.spawn(move || build(arch, compiler)));
            builds.map(|built| built.join().expect("it says why it fails")).into()
        }),
        Err(why) => {
            skipped(&why.to_string());
            Vec::new()
        }
    })
}

fn build(arch: Arch, compiler: &Compiler) -> Probes {
    let built = CudaBuilder::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probes"))
        .arch(arch)
        .compiler(compiler.clone())
        .target_dir(Path::new(env!("CARGO_TARGET_TMPDIR")).join("probes"))
        .build_args(&["--locked"])
        .build()
        .unwrap_or_else(|error| panic!("the probes should compile for sm_{arch}: {error}"));
    let ptx = std::fs::read_to_string(&built.ptx).expect("the PTX was written just now");
    Probes { arch, built, ptx }
}
