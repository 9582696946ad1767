//! `gridsync lab accuracy`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;

fn sums(shown: &Value) -> &[Value] {
    shown["sums"].as_array().expect("there should be a list")
}

#[test]
fn without_a_gpu_the_cpu_sums_and_explains_and_draws() {
    let folder = Folder::new();
    let args = ["lab", "accuracy", "--sizes", "2^10,2^12", "-o", "."];
    let shown = folder.call(&args, b"").succeeds().stdout;
    for part in ["Sums on the CPU", "sums of f32", "sums of f64", "cancelling", "Higham", "k is"] {
        assert!(shown.contains(part), "{part:?}: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let mut names = folder.names();
    names.sort();
    assert_eq!(names, ["accuracy-f32.svg", "accuracy-f64.svg"]);
    let quiet = folder.call(&[&args[..], &["--quiet"]].concat(), b"").succeeds().stdout;
    assert!(!quiet.contains("Higham") && quiet.contains("cancelling"), "{quiet}");
}

#[test]
fn invalid_sizes_are_refused() {
    for size in ["0", "2^31", "many"] {
        let args = ["lab", "accuracy", "--sizes", size];
        without_cuda(&args, b"").fails(WRONG_USAGE, &["--sizes", size]);
    }
}

#[test]
fn a_gpu_has_the_bits_of_the_cpu_on_cuda() {
    with_cuda(|_cuda| {
        let shown = gridsync(&["lab", "accuracy", "--json"], b"").json();
        assert_eq!(sums(&shown).len(), 2 * 4 * 8);
        assert!(sums(&shown).iter().all(|sums| sums["tree"]["same_bits"] == true), "{shown}");
    });
}
