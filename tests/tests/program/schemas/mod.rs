//! `docs/schemas`: outputs of the program and all records match the schemas.

mod experiments;
mod generated;

use crate::call::without_cuda;
use crate::folder::Folder;
use crate::json;
use gridsync_program::records::{Document, Runs};
use gridsync_tests::npy;
use gridsync_tests::program::workspace;
use jsonschema::{Retrieve, Uri, Validator};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;

fn schema(name: &str) -> Value {
    let path = workspace().join("docs/schemas").join(name);
    let text = fs::read_to_string(path).expect("the schema should be there");
    serde_json::from_str(&text).expect("it should be JSON")
}

/// Schemas reference each other by name.
struct Beside;

impl Retrieve for Beside {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Ok(schema(uri.as_str().rsplit('/').next().unwrap_or_default()))
    }
}

pub(crate) fn validator(name: &str) -> Validator {
    let schema = schema(name);
    if let Err(error) = jsonschema::meta::validate(&schema) {
        panic!("{name} is no schema: {error}");
    }
    let build = jsonschema::options().with_retriever(Beside).build(&schema);
    build.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Checks that `value` is valid.
#[track_caller]
pub(crate) fn holds(validator: &Validator, value: &Value) {
    let errors: Vec<_> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}: {value}");
}

/// Checks that `value` is valid, and that it becomes invalid with an additional field, without
/// `needed`, or with another value of `needed`.
#[track_caller]
pub(crate) fn holds_for(validator: &Validator, value: &Value, needed: &str) {
    holds(validator, value);
    let refused = |change: fn(&mut Value, &str)| {
        let mut wrong = value.clone();
        change(&mut wrong, needed);
        assert!(!validator.is_valid(&wrong), "{wrong}");
    };
    refused(|value, _| value["another"] = json!(1));
    refused(|value, needed| value[needed] = json!({}));
    refused(|value, needed| {
        value.as_object_mut().expect("an object").remove(needed);
    });
}

#[test]
fn results_match_their_schema() {
    let validator = validator("result.json");
    let folder = Folder::new()
        .with("x.npy", npy::shaped("(2, 3)", &[1.0f32, 2.0, 3.0, 3.0, 5.0, 4.0]))
        .with("inf.npy", npy::of(&[f32::INFINITY, f32::NAN]))
        .with("big.npy", npy::of(&[i64::MAX, i64::MAX]))
        .with("q.npy", npy::shaped("(1, 2)", &[0i32, 4]));
    for (args, needed) in [
        (&["reduce", "x.npy", "--op", "sum"][..], "result"),
        (&["reduce", "big.npy", "--op", "sum"], "result"),
        (&["reduce", "inf.npy", "--op", "sum"], "result"),
        (&["reduce", "x.npy", "--op", "argmin"], "variant"),
        (&["reduce", "x.npy", "--op", "sum,argmin"], "results"),
        (&["reduce", "big.npy", "--op", "max,sum"], "op"),
        (&["reduce", "x.npy", "--op", "max", "--rows"], "columns"),
        (&["reduce", "x.npy", "--op", "max", "--rows", "-o", "o.npy"], "results"),
        (&["reduce", "big.npy", "--op", "sum", "--rows"], "rows"),
        (&["scan", "x.npy", "--op", "sum", "-o", "o.npy"], "output"),
        (&["scan", "x.npy", "--op", "sum", "--part", "2", "-o", "o.npy"], "part"),
        (&["select", "x.npy", "--where", "> 1", "-o", "o.npy", "--partition", "p.npy"], "kept"),
        (&["select", "x.npy", "--where", "> 1", "-o", "o.npy", "--positions", "p.npy"], "n"),
        (&["select", "x.npy", "--unique", "-o", "o.npy", "--counts", "p.npy"], "output"),
        (&["sort", "x.npy", "-o", "o.npy"], "output"),
        (&["sort", "x.npy", "--argsort", "-o", "o.npy"], "op"),
        (&["unique", "inf.npy"], "distinct"),
        (&["unique", "x.npy", "--counts", "c.npy", "--indices", "p.npy"], "distinct"),
        (&["unique", "x.npy", "-o", "o.npy"], "output"),
        (&["top", "x.npy", "-k", "2"], "k"),
        (&["top", "inf.npy", "-k", "2", "--indices", "p.npy"], "output"),
        (&["quantile", "x.npy"], "quantiles"),
        (&["quantile", "inf.npy", "0", "1", "--method", "weibull"], "method"),
        (&["histogram", "x.npy"], "bins"),
        (&["histogram", "x.npy", "-o", "o.npy"], "output"),
        (&["describe", "x.npy"], "std"),
        (&["describe", "inf.npy", "--ddof", "9"], "nan"),
        (&["describe", "big.npy"], "count"),
        (&["range-sum", "x.npy", "q.npy", "-o", "o.npy"], "queries"),
        (&["kendall", "x.npy", "x.npy"], "ties_both"),
    ] {
        for flags in [&["--device", "cpu"][..], &["--device", "emulator", "--check"]] {
            let result = folder.call(&[args, flags, &["--json"]].concat(), b"").json();
            holds_for(&validator, &result, needed);
            holds_for(&validator, &result, "check");
        }
    }
}

