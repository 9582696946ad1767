//! `gridsync lab` without an experiment, and `gridsync lab all`.

use crate::call::without_cuda;
use crate::folder::Folder;
use crate::schemas;
use serde_json::Value;

#[test]
fn lab_alone_lists_every_experiment_and_where_it_runs() {
    let text = without_cuda(&["lab"], b"").succeeds().stdout;
    let json = without_cuda(&["lab", "--json"], b"").json();
    let listed = json["experiments"].as_array().expect("a list");
    assert!(listed.len() >= 13, "{json}");
    for experiment in listed {
        let [name, on, about] =
            ["name", "runs_on", "about"].map(|field| experiment[field].as_str().expect("a text"));
        assert!(text.contains(name) && text.contains(on), "{name}: {text}");
        assert!(!about.is_empty(), "{experiment}");
        without_cuda(&["lab", name, "--help"], b"").succeeds();
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
#[ignore = "takes half a minute"]
fn all_runs_what_needs_no_gpu_and_writes_the_figures() {
    let folder = Folder::new();
    let call = folder.call(&["lab", "all", "--device", "emulator", "--json", "-o", "."], b"");
    assert_eq!(call.code, Some(0), "{call:?}");
    let left_out: Vec<&str> = call.stderr.lines().collect();
    assert!(left_out.iter().all(|line| line.ends_with("needs a GPU")), "{left_out:?}");
    let json: Value = serde_json::from_str(&call.stdout).expect("one JSON value");
    schemas::holds_for(&schemas::validator("lab-all.json"), &json, "stress");
    let names: Vec<&String> = json.as_object().expect("an object").keys().collect();
    for name in
        ["threads", "divergence", "limits", "atomics", "locks", "banks", "accuracy", "stress"]
    {
        assert!(names.iter().any(|found| *found == name), "{name}: {names:?}");
    }
    for figure in
        ["divergence.svg", "limits.svg", "banks.svg", "accuracy-f32.svg", "operations.svg"]
    {
        assert!(folder.names().iter().any(|name| name == figure), "{figure}");
    }
}
