//! `gridsync dag`.

use crate::call::{WRONG_USAGE, gridsync, without_cuda};
use crate::folder::Folder;
use gridsync_lab::dag::Method;
use gridsync_tests::devices::with_cuda;
use serde_json::Value;

/// The methods of a result, by name.
fn methods(shown: &Value) -> Vec<(&str, &Value)> {
    let methods = shown["methods"].as_array().expect("there should be methods");
    methods.iter().map(|it| (it["by"].as_str().expect("a name"), it)).collect()
}

#[test]
fn every_method_is_right_in_the_emulator_and_has_no_times() {
    for args in [
        &["dag", "--json"][..],
        &["dag", "--chain", "20", "-n", "40", "--json"],
        &["dag", "--random", "3", "--nodes", "30", "--blocks", "3", "--json"],
    ] {
        let shown = without_cuda(args, b"").json();
        let methods = methods(&shown);
        let names: Vec<_> = methods.iter().map(|&(name, _)| name).collect();
        assert_eq!(names, Method::ALL.map(Method::name), "{args:?}");
        for (name, method) in methods {
            assert_eq!(method["right"], true, "{args:?}: {name}: {method}");
            assert!(method["us"].is_null(), "{args:?}: {name}: {method}");
        }
    }
}

#[test]
fn the_diamond_is_reported_with_its_path_and_its_edges() {
    let shown =
        without_cuda(&["dag", "--by", "kernel-edges", "--by", "graph", "--microseconds", "3"], b"");
    let text = shown.succeeds().stdout;
    for part in
        ["3 nodes, 2 edges and 2 levels", "→ C, has 6.0 µs of work", "kernel-edges: one kernel"]
    {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    assert_eq!(text.matches("right").count(), 2, "{text}");
    assert!(!text.contains("device-stream"), "{text}");
}

#[test]
fn a_file_is_run_and_drawn() {
    let graph = "
        elements = 8
        [[node]]
        name = \"load <1>\"
        value = 5
        blocks = 3
        [[node]]
        name = \"join\"
        operation = \"mix\"
        after = [\"load <1>\"]";
    let folder = Folder::new().with("graph.toml", graph);
    let shown = folder.call(&["dag", "graph.toml", "--json", "-o", "out"], b"").json();
    assert_eq!((&shown["nodes"], &shown["edges"]), (&2.into(), &1.into()));
    assert!(methods(&shown).iter().all(|(_, method)| method["right"] == true), "{shown}");
    let svg = String::from_utf8(folder.read("out/dag.svg")).expect("UTF-8");
    assert!(svg.starts_with("<svg") && svg.contains("load &lt;1&gt;"), "{svg}");
    // The emulator has no times.
    assert!(!folder.path("out/timelines.svg").exists());
}

#[test]
fn a_graph_that_cannot_run_is_refused_with_the_reason() {
    let node =
        |name: &str, after: &str| format!("[[node]]\nname = \"{name}\"\nafter = [{after}]\n");
    let cycle = node("A", "\"B\"") + &node("B", "\"A\"");
    let folder = Folder::new()
        .with("cycle.toml", cycle)
        .with("bad.toml", "[[node]]\nname = 3\n")
        .with("empty.toml", "");
    for (args, parts) in [
        (&["dag", "cycle.toml"][..], &["A", "B", "cycle"][..]),
        (&["dag", "bad.toml"], &["bad.toml", "line 2", "string"]),
        (&["dag", "empty.toml"], &["empty.toml", "no [[node]]"]),
        (&["dag", "none.toml"], &["none.toml", "No such file"]),
        (&["dag", "--threads", "33"], &["33 threads", "multiple of 32"]),
        (&["dag", "--chain", "3", "--peers", "--device", "emulator"], &["--peers", "--device"]),
        (&["dag", "--chain", "201", "-o", "out"], &["201 nodes", "at most 200"]),
        (
            &["dag", "--blocks", "100000", "--by", "kernel-edges"],
            &["100000 blocks", "can be resident"],
        ),
    ] {
        folder.call(args, b"").fails(WRONG_USAGE, parts);
    }
    for (args, part) in [
        (&["dag", "--chain", "0"][..], "--chain"),
        (&["dag", "--by", "magic"], "kernel-edges"),
        (&["dag", "--nodes", "3"], "--random"),
        (&["dag", "--peers"], "--chain"),
        (&["dag", "--chain", "3", "--peers", "-n", "2"], "--elements"),
        (&["dag", "--diamond", "--chain", "3"], "--chain"),
    ] {
        let call = folder.call(args, b"");
        assert_eq!(call.code, Some(WRONG_USAGE), "{call:?}");
        assert!(call.stderr.contains(part), "{part:?}: {call:?}");
    }
    assert!(!folder.path("out").exists());
}

#[test]
fn a_gpu_has_times_of_every_method_and_draws_them() {
    with_cuda(|_| {
        let folder = Folder::new();
        let args = ["dag", "--diamond", "--microseconds", "20", "--json", "-o", "out"];
        let shown: Value = serde_json::from_str(&folder.gridsync(&args, b"").succeeds().stdout)
            .expect("one JSON value");
        for (name, method) in methods(&shown) {
            let is_there = method["absent"].is_null();
            assert_eq!(method["right"] == true, is_there, "{name}: {method}");
            // Two nodes of 20 µs run in sequence.
            assert_eq!(
                method["us"].as_f64().is_some_and(|us| us > 40.0),
                is_there,
                "{name}: {method}"
            );
        }
        assert!(folder.path("out/timelines.svg").exists());
        let args = ["dag", "--chain", "50", "--by", "graph", "--peers", "--json"];
        let shown = gridsync(&args, b"");
        if shown.code == Some(0) {
            let shown = shown.json();
            assert!(shown["methods"][0]["cpp_us"].as_f64() > Some(0.0), "{shown}");
        } else {
            assert!(shown.stderr.contains("no nvcc"), "{shown:?}");
        }
        gridsync(&["dag", "--random", "1", "--nodes", "200", "-q"], b"").succeeds();
    });
}