#[test]
fn a_result_of_ranks_matches_its_schema() {
    let folder = Folder::new().with("x.npy", npy::of(&[1.0f32, 2.0]));
    let mut alone = folder.command();
    alone.envs([("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1")]);
    let args = ["reduce", "x.npy", "--op", "sum", "--ranks", "--json", "--device", "cpu"];
    let result = crate::call::run(alone, &args, b"").json();
    assert_eq!(result["ranks"], 1, "{result}");
    holds_for(&validator("result.json"), &result, "transport");
}

#[test]
fn the_schema_of_results_has_the_fields_of_the_readme() {
    let schema = schema("result.json");
    let commands = schema["anyOf"].as_array().expect("the fields of each command").iter();
    let fields = commands.chain([&schema]).filter_map(|part| part["properties"].as_object());
    let fields: BTreeSet<_> = fields.flat_map(|fields| fields.keys().cloned()).collect();
    let told: BTreeSet<_> = json::rows().into_iter().flat_map(|row| row.fields).collect();
    assert_eq!(fields, told);
}

#[test]
fn all_records_match_their_schema() {
    let validator = validator("record.json");
    let runs = Runs::read(&[workspace().join("bench/runs")]).expect("the records can be read");
    let read = runs.records.iter().map(|record| &record.source).chain(&runs.replaced);
    let files: BTreeSet<_> = read.map(|source| source.path.clone()).collect();
    let mut records = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|name| name == "jsonl")) {
        for line in fs::read_to_string(file).expect("it was read before").lines() {
            let record: Value = serde_json::from_str(line).expect("a record");
            let errors: Vec<_> = validator.iter_errors(&record).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}: {line}", file.display());
            records += 1;
        }
    }
    assert!(records > 3000, "{records} records in {files:?}");
}

#[test]
fn errors_of_sums_match_their_schema_and_so_do_records() {
    let validator = validator("accuracy.json");
    let args = ["lab", "accuracy", "--sizes", "1,1000", "--device", "cpu", "--json"];
    let found = without_cuda(&args, b"").json();
    holds_for(&validator, &found, "sums");
    for field in found["sums"][0].as_object().expect("an object").keys() {
        let mut wrong = found.clone();
        wrong["sums"][0][field] = json!(-1.5);
        let is_any_number = field == "exact";
        assert_eq!(validator.is_valid(&wrong), is_any_number, "{field}");
    }
    let runs = Runs::read(&[workspace().join("bench/runs")]).expect("the records can be read");
    let accuracy = runs.documents.iter().filter(|one| matches!(one.what, Document::Accuracy(_)));
    let files: BTreeSet<_> = accuracy.map(|document| &document.source.path).collect();
    assert!(!files.is_empty(), "there is a record");
    for file in files {
        let text = fs::read_to_string(file).expect("it was read before");
        holds(&validator, &serde_json::from_str(&text).expect("JSON"));
    }
}

#[test]
fn lines_that_are_not_records_are_refused() {
    let warnings = json!([
        { "kind": "too-short", "us": 2.0, "at_least_us": 100.0 },
        { "kind": "drift", "before_us": 1.0, "after_us": 1.1, "allowed": 0.02 },
    ]);
    let record = json!({
        "suite": "reduce", "variant": "tiles", "device": "a GPU", "params": { "n": 1000 },
        "unit": "us", "median": 2.0, "min": 2.0, "max": 2.0, "samples": 1, "bytes": 4000,
        "gb_per_s": 2.0, "peer": { "name": "cub", "median": 4.0, "ratio": 0.5 },
        "warnings": warnings,
    });
    let validator = validator("record.json");
    for needed in record.as_object().expect("an object").keys().filter(|key| *key != "params") {
        holds_for(&validator, &record, needed);
    }
    for (field, wrong) in [
        ("median", json!(0)),
        ("samples", json!(0)),
        ("unit", json!("ms")),
        ("peer", json!({ "name": "cub", "median": 4.0 })),
        ("warnings", json!([{ "kind": "drift" }])),
    ] {
        let mut record = record.clone();
        record[field] = wrong;
        assert!(!validator.is_valid(&record), "{record}");
    }
}

#[test]
fn a_comparison_matches_its_schema() {
    let line = |variant: &str, median: f64| {
        json!({
            "suite": "barrier", "variant": variant, "device": "a GPU", "params": { "blocks": 132 },
            "median": median, "min": median, "max": median, "samples": 7,
        })
    };
    let file = |lines: [Value; 2]| lines.map(|line| format!("{line}\n")).concat();
    let folder = Folder::new()
        .with("before.jsonl", file([line("grid", 1.0), line("gone", 1.0)]))
        .with("after.jsonl", file([line("grid", 2.0), line("new", 1.0)]));
    let args = ["bench", "compare", "before.jsonl", "after.jsonl", "--json"];
    let compared = folder.call(&args, b"").json();
    let validator = validator("comparison.json");
    holds_for(&validator, &compared, "only_after");
    let mut wrong = compared;
    wrong["lines"][0]["verdict"] = json!("better");
    assert!(!validator.is_valid(&wrong), "{wrong}");
}
