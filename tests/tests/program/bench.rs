//! `gridsync bench`.

use crate::call::{DEVICE_FAILURE, WRONG_USAGE, gridsync, without_cuda};
use crate::help::flags;
use gridsync_tests::devices::with_cuda;
#[cfg(unix)]
use {
    crate::call::{Call, run},
    crate::folder::Folder,
    std::{env, fs, os::unix::fs::PermissionsExt},
};

#[test]
fn the_time_of_an_emulated_grid_is_refused() {
    for suite in ["barrier", "reduce", "scan", "kendall", "python"] {
        let call = without_cuda(&["bench", suite, "--device", "emulator"], b"");
        call.fails(WRONG_USAGE, &["emulated", "needs a GPU"]);
    }
    without_cuda(&["bench", "barrier", "--device", "cuda"], b"").fails(DEVICE_FAILURE, &["driver"]);
}

#[test]
fn benchmarks_of_several_gpus_are_refused_without_a_gpu() {
    for suite in ["system", "scaling"] {
        let bench = |args: &[&str]| without_cuda(&[&["bench", suite], args].concat(), b"");
        let emulated = bench(&["--device", "emulator"]);
        emulated.fails(WRONG_USAGE, &["emulated", "needs a GPU"]);
        for args in [&[][..], &["--device", "cuda"], &["--device", "cuda:0,1"], &["--json"]] {
            let call = bench(args);
            assert_eq!(call.stderr.lines().count(), 1, "{}", call.stderr);
            call.fails(DEVICE_FAILURE, &["bench needs ", "CUDA driver", "GRIDSYNC_LIBCUDA"]);
        }
    }
    let peers = without_cuda(&["bench", "system", "--peers"], b"");
    peers.fails(DEVICE_FAILURE, &["bench needs "]);
}

#[test]
fn designs_of_one_gpu_are_refused_for_several() {
    let system = |args: &[&str]| without_cuda(&[&["bench", "system"], args].concat(), b"");
    system(&["--only", "barrier,split"]).fails(WRONG_USAGE, &["no split", "barrier, all-reduce"]);
}

#[test]
fn an_unknown_suite_design_or_shape_is_refused() {
    let bench = |args: &[&str]| without_cuda(&[&["bench"], args].concat(), b"");
    bench(&[]).fails(WRONG_USAGE, &["subcommands: barrier, all-reduce"]);
    bench(&["bariers"]).fails(WRONG_USAGE, &["'bariers'", "'barrier'"]);
    bench(&["barrier", "--only", "split,spilt"])
        .fails(WRONG_USAGE, &["spilt", "split, split-4", "lock-free, cluster-2, cluster-4]"]);
    bench(&["barrier", "--blocks", "132,0"]).fails(WRONG_USAGE, &["--blocks", "0"]);
    bench(&["barrier", "--threads", "many"]).fails(WRONG_USAGE, &["--threads", "many"]);
    bench(&["reduce", "--ops", "sum,mean"]).fails(WRONG_USAGE, &["mean", "sum, min, max"]);
    bench(&["reduce", "--dtypes", "f16"]).fails(WRONG_USAGE, &["f16", ": f32, f64, i32, u64]"]);
    bench(&["reduce", "--sizes", "2^20,2^64"])
        .fails(WRONG_USAGE, &["2^64", "from 1 to 72057594037927936"]);
    bench(&["sort", "--peers=cub"]).fails(WRONG_USAGE, &["cub", "cuda, cpu, torch, cupy"]);
    bench(&["scaling", "--stripe", "1000"])
        .fails(WRONG_USAGE, &["--stripe", "1000 is not a power"]);
}

#[test]
fn the_help_of_a_suite_has_exactly_the_flags_that_it_accepts() {
    let grids = ["--only", "--blocks", "--threads"];
    let arrays = ["--sizes", "--ops", "--dtypes"];
    let values = ["split", "2", "64", "1000", "sum", "f32", "2^20", "out.svg"];
    let all = [&grids[..], &arrays, &["--stripe", "--svg"]].concat();
    for (suites, accepted) in [
        (&["barrier", "all-reduce", "scan-threads"][..], grids.to_vec()),
        (&["system"], [&grids[..], &["--svg"]].concat()),
        (&["scaling"], vec!["--sizes", "--stripe", "--svg"]),
        (&["calls"], vec!["--sizes"]),
        (&["python"], vec!["--sizes", "--ops"]),
        (
            &[
                "reduce",
                "reduce-rows",
                "scan",
                "scan-rows",
                "select",
                "partition",
                "unique",
                "segments",
                "by-key",
                "softmax",
                "histogram",
                "kendall",
            ],
            arrays.to_vec(),
        ),
    ] {
        for suite in suites {
            let listed = flags(&["bench", suite]);
            for (flag, value) in all.iter().zip(values) {
                let is_accepted = accepted.contains(flag);
                assert_eq!(
                    listed.iter().any(|listed| listed == flag),
                    is_accepted,
                    "{suite} {flag}"
                );
                if !is_accepted {
                    let call = without_cuda(&["bench", suite, flag, value], b"");
                    call.fails(WRONG_USAGE, &[flag, "unexpected argument", "--help"]);
                }
            }
        }
    }
}

