//! `gridsync segments` and `gridsync group`: their outputs, their text, their checks, and their
//! refusals.

use crate::call::WRONG_USAGE;
use crate::folder::Folder;
use gridsync_tests::npy;
use half::bf16;
use serde_json::{Value, json};

/// The JSON of a checked call on each device that runs here: the same but for times.
#[track_caller]
fn everywhere(folder: &Folder, args: &[&str]) -> Value {
    let [cpu, emulator] = ["cpu", "emulator"].map(|device| {
        let more = ["--json", "--check", "--device", device];
        let json = folder.call(&[args, &more].concat(), b"").json();
        assert_eq!(json["check"]["ok"], true, "{json}");
        json["results"].clone()
    });
    assert_eq!(cpu, emulator, "{args:?}");
    cpu
}

#[test]
fn segments_have_their_sums_extremes_and_means() {
    let folder = Folder::new()
        .with("x.npy", npy::shaped("(2, 3)", &[3i32, -4, 0, i32::MAX, i32::MAX, 7]))
        .with("offsets.npy", npy::of(&[0u32, 1, 1, 5, 6]));
    let of = |op| everywhere(&folder, &["segments", "x.npy", "offsets.npy", "--op", op]);
    let sum = 2 * i64::from(i32::MAX) - 4;
    assert_eq!(of("sum"), json!([3, 0, sum, 7]));
    assert_eq!(of("max"), json!([3, i32::MIN, i32::MAX, 7]));
    assert_eq!(of("min"), json!([3, i32::MAX, -4, 7]));
    assert_eq!(of("mean"), json!([3.0, "NaN", sum as f64 / 4.0, 7.0]));
}

#[test]
fn extremes_of_segments_have_their_index_within_the_segment() {
    let folder = Folder::new()
        .with("x.npy", npy::of(&[4.0f32, 2.0, 2.0, f32::NAN, 8.0]))
        .with("offsets.npy", npy::of(&[0u32, 3, 3, 5]));
    let of = |op| everywhere(&folder, &["segments", "x.npy", "offsets.npy", "--op", op]);
    assert_eq!(of("argmin"), json!([1, u64::MAX, 0]));
    assert_eq!(of("argmax"), json!([0, u64::MAX, 0]));
}

#[test]
fn results_of_many_segments_are_written_in_their_type() {
    let values: Vec<f32> = (0..20_000u32).map(|i| i as f32 / 8.0).collect();
    let offsets: Vec<i64> = (0..=1000).map(|i| i * i / 50).collect();
    let folder =
        Folder::new().with("x.npy", npy::of(&values)).with("offsets.npy", npy::of(&offsets));
    let mut sums = Vec::new();
    for pair in offsets.windows(2) {
        sums.push(values[pair[0] as usize..pair[1] as usize].iter().map(|&x| f64::from(x)).sum());
    }
    for device in ["cpu", "emulator"] {
        let args = ["segments", "x.npy", "offsets.npy", "--acc", "f64", "-o", "sums.npy"];
        folder.call(&[&args[..], &["--check", "--device", device]].concat(), b"").succeeds();
        assert!(folder.read("sums.npy") == npy::of::<f64>(&sums), "{device}");
    }
    let printed = folder.call(&["segments", "x.npy", "offsets.npy", "-q"], b"").succeeds().stdout;
    assert_eq!(printed.lines().count(), 101);
    assert!(printed.ends_with("and 900 more segments: -o FILE writes all, --json prints all\n"));
}

