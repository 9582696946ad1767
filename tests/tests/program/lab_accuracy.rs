//! `gridsync lab accuracy`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;

fn sums(shown: &Value) -> &[Value] {
    shown["sums"].as_array().expect("there should be a list")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} should be a number"))
}

#[test]
fn every_error_is_below_its_bound_and_the_emulator_has_the_bits_of_the_cpu() {
    // Around the end of a tile, where another tree starts.
    let sizes = ["lab", "accuracy", "--sizes", "1,1000,8191,8192,8193,2^15", "--json"];
    let on = |device: &str| without_cuda(&[&sizes[..], &["--device", device]].concat(), b"").json();
    let (emulator, cpu) = (on("emulator"), on("cpu"));
    assert_eq!((&emulator["device"], &cpu["device"]), (&"emulator".into(), &"cpu".into()));
    assert_eq!(sums(&emulator), sums(&cpu));
    assert_eq!(sums(&cpu).len(), 2 * 4 * 6);
    for sums in sums(&cpu) {
        for way in ["tree", "compensated"] {
            let found = &sums[way];
            assert!(number(&found["error"]) <= number(&found["bound"]), "{sums}");
            assert_eq!((&found["error"], &found["same_bits"]), (&found["cpu_error"], &true.into()));
        }
        if sums["n"] == 1 {
            assert_eq!(number(&sums["tree"]["error"]), 0.0, "{sums}");
        }
    }
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