#[test]
fn flags_may_come_before_the_suite_and_name_what_other_suites_have() {
    for args in [
        &["bench", "--peers", "barrier"][..],
        &["bench", "--peers=cuda,torch", "sort"],
        &["bench", "-o", "reduce", "--sizes", "5", "scan"],
        &["bench", "barrier", "--only", "split,exchange"],
        &["bench", "reduce", "--ops", "sum,select", "--dtypes", "u32,f32"],
        &["bench", "scaling", "--peers"],
    ] {
        without_cuda(args, b"").fails(DEVICE_FAILURE, &["needs a GPU"]);
    }
}

/// The variant, the length and the bytes of each record. Checks that each has a throughput and no
/// peer.
fn throughputs(args: &[&str]) -> Vec<(String, u64, u64)> {
    let records = gridsync(&[&["bench"], args, &["--json"]].concat(), b"").json();
    let records = records.as_array().expect("an array of records");
    let told = records.iter().map(|record| {
        assert!(record["gb_per_s"].as_f64() > Some(0.0), "{record}");
        assert!(record["peer"].is_null(), "{record}");
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let variant = record["variant"].as_str().expect("a name");
        let (n, bytes) = (number(&record["params"]["n"]), number(&record["bytes"]));
        (variant.to_owned(), n, bytes)
    });
    told.collect()
}

#[test]
fn the_time_of_a_reduction_reads_its_bytes_in_a_row_and_alone_on_cuda() {
    with_cuda(|_cuda| {
        let shape = ["--ops", "min", "--dtypes", "f32", "--sizes", "1000,2^20"];
        let told = throughputs(&[&["reduce"], &shape[..]].concat());
        let of = |n: u64| ("tiles".to_owned(), n, 4 * n);
        assert_eq!(told, [of(1000), of(1000), of(1 << 20), of(1 << 20)]);
    });
}

#[test]
fn the_time_of_a_scan_reads_and_writes_its_bytes_and_each_design_has_its_own_on_cuda() {
    with_cuda(|cuda| {
        let told = throughputs(&["scan", "--dtypes", "u32", "--sizes", "1000,2^20"]);
        for (_, n, bytes) in &told {
            assert_eq!(*bytes, 2 * 4 * n);
        }
        let variants = |of: u64| -> Vec<&str> {
            let told = told.iter().filter(|(_, n, _)| *n == of);
            told.map(|(variant, ..)| variant.as_str()).collect()
        };
        assert_eq!(variants(1000), ["auto", "auto"], "in a row and alone");
        let both = ["auto", "registers", "bulk"];
        if cuda.properties().compute >= 90 {
            assert_eq!(variants(1 << 20), [both, both].concat())
        } else {
            assert_eq!(variants(1 << 20), ["auto", "auto"])
        }
    });
}

#[test]
fn the_time_of_run_lengths_writes_the_elements_and_the_places_of_the_runs_on_cuda() {
    with_cuda(|_cuda| {
        let told = throughputs(&["unique", "--ops", "run-lengths", "--sizes", "2^20"]);
        let each = [("kept 1 %", 1), ("kept 50 %", 50), ("kept 100 %", 100)];
        let twice = each.repeat(2).into_iter().map(|(variant, percent)| {
            let n = 1 << 20;
            (variant.to_owned(), n, 4 * n + (4 + 8) * n * percent / 100)
        });
        assert_eq!(told, twice.collect::<Vec<_>>(), "in a row and alone");
    });
}

