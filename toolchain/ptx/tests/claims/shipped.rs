//! The kernels of this project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ptx::{Module, parse};
use ptx_image::{Modules, PtxImage};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The committed images: two for each set of kernels.
pub(crate) fn images() -> Vec<Vec<u8>> {
    let sets = [("host/ptx", "kernels"), ("host/lab/ptx", "lab"), ("host/examples/ptx", "examples")];
    let paths = sets.iter().flat_map(|(folder, name)| {
        ["75", "90"].map(|compute| root().join(folder).join(format!("{name}_compute_{compute}.ptxz")))
    });
    let read = |path: PathBuf| std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    paths.map(read).collect()
}

/// The text of the module of each kernel for a device.
pub(crate) fn texts(compute: u32) -> Vec<(String, String)> {
    let files = images();
    let images: Vec<_> = files.iter().map(|file| PtxImage::packed(file)).collect();
    let modules = Modules::of(&images, compute).expect("whole images");
    let text = |kernel: &str| {
        let module = modules.module(kernel).expect("whole").expect("it is listed");
        (kernel.to_owned(), module.text)
    };
    modules.kernels().map(text).collect()
}

fn parsed(kernel: &str, text: &str) -> Module {
    parse(text).unwrap_or_else(|error| panic!("{kernel}: {error}"))
}

/// The kernels that the audit lists for a target.
fn audited(sets: &[&str]) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("kernels/audit.toml")).expect("it is committed");
    let table: toml::Table = text.parse().expect("it is TOML");
    let kernels = sets.iter().flat_map(|set| table[*set].as_table().expect("a set").keys().cloned());
    kernels.collect()
}

/// Parses the module of each kernel of the audit.
fn check(compute: u32, sets: &[&str]) {
    let mut missing = audited(sets);
    for (name, text) in texts(compute) {
        let module = parsed(&name, &text);
        let kernel = module.function(&name).expect("its own kernel");
        let body = kernel.body.as_ref().expect("a body");
        // Each instruction is on a line of its own, or several are in inline PTX.
        let semicolons = text.matches(';').count();
        assert!(body.instructions.len() < semicolons && !body.instructions.is_empty(), "{name}");
        assert!(missing.remove(&name), "{name} is not in the audit");
    }
    assert!(missing.is_empty(), "{} kernels are missing: {:?}", missing.len(), missing.first());
}

#[test]
fn every_shipped_kernel_is_parsed_for_compute_75() {
    check(75, &["examples", "kernels", "lab"]);
}
