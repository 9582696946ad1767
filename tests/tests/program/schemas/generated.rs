//! Schemas that are generated from the types of the results.
//!
//! `TRYCMD=overwrite` writes them anew.

use gridsync_tests::program::workspace;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::env;
use std::fs;

/// The schema of the JSON of `lab NAME`, whose result is a `T`.
fn of_experiment<T: JsonSchema>(name: &str) -> (String, Value) {
    of_command::<T>(&format!("lab-{name}"))
}

/// The schema of the JSON of a command, with a hyphen for each space, whose result is a `T`.
fn of_command<T: JsonSchema>(command: &str) -> (String, Value) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    schema["title"] = json!(format!("gridsync {} with --json", command.replace('-', " ")));
    (format!("{command}.json"), schema)
}

#[test]
fn schemas_of_experiments_match_their_types() {
    for (file, schema) in [
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
