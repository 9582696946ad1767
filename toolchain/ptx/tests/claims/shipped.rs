//! The kernels of this project.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ptx::decode::{Operation, decode};
use ptx::{Mnemonic, parse};
use ptx_image::{Modules, PtxImage};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The committed images: two for each set of kernels.
fn images() -> Vec<Vec<u8>> {
    let sets =
        [("host/ptx", "kernels"), ("host/lab/ptx", "lab"), ("host/examples/ptx", "examples")];
    let paths = sets.iter().flat_map(|(folder, name)| {
        ["75", "90"]
            .map(|compute| root().join(folder).join(format!("{name}_compute_{compute}.ptxz")))
    });
    let read =
        |path: PathBuf| std::fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    paths.map(read).collect()
}

/// The text of the module of each kernel for a device.
fn texts(compute: u32) -> Vec<(String, String)> {
    let files = images();
    let images: Vec<_> = files.iter().map(|file| PtxImage::packed(file)).collect();
    let modules = Modules::of(&images, compute).expect("whole images");
    let text = |kernel: &str| {
        let module = modules.module(kernel).expect("whole").expect("it is listed");
        (kernel.to_owned(), module.text)
    };
    modules.kernels().map(text).collect()
}

/// The kernels of a target, with the number of their block barriers, as the audit lists them.
fn audited(compute: u32) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(root().join("kernels/audit.toml")).expect("it is committed");
    let table: toml::Table = text.parse().expect("it is TOML");
    let of_target = format!("_compute_{compute}");
    let sets =
        table.iter().filter(|(set, _)| set.ends_with(&of_target) || !set.contains("_compute_"));
    let kernels = sets.flat_map(|(_, set)| set.as_table().expect("a set of kernels"));
    kernels.map(|(kernel, count)| (kernel.clone(), barriers(count))).collect()
}

fn barriers(count: &toml::Value) -> usize {
    count.as_integer().and_then(|count| count.try_into().ok()).expect("a number of barriers")
}

/// Parses and decodes the module of each kernel of the audit for a target.
fn check(compute: u32) {
    let mut missing = audited(compute);
    let mut decoded: HashMap<Arc<Mnemonic>, Operation> = HashMap::new();
    for (name, text) in texts(compute) {
        let module = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let body = module.function(&name).and_then(|kernel| kernel.body.as_ref());
        let mut barriers = 0;
        for instruction in &body.expect("its own kernel").instructions {
            let mnemonic = Arc::clone(&instruction.mnemonic);
            let operation = decoded.entry(mnemonic).or_insert_with_key(|mnemonic| decode(mnemonic));
            let known = !matches!(operation, Operation::Unknown(_) | Operation::Refused(_));
            assert!(known, "{name}, line {}: {operation:?}", instruction.line);
            barriers += usize::from(matches!(operation, Operation::Barrier { .. }));
        }
        assert_eq!(Some(barriers), missing.remove(&name), "{name}");
    }
    assert!(missing.is_empty(), "{} are missing: {:?}", missing.len(), missing.first_key_value());
}

#[test]
fn every_kernel_for_compute_75_is_decoded_and_has_the_barriers_of_the_audit() {
    check(75);
}

#[test]
fn every_kernel_for_compute_90_is_decoded_and_has_the_barriers_of_the_audit() {
    check(90);
}
