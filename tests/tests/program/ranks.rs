//! `gridsync reduce --ranks`: several processes on the loopback interface give the bits of one
//! process.

mod nccl;

use crate::call::{Call, DEVICE_FAILURE, WRONG_USAGE};
use crate::folder::Folder;
use gridsync_tests::npy;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time after which a rank counts as hanging.
const HANGS: Duration = Duration::from_secs(120);

/// Length of an array whose leaves are tiles, with a partial last tile.
const LEN: usize = (1 << 20) + 150_001;

/// All variables that set the rank of a process.
const VARIABLES: [&str; 24] = [
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "GRIDSYNC_PORT",
    "TORCHELASTIC_USE_AGENT_STORE",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_STEP_NODELIST",
    "SLURM_JOB_NODELIST",
    "SLURM_NODELIST",
    "GRIDSYNC_JOB",
    "TORCHELASTIC_RUN_ID",
    "PMIX_NAMESPACE",
    "PMI_JOBID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
];

/// Values whose sum depends on the order in which they are added.
fn adverse(len: usize) -> Vec<f32> {
    let values = [1e30f32, -1e30, 1.0, 1e-30, 3.25];
    let value = |i: usize| values[(i.wrapping_mul(0x9E37_79B1) >> 9) % 5] + (i % 11) as f32;
    (0..len).map(value).collect()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there are free ports");
    listener.local_addr().expect("it listens").port()
}

/// The program in `folder`, in an environment without variables for ranks.
fn program(folder: &Folder, args: &[&str]) -> Command {
    let mut command = folder.command();
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    VARIABLES.iter().for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// The program as rank `rank` of `size`, as torchrun would start it.
fn rank(folder: &Folder, port: u16, rank: usize, size: usize, args: &[&str]) -> Command {
    let mut command = program(folder, args);
    command
        .env("RANK", rank.to_string())
        .env("WORLD_SIZE", size.to_string())
        .env("LOCAL_RANK", rank.to_string())
        .env("MASTER_ADDR", "127.0.0.1")
        .env("MASTER_PORT", port.to_string());
    command
}

fn start(mut command: Command) -> Child {
    command.spawn().expect("the program should start")
}

/// Waits until a call ends, and kills it if it hangs.
fn end(mut child: Child) -> Call {
    let start = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if start.elapsed() > HANGS {
            child.kill().expect("it runs");
            panic!("a rank hangs: {:?}", Call::of(child.wait_with_output().expect("it has ended")));
        }
        sleep(Duration::from_millis(2));
    }
    Call::of(child.wait_with_output().expect("it has ended"))
}

/// Runs all ranks of a job until they end.
fn ranks(folder: &Folder, size: usize, args: &[&str]) -> Vec<Call> {
    let port = free_port();
    let args = [&["reduce", "--ranks"], args].concat();
    let children: Vec<_> =
        (0..size).map(|number| start(rank(folder, port, number, size, &args))).collect();
    children.into_iter().map(end).collect()
}

/// The JSON of rank 0. The other ranks must print nothing.
#[track_caller]
fn json(calls: Vec<Call>) -> Value {
    let mut calls = calls.into_iter();
    let first = calls.next().expect("there is a rank 0").json();
    for (number, call) in (1..).zip(calls) {
        assert_eq!(call.stdout, "", "rank {number}");
        call.says_nothing();
    }
    first
}

/// The JSON of one process.
fn alone(folder: &Folder, args: &[&str]) -> Value {
    end(start(program(folder, &[&["reduce", "--json"], args].concat()))).json()
}

#[test]
fn ranks_have_the_bits_of_one_process() {
    let ints: Vec<i32> = (0..LEN as i32).map(|i| i.wrapping_mul(0x9E37_79B1u32 as i32)).collect();
    let folder = Folder::new()
        .with("f32.npy", npy::of(&adverse(LEN)))
        .with("i32.raw", bytemuck::cast_slice(&ints));
    let cases: [(usize, &[&str]); 7] = [
        (2, &["f32.npy", "--op", "sum"]),
        (3, &["f32.npy", "--op", "sum", "--acc", "compensated"]),
        (4, &["f32.npy", "--op", "mean"]),
        (3, &["f32.npy", "--op", "argmin"]),
        (4, &["i32.raw", "--dtype", "i32", "--op", "sum"]),
        (2, &["i32.raw", "--dtype", "i16", "--op", "argmax"]),
        (1, &["f32.npy", "--op", "prod"]),
    ];
    for (size, args) in cases {
        let args = [args, &["--device", "cpu"]].concat();
        let expected = alone(&folder, &args);
        let found = json(ranks(&folder, size, &[&args[..], &["--json"]].concat()));
        for field in ["result", "value", "exact", "n", "dtype", "stored", "op"] {
            assert_eq!(found[field], expected[field], "{field} of {args:?} by {size}");
        }
        assert_eq!(found["ranks"], size);
        assert_eq!(found["transport"], "tcp");
    }
}