#[test]
fn the_time_of_a_correlation_reads_both_arrays_and_few_pairs_are_counted_on_cuda() {
    with_cuda(|_cuda| {
        let told = throughputs(&["kendall", "--dtypes", "i32", "--sizes", "1000,2^17"]);
        let short = ["auto", "pairs", "sort"].map(|variant| (variant, 1000));
        let long = ["auto", "sort"].map(|variant| (variant, 1 << 17));
        let twice = [short.repeat(2), long.repeat(2)].concat().into_iter();
        let twice = twice.map(|(variant, n)| (variant.to_owned(), n, 2 * 4 * n));
        assert_eq!(told, twice.collect::<Vec<_>>(), "in a row and alone");
    });
}

#[test]
fn its_records_have_the_keys_that_scripts_read_on_cuda() {
    with_cuda(|_cuda| {
        let args = ["bench", "barrier", "--only", "split,phase", "--json"];
        let records = gridsync(&args, b"").json();
        let records = records.as_array().expect("an array of records");
        assert!(records.len() >= 32, "two barriers over the shapes that fit");
        for record in records {
            for key in [
                "suite", "variant", "device", "params", "unit", "median", "min", "max", "samples",
                "bytes", "gb_per_s", "peer", "warnings",
            ] {
                assert!(record.get(key).is_some(), "{key} in {record}");
            }
            let [min, median, max] = ["min", "median", "max"].map(|key| record[key].as_f64());
            assert!(min <= median && median <= max, "{record}");
        }
    });
}

#[test]
fn only_the_requested_cases_are_measured_on_cuda() {
    with_cuda(|_cuda| {
        let bench = |shape: &[&str]| {
            let args = ["bench", "barrier", "--only", "phase", "--json"];
            gridsync(&[&args, shape].concat(), b"")
        };
        let records = bench(&["--blocks", "2,4", "--threads", "64"]).json();
        let records = records.as_array().expect("an array of records");
        let blocks: Vec<_> = records.iter().map(|r| r["params"]["blocks"].as_u64()).collect();
        assert_eq!(blocks, [Some(2), Some(4)]);
        for record in records {
            assert_eq!(record["variant"], "phase");
            assert_eq!(record["params"]["threads"], 64);
            assert!(record["samples"].as_u64() >= Some(7), "{record}");
        }
        bench(&["--blocks", "1000000"]).fails(WRONG_USAGE, &["1 designs", "gridsync devices"]);
    });
}

#[test]
fn a_gpu_used_as_two_crosses_with_itself_and_is_drawn_on_cuda() {
    with_cuda(|cuda| {
        let folder = tempfile::tempdir().expect("a folder");
        let (records, svg) = (folder.path().join("out.jsonl"), folder.path().join("out.svg"));
        let [out, figure] = [&records, &svg].map(|path| path.to_str().expect("a plain path"));
        let shape = ["--device", "cuda:0,0", "--blocks", "2,1000000", "--threads", "64"];
        let files = ["-o", out, "--svg", figure];
        gridsync(&[&["bench", "system"], &shape[..], &files[..]].concat(), b"").succeeds();
        let lines = std::fs::read_to_string(&records).expect("the records");
        let told: Vec<_> = lines
            .lines()
            .map(|line| {
                let record: serde_json::Value = serde_json::from_str(line).expect("a JSON value");
                assert_eq!(record["device"], cuda.properties().name, "{record}");
                assert!(record["median"].as_f64() > Some(0.0), "{record}");
                assert!(record["peer"].is_null(), "{record}");
                let params = record["params"].clone();
                assert_eq!((&params["blocks"], &params["threads"]), (&2.into(), &64.into()));
                let gpus = params["gpus"].as_u64().expect("a number");
                assert_eq!(params["ordinals"], serde_json::json!(vec![0; gpus as usize]));
                format!("{} of {gpus}", record["variant"].as_str().expect("a name"))
            })
            .collect();
        assert_eq!(told, ["barrier of 1", "all-reduce of 1", "barrier of 2", "all-reduce of 2"]);
        let figure = std::fs::read_to_string(&svg).expect("the figure");
        assert!(figure.contains("all-reduce, 2 × 64"), "{figure}");
    });
}

