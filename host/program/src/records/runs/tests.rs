//! Tests of reading runs.

use super::*;
use serde_json::json;
use tempfile::TempDir;

/// A record of a barrier at 132 blocks.
fn line(median: f64) -> String {
    json!({
        "suite": "barrier", "variant": "grid", "device": "a GPU", "params": { "blocks": 132 },
        "median": median, "min": median, "max": median, "samples": 7, "bytes": null, "peer": null,
    })
    .to_string()
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }
    folder
}

fn read(folder: &TempDir, name: &str) -> Result<Runs, RecordsError> {
    Runs::read(&[folder.path().join(name)])
}

fn medians(runs: &Runs) -> Vec<f64> {
    runs.records.iter().map(|record| record.median).collect()
}

#[test]
fn records_are_sorted_by_date_then_name() {
    let folder = folder(&[
        ("2026-11-22-gpu/scan.jsonl", &line(2.0)),
        ("2026-11-22-gpu/scan-2.jsonl", &line(3.0)),
        ("2026-11-21-gpu/z/zzz.jsonl", &line(1.0)),
        ("2026-11-21-gpu/README.md", "no record"),
    ]);
    let runs = read(&folder, "").expect("three files of records");
    assert_eq!(medians(&runs), [1.0, 2.0, 3.0]);
    let newest = runs.newest(|_| true);
    assert_eq!((newest.len(), newest[0].median), (1, 3.0));
    assert_eq!(newest[0].source.date.as_deref(), Some("2026-11-22"));
    assert_eq!(newest[0].source.name(), "2026-11-22-gpu/scan-2.jsonl");
    assert_eq!(runs.newest(|record| record.median < 2.5)[0].median, 2.0);
    assert_eq!(runs.records[0].source.folder(), "2026-11-21-gpu");
    assert_eq!(runs.records[0].source.name(), "2026-11-21-gpu/z/zzz.jsonl");
}

#[test]
fn replaced_files_are_read_only_if_named() {
    let folder = folder(&[("attach-before.jsonl", &line(2.0)), ("attach-after.jsonl", &line(1.0))]);
    let runs = read(&folder, "").expect("a file of records");
    assert_eq!((medians(&runs), runs.replaced.len()), (vec![1.0], 1));
    let runs = read(&folder, "attach-before.jsonl").expect("a file of records");
    assert_eq!((medians(&runs), runs.replaced.len()), (vec![2.0], 0));
}

#[test]
fn error_of_a_bad_line_has_its_file_and_number() {
    let good = line(1.0);
    for (bad, part) in [
        ("{", "EOF while parsing an object, at column 1"),
        (r#"{"suite": "scan"}"#, "missing field `variant`"),
        (&line(0.0), "median 0"),
    ] {
        let folder = folder(&[("runs.jsonl", &format!("{good}\n\n{bad}\n"))]);
        let error = read(&folder, "").expect_err("line 3 is bad").to_string();
        assert!(error.contains("runs.jsonl:3: not a record: "), "{error}");
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn errors_of_bad_json_and_missing_records_have_the_path() {
    let folder = folder(&[("broken.json", "{\n\"a\": ]"), ("none/notes.txt", "")]);
    let error = read(&folder, "broken.json").expect_err("it is no JSON").to_string();
    assert!(error.contains("broken.json:2: not JSON: "), "{error}");
    let error = read(&folder, "none").expect_err("there are no records").to_string();
    assert!(error.contains("no records in ") && error.contains("none"), "{error}");
    let error = read(&folder, "gone").expect_err("there is no such file").to_string();
    assert!(error.contains("no such file or folder"), "{error}");
}

#[test]
fn json_of_all_experiments_and_arrays_of_records_are_split() {
    let banks = r#"{"device": "a GPU", "loads": [], "tiles": []}"#;
    let folder = folder(&[
        ("all.json", &format!(r#"{{"banks": {banks}, "spin": {{"device": "a GPU"}}}}"#)),
        ("bench.json", &format!("[{},{}]", line(1.0), line(2.0))),
        ("other.json", r#"{"device": "a GPU"}"#),
    ]);
    let runs = read(&folder, "").expect("records and a document");
    assert_eq!((medians(&runs), runs.documents.len()), (vec![1.0, 2.0], 1));
    assert_eq!(runs.devices(), ["a GPU"]);
    let [unknown] = &runs.unknown[..] else { panic!("{:?}", runs.unknown) };
    assert!(unknown.path.ends_with("other.json"));
}

#[test]
fn json_with_times_is_read_as_records() {
    let form = json!({
        "form": "grid", "us_per_transform": 2.0, "min": 1.9, "max": 2.1, "samples": 7,
        "gain_over_launches_percent": null, "warnings": [],
    });
    let launches = json!({
        "device": "a GPU", "n": 4096, "blocks": 132, "threads": 256, "rounds": 100,
        "plan": "single", "forms": [form], "absent": [], "cost_model": null,
    });
    let rung = json!({
        "rung": 9, "name": "look-back", "n": 1 << 20, "us": 4.0, "min": 3.9, "max": 4.1,
        "samples": 7, "gb_per_s": 2097.152, "percent_of_copying": 50.0, "warnings": [],
        "shared_accesses": 0, "bank_conflicts": 0, "barriers": 1, "launches": 2,
        "words_moved": 2 << 20, "tile": 2048, "warp_operations": 0, "shuffles": 0,
    });
    let scans = json!({
        "device": "a GPU", "dtype": "u32", "n": 1 << 20, "copy_gb_per_s": 4150.0,
        "rungs": [rung], "absent": [],
    });
    let folder =
        folder(&[("launches.json", &launches.to_string()), ("scans.json", &scans.to_string())]);
    let runs = read(&folder, "").expect("two records");
    let [launches, scans] = &runs.records[..] else { panic!("{:?}", runs.records) };
    assert_eq!((&*launches.suite, launches.number("blocks")), ("launches", Some(132.0)));
    assert_eq!((&*scans.suite, scans.bytes), ("scans", Some(8 << 20)));
    assert_eq!(scans.number("copy_gb_per_s"), Some(4150.0));
}