#[test]
fn ranks_in_the_emulator_have_the_bits_of_the_cpu() {
    let folder = Folder::new().with("f32.npy", npy::of(&adverse(LEN)));
    let expected = alone(&folder, &["f32.npy", "--op", "sum", "--device", "cpu"]);
    let args = ["f32.npy", "--op", "sum", "--device", "emulator", "--json"];
    let found = json(ranks(&folder, 2, &args));
    assert_eq!(found["result"], expected["result"]);
    assert_eq!(found["device"], "emulator");
}

#[test]
fn a_rank_can_process_its_share_in_parts() {
    let folder = Folder::new().with("f32.npy", npy::of(&adverse(LEN)));
    let expected = alone(&folder, &["f32.npy", "--op", "sum", "--device", "cpu"]);
    let args = ["f32.npy", "--op", "sum", "--device", "cpu", "--part", "100000", "--json"];
    let found = json(ranks(&folder, 3, &args));
    assert_eq!(found["result"], expected["result"]);
    let part = found["part"].as_u64().expect("it is taken in parts");
    assert!(part <= 100_000, "{part}");
}

/// Splits `values` into shards of these lengths and the remainder, and reduces them with one rank
/// each.
fn by_shards(values: &[f32], lens: &[usize], op: &str) -> (Value, Value) {
    let mut folder = Folder::new().with("all.npy", npy::of(values));
    let mut rest = values;
    for (number, &len) in lens.iter().enumerate() {
        let (shard, after) = rest.split_at(len);
        folder = folder.with(&format!("{number}.npy"), npy::of(shard));
        rest = after;
    }
    folder = folder.with(&format!("{}.npy", lens.len()), npy::of(rest));
    let expected = alone(&folder, &["all.npy", "--op", op, "--device", "cpu"]);
    let args = ["{rank}.npy", "--op", op, "--device", "cpu", "--shard", "--json"];
    (json(ranks(&folder, lens.len() + 1, &args)), expected)
}

#[test]
fn shards_of_any_length_have_the_bits_of_the_whole() {
    let values = adverse(LEN);
    let lens: [&[usize]; 5] = [
        &[LEN / 2],
        // In the middle of tiles, and shorter than a tile.
        &[700_001, 3, 200_000],
        // Empty shards, and two shards of one tile.
        &[0, 16_384, 1],
        &[LEN - 1],
        &[LEN, 0],
    ];
    for lens in lens {
        for op in ["sum", "argmax", "mean"] {
            let (found, expected) = by_shards(&values, lens, op);
            for field in ["result", "value", "n"] {
                assert_eq!(found[field], expected[field], "{field} of the {op} of {lens:?}");
            }
        }
    }
    // Arrays so short that one rank reduces everything.
    for (len, lens) in [(0, &[0, 0][..]), (5, &[0, 2]), (5000, &[1234, 1])] {
        let (found, expected) = by_shards(&values[..len], lens, "sum");
        assert_eq!(found["result"], expected["result"], "{len} elements");
    }
}

#[test]
fn more_ranks_than_elements_and_empty_arrays_work() {
    let folder = Folder::new().with("two", [1u8, 0, 0, 0, 2, 0, 0, 0]).with("none", []);
    let of = |file, op| {
        let args = [file, "--dtype", "i32", "--op", op, "--device", "cpu", "--json"];
        json(ranks(&folder, 4, &args))
    };
    assert_eq!(of("two", "sum")["result"], 3);
    assert_eq!(of("two", "argmax")["result"], 1);
    assert_eq!(of("none", "sum")["result"], 0);
}