#[test]
fn groups_have_the_first_of_equal_keys_in_ascending_order() {
    let nan = f32::NAN;
    let folder = Folder::new()
        .with("k.npy", npy::of(&[2.5f32, nan, -0.0, 2.5, 0.0, -1.0, nan]))
        .with("x.npy", npy::of(&[1i64, 2, 4, 8, 16, 32, 64]));
    let groups = everywhere(&folder, &["group", "k.npy", "x.npy"]);
    let group = |key: Value, count, result| json!({ "key": key, "count": count, "result": result });
    assert_eq!(
        groups,
        json!([
            group(json!(-1.0), 1, 32),
            group(json!(-0.0), 2, 20),
            group(json!(2.5), 2, 9),
            group(json!("NaN"), 2, 66),
        ])
    );
    let folder = folder.with("k.npy", npy::of(&[7u64, 7, 2, 2, 2, 7, 7]));
    let runs = everywhere(&folder, &["group", "k.npy", "x.npy", "--adjacent", "--op", "max"]);
    let runs_of = [group(json!(7), 2, 2), group(json!(2), 3, 16), group(json!(7), 2, 64)];
    assert_eq!(runs, json!(runs_of));
    let table = folder.call(&["group", "k.npy", "x.npy", "-q"], b"").succeeds().stdout;
    assert_eq!(table, "2  3  28\n7  4  99\n");
}

#[test]
fn files_of_groups_have_the_types_of_the_arrays() {
    let keys: Vec<bf16> = (0..5000).map(|i| bf16::from_f32((i * 37 % 50) as f32)).collect();
    let values: Vec<f64> = (0..5000).map(f64::from).collect();
    let folder =
        Folder::new().with("k.bin", bytemuck::cast_slice(&keys)).with("x.npy", npy::of(&values));
    let mut sums = [0.0; 50];
    for (i, value) in values.iter().enumerate() {
        sums[i * 37 % 50] += value;
    }
    for device in ["cpu", "emulator"] {
        let args = ["group", "k.bin", "x.npy", "--key-dtype", "bf16", "-o", "sums.npy"];
        let files = ["--keys", "keys.npy", "--counts", "counts.npy", "--check"];
        folder.call(&[&args[..], &files, &["--device", device]].concat(), b"").succeeds();
        let distinct: Vec<f32> = (0..50u8).map(f32::from).collect();
        assert!(folder.read("keys.npy") == npy::of(&distinct), "{device}");
        assert!(folder.read("counts.npy") == npy::of(&[100i64; 50]), "{device}");
        assert!(folder.read("sums.npy") == npy::of(&sums), "{device}");
    }
}

#[test]
fn empty_arrays_have_no_groups_and_their_segments_are_empty() {
    let folder = Folder::new()
        .with("x.npy", npy::of::<f32>(&[]))
        .with("none.npy", npy::of(&[0i64]))
        .with("two.npy", npy::of(&[0i64; 3]));
    assert_eq!(everywhere(&folder, &["segments", "x.npy", "none.npy"]), json!([]));
    assert_eq!(everywhere(&folder, &["segments", "x.npy", "two.npy"]), json!([-0.0, -0.0]));
    assert_eq!(everywhere(&folder, &["group", "x.npy", "x.npy"]), json!([]));
}

#[test]
fn arrays_that_do_not_match_are_refused_with_their_numbers() {
    let folder = Folder::new()
        .with("x.npy", npy::of(&[1.0f32, 2.0, 4.0]))
        .with("k.npy", npy::of(&[1i32, 2]))
        .with("offsets.npy", npy::of(&[0u64, 3]))
        .with("long.npy", npy::of(&[1i64, 2, 3]));
    let refuses = |line: &str, parts: &[&str]| {
        let args: Vec<_> = line.split(' ').collect();
        folder.call(&args, b"").fails(WRONG_USAGE, parts);
    };
    refuses("group k.npy x.npy", &["there are 2 keys and 3 values"]);
    refuses("segments x.npy k.npy", &["k.npy: the first offset is 1"]);
    refuses("segments x.npy x.npy", &["x.npy: offsets are integers, not f32"]);
    refuses(
        "segments x.npy offsets.npy --op prod",
        &["sum min max argmin argmax mean", "not prod"],
    );
    refuses("group long.npy long.npy --op mean", &["f32 f64 i32 u32, not of i64"]);
    refuses("group x.npy x.npy --keys x.npy", &["x.npy"]);
}
