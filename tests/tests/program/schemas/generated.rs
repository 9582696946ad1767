//! Schemas that are generated from the types of the results.
//!
//! `TRYCMD=overwrite` writes them anew.

use gridsync_lab::bench::Record;
use gridsync_program::cli::results;
use gridsync_program::records::Comparison;
use gridsync_tests::program::workspace;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::env;
use std::fs;

/// The schema of the JSON of `lab NAME`, whose result is a `T`.
fn of_experiment<T: JsonSchema>(name: &str) -> (String, Value) {
    of::<T>(&format!("lab-{name}"), &format!("gridsync lab {name} with --json"))
}

/// The schema of the JSON of a command whose result is a `T`.
fn of_command<T: JsonSchema>(name: &str) -> (String, Value) {
    of::<T>(name, &format!("gridsync {name} with --json"))
}

/// The schema of a `T`, for the file `name`.
fn of<T: JsonSchema>(name: &str, title: &str) -> (String, Value) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["title"] = json!(title);
    (format!("{name}.json"), schema)
}

#[test]
fn schemas_match_the_types_of_the_results() {
    for (file, schema) in [
        of::<results::Computed>(
            "result",
            "gridsync reduce, scan, select, sort, unique, top, quantile, histogram, describe, range-sum and kendall with --json",
        ),
        of::<Record>(
            "record",
            "A line that gridsync bench, lab ladder, lab scans, lab sorts and lab launches record",
        ),
        of::<Comparison>("comparison", "gridsync bench compare with --json"),
        of::<results::Experiments>("lab", "gridsync lab with --json, without an experiment"),
        of::<gridsync_lab::accuracy::Report>("accuracy", "gridsync lab accuracy with --json"),
        of::<gridsync_lab::litmus::Answer>(
            "lab-litmus",
            "Each line of gridsync lab litmus with --json: a test",
        ),
        of_command::<results::Devices>("devices"),
        of_command::<results::Verified>("verify"),
        of_command::<gridsync_lab::xpx::Report>("demo"),
        of_command::<results::Emulated>("emulate"),
        of_command::<results::Checked>("check"),
        of_command::<gridsync_lab::dag::Report>("dag"),
        of_experiment::<gridsync_lab::atomics::Report>("atomics"),
        of_experiment::<gridsync_lab::banks::Report>("banks"),
        of_experiment::<gridsync_lab::divergence::Report>("divergence"),
        of_experiment::<gridsync_lab::fences::Report>("fences"),
        of_experiment::<gridsync_lab::ladder::Report>("ladder"),
        of_experiment::<gridsync_lab::launches::Report>("launches"),
        of_experiment::<gridsync_lab::limits::Report>("limits"),
        of_experiment::<gridsync_lab::locks::Report>("locks"),
        of_experiment::<gridsync_lab::memory::Report>("memory"),
        of_experiment::<gridsync_lab::ladder::Report>("scans"),
        of_experiment::<gridsync_lab::ladder::Report>("sorts"),
        of_experiment::<gridsync_lab::spin::Report>("spin"),
        of_experiment::<gridsync_lab::stress::Report>("stress"),
        of_experiment::<gridsync_lab::threads::Report>("threads"),
    ] {
        let path = workspace().join("docs/schemas").join(&file);
        let generated = serde_json::to_string_pretty(&schema).expect("it is JSON") + "\n";
        if env::var("TRYCMD").as_deref() == Ok("overwrite") {
            fs::write(&path, &generated).expect("the file can be written");
        }
        let committed = fs::read_to_string(&path).expect("the schema should be there");
        assert!(
            committed == generated,
            "{file} is out of date: TRYCMD=overwrite cargo test -p gridsync-tests --test program generated"
        );
    }
}