#[test]
fn only_rank_0_prints_and_checks() {
    let folder = Folder::new().with("x.npy", npy::of(&adverse(LEN)));
    let args = ["x.npy", "--op", "sum", "--device", "cpu", "--check"];
    let mut calls = ranks(&folder, 2, &args);
    let other = calls.pop().expect("there are two");
    assert_eq!((&other.stdout[..], &other.stderr[..], other.code), ("", "", Some(0)));
    let first = calls.pop().expect("there are two");
    first.says(&["by 2 ranks over tcp", "reference ", "right"]);
    let found = json(ranks(&folder, 2, &[&args[..], &["--json"]].concat()));
    assert_eq!(found["check"]["ok"], true, "{found}");
    let sharded = program(&folder, &[&["reduce", "--ranks", "--shard"], &args[..]].concat());
    end(start(sharded)).fails(WRONG_USAGE, &["--shard", "--check"]);
}

/// A pipe in the folder for the shard of each of these ranks.
fn pipes(folder: &Folder, numbers: &[usize]) {
    for number in numbers {
        let made = Command::new("mkfifo").arg(folder.path(&format!("{number}.npy"))).status();
        assert!(made.expect("there should be mkfifo").success());
    }
}

/// Writes all but the end of the file to the pipe of rank `number`. A rank opens its pipe when all
/// ranks have joined, and then waits for the end.
fn begin(folder: &Folder, number: usize, file: &[u8]) -> File {
    let path = folder.path(&format!("{number}.npy"));
    let mut pipe = File::options().write(true).open(path).expect("a pipe");
    pipe.write_all(&file[..file.len() - 400]).expect("it is read");
    pipe
}

#[test]
fn a_rank_that_is_killed_ends_the_others() {
    let shard = npy::of(&[1.0f32; 1000]);
    let folder = Folder::new().with("0.npy", &shard).with("1.npy", &shard);
    pipes(&folder, &[2, 3]);
    let port = free_port();
    let args = ["reduce", "--ranks", "--shard", "{rank}.npy", "--op", "sum", "--device", "cpu"];
    let mut children: Vec<_> =
        (0..4).map(|number| start(rank(&folder, port, number, 4, &args))).collect();
    let _pipes = [2, 3].map(|number| begin(&folder, number, &shard));
    let mut killed = children.pop().expect("there are four");
    killed.kill().expect("it runs");
    killed.wait().expect("it has ended");
    // Rank 2 cannot notice, because it waits for its pipe.
    for child in children {
        end(child).fails(DEVICE_FAILURE, &["rank 3 of 4 is lost", "killed"]);
    }
}