#[test]
fn arrays_over_several_gpus_have_a_record_each_and_a_figure_on_cuda() {
    with_cuda(|cuda| {
        let dir = tempfile::tempdir().expect("a folder");
        let [records, svg] = ["scaling.jsonl", "scaling.svg"].map(|name| dir.path().join(name));
        let [out, figure] = [&records, &svg].map(|path| path.to_str().expect("a plain path"));
        let shape = ["--device", "cuda:0,0", "--sizes", "2^20,1000001"];
        let files = ["-o", out, "--svg", figure];
        gridsync(&[&["bench", "scaling"], &shape[..], &files[..]].concat(), b"").succeeds();
        let lines = std::fs::read_to_string(&records).expect("the records");
        let mut told = Vec::new();
        for line in lines.lines() {
            let record: serde_json::Value = serde_json::from_str(line).expect("a JSON value");
            assert_eq!(record["device"], cuda.properties().name, "{record}");
            assert!(record["gb_per_s"].as_f64() > Some(0.0), "{record}");
            let params = &record["params"];
            let number = |name: &str| params[name].as_u64().expect("a number");
            told.push((record["variant"].clone(), number("gpus"), number("n")));
        }
        let mut expected = Vec::new();
        for (gpus, lens) in
            [(1, &[1_000_001, 1 << 20][..]), (2, &[1_000_001, 1 << 20, 2_000_002, 2 << 20])]
        {
            for &n in lens {
                expected.extend(["sum", "value", "scan"].map(|what| (what.into(), gpus, n)));
            }
        }
        assert_eq!(told, expected);
        let figure = std::fs::read_to_string(&svg).expect("the figure");
        assert!(figure.contains("<svg") && figure.contains("GPUs"), "{figure}");
    });
}

/// The suite python with the fake driver, where Python is this shell script, and its records.
#[cfg(unix)]
fn by_python(script: &str, args: &[&str]) -> (Call, String) {
    let folder = Folder::new().with("python", format!("#!/bin/sh\n{script}\n"));
    let python = folder.path("python");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is mine");
    let test = env::current_exe().expect("a test knows where it is");
    let mut command = folder.command();
    command
        .env("GRIDSYNC_LIBCUDA", test.with_file_name("libgridsync_fake_driver.so"))
        .env("GRIDSYNC_PYTHON", python);
    let args = [&["bench", "python", "--device", "cuda", "-o", "out.jsonl"], args].concat();
    let call = run(command, &args, b"");
    (call, fs::read_to_string(folder.path("out.jsonl")).unwrap_or_default())
}

#[cfg(unix)]
#[test]
fn calls_of_python_have_records_beside_those_of_torch() {
    let script = "while read call rest; do\n\
        case $call in gridsync.topk) continue ;; gridsync.*) us=2 ;; *) us=4 ;; esac\n\
        echo \"$call $rest: $us 0 $us $us 9\"; done; echo 'note: error: gridsync.topk: TypeError: why'";
    let args = ["--peers=torch", "--ops", "sum,topk", "--sizes", "2^10,2^20"];
    let (call, records) = by_python(script, &args);
    assert_eq!(call.code, Some(0), "{call:?}");
    assert_eq!(call.stdout.lines().count(), 6, "a head and five rows: {}", call.stdout);
    assert_eq!(call.stderr, "gridsync: arrays of torch: error: gridsync.topk: TypeError: why\n");
    let told = records.lines().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).expect("a JSON value");
        assert_eq!(
            (&record["variant"], &record["peer"]["name"]),
            (&"sum".into(), &"torch.sum".into())
        );
        assert_eq!(
            (record["median"].as_f64(), record["peer"]["ratio"].as_f64()),
            (Some(2.0), Some(0.5))
        );
        let params = &record["params"];
        assert_eq!((&params["arrays"], &params["dtype"]), (&"torch".into(), &"f32".into()));
        format!("{} of {}", params["time"].as_str().expect("a name"), params["n"])
    });
    let expected =
        ["device of 1024", "device of 1048576", "wall of 1024", "wall of 1048576", "host of 1024"];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[cfg(unix)]
#[test]
fn calls_of_python_are_skipped_without_the_package_but_a_failure_is_an_error() {
    let (skipped, records) = by_python("echo 'no gridsync: install it' >&2; exit 4", &["--json"]);
    assert_eq!((skipped.code, &*skipped.stdout, &*records), (Some(0), "[]\n", ""));
    assert_eq!(skipped.stderr, "SKIPPED: no gridsync: install it\n");
    let (failed, _) = by_python("echo 'it broke' >&2; exit 3", &[]);
    failed.fails(DEVICE_FAILURE, &["measuring the calls of Python", "it broke"]);
    let (none, _) = by_python("cat > /dev/null", &[]);
    none.fails(DEVICE_FAILURE, &["no call of Python"]);
    let (other, _) = by_python("", &["--ops", "dot"]);
    other.fails(WRONG_USAGE, &["nothing to measure", "sum,cumulative_sum"]);
}