#[test]
fn rank_0_names_a_rank_that_is_alive_but_does_not_finish() {
    let shard = npy::of(&[1.0f32; 1000]);
    let folder = Folder::new().with("0.npy", &shard);
    pipes(&folder, &[1]);
    let port = free_port();
    let args = ["reduce", "--ranks", "--shard", "{rank}.npy", "--op", "sum", "--device", "cpu"];
    let args = [&args[..], &["--rank-timeout", "1", "--json"]].concat();
    let [mut first, second] = [0, 1].map(|number| start(rank(&folder, port, number, 2, &args)));
    let mut pipe = begin(&folder, 1, &shard);
    let mut stderr = BufReader::new(first.stderr.take().expect("it is a pipe"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("it is text");
    assert!(line.contains("rank 0 has waited 1 s for rank 1 of 2, which is alive"), "{line}");
    pipe.write_all(&shard[shard.len() - 400..]).expect("it is read");
    drop(pipe);
    assert_eq!(json(vec![end(first), end(second)])["result"], 2000.0);
}

#[test]
fn a_missing_rank_is_reported() {
    let folder = Folder::new().with("x.npy", npy::of(&[1.0f32; 10]));
    let port = free_port();
    let args =
        ["reduce", "--ranks", "x.npy", "--op", "sum", "--rank-timeout", "2", "--device", "cpu"];
    let [first, second] = [0, 2].map(|number| start(rank(&folder, port, number, 3, &args)));
    let part = "rank 1 of 3 did not join within 2 s";
    end(first).fails(DEVICE_FAILURE, &[part, "--rank-timeout"]);
    end(second).fails(DEVICE_FAILURE, &["rank 0 reports", part]);
    // Without rank 0, no rank can report which one is missing.
    let alone = end(start(rank(&folder, port, 1, 3, &args)));
    alone.fails(DEVICE_FAILURE, &["no answer", &port.to_string(), "MASTER_ADDR"]);
}

#[test]
fn a_rank_with_a_bad_file_reports_it_to_all_ranks() {
    let shard = npy::of(&[1.0f32; 10]);
    let folder = Folder::new().with("0.npy", &shard).with("2.npy", &shard);
    let args = ["--shard", "{rank}.npy", "--op", "sum", "--device", "cpu"];
    for (number, call) in ranks(&folder, 3, &args).into_iter().enumerate() {
        match number {
            1 => call.fails(WRONG_USAGE, &["1.npy: no such file"]),
            _ => call.fails(DEVICE_FAILURE, &["rank 1 of 3 failed: 1.npy: no such file"]),
        }
    }
}

#[test]
fn shards_of_two_types_and_files_of_two_lengths_are_refused_by_all() {
    let folder = Folder::new()
        .with("0.npy", npy::of(&[1.0f32; 10]))
        .with("1.npy", npy::of(&[1.0f64; 10]))
        .with("2.npy", npy::of(&[1.0f32; 11]));
    let args = ["--shard", "{rank}.npy", "--op", "sum", "--device", "cpu"];
    for call in ranks(&folder, 2, &args) {
        call.fails(WRONG_USAGE, &["rank 0 has f32", "rank 1 f64"]);
    }
    let port = free_port();
    let other = |number, file: &str| {
        let args = ["reduce", "--ranks", file, "--op", "sum", "--device", "cpu"];
        start(rank(&folder, port, number, 2, &args))
    };
    for child in [other(0, "0.npy"), other(1, "2.npy")] {
        let parts = ["the input of rank 1 is", "10 elements of f32", "11 elements", "--shard"];
        end(child).fails(WRONG_USAGE, &parts);
    }
}

#[test]
fn files_of_one_length_that_differ_are_refused_by_all() {
    let folder =
        Folder::new().with("0.npy", npy::of(&[1.0f32; 10])).with("1.npy", npy::of(&[2.0f32; 10]));
    let port = free_port();
    let other = |number, file: &str| {
        let args = ["reduce", "--ranks", file, "--op", "sum", "--device", "cpu"];
        start(rank(&folder, port, number, 2, &args))
    };
    for child in [other(0, "0.npy"), other(1, "1.npy")] {
        end(child).fails(WRONG_USAGE, &["the input of rank 1 is", "10 elements of f32, sample"]);
    }
}

#[test]
fn a_rank_that_cannot_open_the_shared_file_ends_the_others() {
    let folder = Folder::new().with("x.npy", npy::of(&[1.0f32; 10]));
    let port = free_port();
    let other = |number, file: &str| {
        let args = ["reduce", "--ranks", file, "--op", "sum", "--device", "cpu"];
        start(rank(&folder, port, number, 2, &args))
    };
    let [good, bad] = [other(0, "x.npy"), other(1, "y.npy")];
    end(bad).fails(WRONG_USAGE, &["y.npy: no such file"]);
    end(good).fails(DEVICE_FAILURE, &["rank 1 of 2 failed: y.npy: no such file"]);
}

#[test]
fn two_jobs_on_one_port_do_not_mix() {
    let folder = Folder::new()
        .with("a.npy", npy::of(&[1.0f32; 1000]))
        .with("b.npy", npy::of(&[2.0f32; 1000]));
    let port = free_port();
    let of_job = |job: &str, file: &str, number| {
        let args = ["reduce", "--ranks", file, "--op", "sum", "--device", "cpu", "--json"];
        let mut command = rank(&folder, port, number, 2, &args);
        command.env("TORCHELASTIC_RUN_ID", job);
        start(command)
    };
    let first = of_job("a", "a.npy", 0);
    let parts = [
        "the job of rank 1 is",
        "TORCHELASTIC_RUN_ID=b",
        "TORCHELASTIC_RUN_ID=a",
        "GRIDSYNC_PORT",
        "GRIDSYNC_JOB",
    ];
    end(of_job("b", "b.npy", 1)).fails(DEVICE_FAILURE, &parts);
    let second = of_job("a", "a.npy", 1);
    assert_eq!(json(vec![end(first), end(second)])["result"], 1000.0);
}

#[test]
fn ranks_that_were_called_differently_are_refused() {
    let folder = Folder::new().with("x.npy", npy::of(&[1.0f32; 10]));
    let port = free_port();
    let as_rank = |number, op| {
        let args = ["reduce", "--ranks", "x.npy", "--op", op, "--device", "cpu"];
        start(rank(&folder, port, number, 2, &args))
    };
    for child in [as_rank(0, "sum"), as_rank(1, "max")] {
        end(child).fails(DEVICE_FAILURE, &["\"reduce --op max\"", "\"reduce --op sum\""]);
    }
    let port = free_port();
    let args = ["reduce", "--ranks", "x.npy", "--op", "sum", "--device", "cpu"];
    let twice = [0, 1, 1].map(|number| start(rank(&folder, port, number, 4, &args)));
    for child in twice {
        end(child).fails(DEVICE_FAILURE, &["two processes are rank 1 of 4"]);
    }
}

#[test]
fn a_port_in_use_is_reported_with_its_variable() {
    let folder = Folder::new().with("x.npy", npy::of(&[1.0f32; 10]));
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("there are free ports");
    let port = taken.local_addr().expect("it listens").port();
    let args = ["reduce", "--ranks", "x.npy", "--op", "sum"];
    let call = end(start(rank(&folder, port, 0, 2, &args)));
    call.fails(DEVICE_FAILURE, &[&port.to_string(), "in use", "MASTER_PORT"]);
}

#[test]
fn srun_and_mpirun_are_understood() {
    let folder = Folder::new().with("x.npy", npy::of(&adverse(LEN)));
    let args = ["reduce", "--ranks", "x.npy", "--op", "sum", "--device", "cpu", "--json"];
    let expected = alone(&folder, &["x.npy", "--op", "sum", "--device", "cpu"]);
    let launchers: [&[(&str, &str)]; 2] = [
        &[("SLURM_PROCID", "RANK"), ("SLURM_NTASKS", "2"), ("SLURM_STEP_NODELIST", "localhost")],
        &[
            ("OMPI_COMM_WORLD_RANK", "RANK"),
            ("OMPI_COMM_WORLD_SIZE", "2"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "2"),
        ],
    ];
    for variables in launchers {
        let port = free_port().to_string();
        let children = [0, 1].map(|number: u32| {
            let mut command = program(&folder, &args);
            command.env("GRIDSYNC_PORT", &port);
            for (name, value) in variables {
                command.env(name, value.replace("RANK", &number.to_string()));
            }
            start(command)
        });
        let found = json(children.into_iter().map(end).collect());
        assert_eq!(found["result"], expected["result"]);
        assert_eq!(found["ranks"], 2);
    }
}

#[test]
fn invalid_calls_are_refused() {
    let folder = Folder::new().with("x.npy", npy::of(&[1.0f32; 10]));
    let call = |variables: &[(&str, &str)], more: &[&str]| {
        let args = [&["reduce", "x.npy", "--op", "sum"], more].concat();
        let mut command = program(&folder, &args);
        command.envs(variables.iter().copied());
        end(start(command))
    };
    call(&[], &["--ranks"])
        .fails(WRONG_USAGE, &["RANK and WORLD_SIZE", "SLURM_PROCID", "torchrun"]);
    call(&[("RANK", "0")], &["--ranks"]).fails(WRONG_USAGE, &["WORLD_SIZE is not"]);
    let too_many = [("RANK", "2"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "localhost")];
    call(&too_many, &["--ranks"]).fails(WRONG_USAGE, &["RANK is 2", "from 0 to 1"]);
    let far_too_many = [("RANK", "0"), ("WORLD_SIZE", "4294967295"), ("MASTER_ADDR", "localhost")];
    call(&far_too_many, &["--ranks"]).fails(WRONG_USAGE, &["4294967295", "from 1 to 65536"]);
    let nowhere = [("RANK", "0"), ("WORLD_SIZE", "2")];
    call(&nowhere, &["--ranks"]).fails(WRONG_USAGE, &["MASTER_ADDR is not set"]);
    call(&[], &["--shard"]).fails(WRONG_USAGE, &["--ranks"]);
    call(&[], &["--ranks", "--rows"]).fails(WRONG_USAGE, &["--ranks", "--rows"]);
    for call in ranks(&folder, 2, &["-", "--dtype", "f32", "--op", "sum"]) {
        call.fails(WRONG_USAGE, &["standard input can be read only once", "--shard"]);
    }
}

#[test]
fn nccl_without_a_gpu_is_refused_with_an_alternative() {
    let folder = Folder::new().with("x.npy", npy::of(&[1.0f32; 10]));
    let args = ["x.npy", "--op", "sum", "--device", "cpu", "--transport", "nccl"];
    for call in ranks(&folder, 2, &args) {
        call.fails(DEVICE_FAILURE, &["rank 0 cannot use NCCL", "CPU", "--transport tcp"]);
    }
}
