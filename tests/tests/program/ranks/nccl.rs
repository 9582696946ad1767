//! Ranks that exchange leaves through NCCL: the calls that they make, and the effect of failures.
//! Both the driver and NCCL are fakes: see `fake_driver` and `fake_nccl.rs`.

use super::{LEN, adverse, alone, end, free_port, json, rank, start};
use crate::call::{Call, DEVICE_FAILURE};
use crate::folder::Folder;
use gridsync_tests::npy;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The source of the fake NCCL.
const FAKE: &str = include_str!("fake_nccl.rs");

/// The fake NCCL, built once. Without a compiler, prints a message and returns `None`.
fn library() -> Option<PathBuf> {
    static BUILT: LazyLock<Option<TempDir>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a folder should be there to write to");
        let source = folder.path().join("fake_nccl.rs");
        fs::write(&source, FAKE).expect("the folder should be there to write to");
        let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Command::new(compiler)
            .args(["--edition=2024", "--crate-type=cdylib", "-o"])
            .arg(folder.path().join("libnccl.so"))
            .arg(&source)
            .output();
        match built {
            Err(absent) => {
                // Not with `eprintln!`, which the test harness hides when a test passes.
                let said = format!("SKIPPED: no rustc to build a fake NCCL with ({absent})");
                writeln!(io::stderr(), "{said}").expect("stderr should take a line");
                None
            }
            Ok(built) => {
                assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
                Some(folder)
            }
        }
    });
    BUILT.as_ref().map(|folder| folder.path().join("libnccl.so"))
}

/// Ranks that have started, each with a GPU.
struct Started {
    children: Vec<Child>,
    /// The folder in which the fake NCCL records its actions.
    met: TempDir,
}

impl Started {
    /// Starts ranks with a GPU on each of `buses`, and NCCL in this mode.
    fn new(library: &PathBuf, folder: &Folder, mode: &str, buses: &[u32], more: &[&str]) -> Self {
        let test = env::current_exe().expect("a test knows where it is");
        let driver = test.with_file_name("libgridsync_fake_driver.so");
        let met = tempfile::tempdir().expect("a folder should be there to write to");
        let port = free_port();
        let args = ["reduce", "x.npy", "--op", "sum", "--device", "cuda", "--ranks", "--json"];
        let args = [&args, more].concat();
        let children = buses.iter().enumerate().map(|(number, bus)| {
            let mut command = rank(folder, port, number, buses.len(), &args);
            command
                .env("GRIDSYNC_LIBCUDA", &driver)
                .env("GRIDSYNC_FAKE_PCI_BUS", bus.to_string())
                .env("GRIDSYNC_LIBNCCL", library)
                .env("FAKE_NCCL_FOLDER", met.path())
                .env("FAKE_NCCL", mode);
            start(command)
        });
        Self { children: children.collect(), met }
    }

    /// Waits until all ranks end.
    fn end(&mut self) -> Vec<Call> {
        self.children.drain(..).map(end).collect()
    }

    /// Whether rank `rank` has done this.
    fn has(&self, done: &str, rank: usize) -> bool {
        self.met.path().join(format!("{done}.{rank}")).exists()
    }
}

fn folder() -> Folder {
    Folder::new().with("x.npy", npy::of(&adverse(LEN)))
}

#[test]
fn leaves_through_nccl_have_the_bits_of_one_process() {
    let Some(library) = library() else { return };
    let folder = folder();
    let expected = alone(&folder, &["x.npy", "--op", "sum", "--device", "cpu"]);
    for (buses, more) in [(&[1, 2][..], &[][..]), (&[7, 8, 9], &["--transport", "nccl"])] {
        let mut started = Started::new(&library, &folder, "", buses, more);
        let found = json(started.end());
        assert_eq!(found["result"], expected["result"], "{found}");
        assert_eq!(found["transport"], "nccl");
        for rank in 0..buses.len() {
            assert!(started.has("destroyed", rank), "rank {rank} ends its communicator");
            assert!(!started.has("aborted", rank), "rank {rank}");
        }
    }
}

#[test]
fn two_ranks_on_one_gpu_use_tcp_or_are_refused_with_a_message() {
    let Some(library) = library() else { return };
    let folder = folder();
    let found = json(Started::new(&library, &folder, "", &[3, 3], &[]).end());
    assert_eq!(found["transport"], "tcp");
    let asked = ["--transport", "nccl"];
    for call in Started::new(&library, &folder, "", &[3, 4, 3], &asked).end() {
        call.fails(DEVICE_FAILURE, &["ranks 0 and 2 are on one GPU", ":03:", "--transport tcp"]);
    }
}

#[test]
fn an_nccl_that_is_too_old_is_refused_with_its_version() {
    let Some(library) = library() else { return };
    let folder = folder();
    let asked = ["--transport", "nccl"];
    for call in Started::new(&library, &folder, "old", &[1, 2], &asked).end() {
        call.fails(DEVICE_FAILURE, &["rank 0 cannot use NCCL", "2.12.12", "2.14"]);
    }
    let found = json(Started::new(&library, &folder, "old", &[1, 2], &[]).end());
    assert_eq!(found["transport"], "tcp");
}

#[test]
fn an_nccl_that_fails_is_aborted_and_reported_with_its_message() {
    let Some(library) = library() else { return };
    let folder = folder();
    let mut started = Started::new(&library, &folder, "fails", &[1, 2], &[]);
    for call in started.end() {
        // The rank that first learns of the other's failure reports it.
        call.fails(DEVICE_FAILURE, &["gathering the leaves", "the cable has been pulled"]);
    }
    assert!(started.has("aborted", 0) && started.has("aborted", 1));
}

#[test]
fn an_nccl_that_hangs_is_aborted_after_the_timeout() {
    let Some(library) = library() else { return };
    let more = ["--rank-timeout", "3"];
    let folder = folder();
    let mut started = Started::new(&library, &folder, "hangs", &[1, 2], &more);
    for call in started.end() {
        call.fails(DEVICE_FAILURE, &["did not finish gathering the leaves within 3 s"]);
    }
    assert!(started.has("aborted", 0) && started.has("aborted", 1));
}

#[test]
fn a_rank_that_is_killed_within_nccl_ends_the_others() {
    let Some(library) = library() else { return };
    let folder = folder();
    let mut started = Started::new(&library, &folder, "hangs", &[1, 2, 3], &[]);
    let start = Instant::now();
    while !(0..3).all(|rank| started.has("gather.0", rank)) {
        assert!(start.elapsed() < super::HANGS, "all should gather");
        sleep(Duration::from_millis(2));
    }
    let mut killed = started.children.pop().expect("there are three");
    killed.kill().expect("it runs");
    killed.wait().expect("it has ended");
    for call in started.end() {
        call.fails(DEVICE_FAILURE, &["rank 2 of 3 is lost"]);
    }
    assert!(started.has("aborted", 0) && started.has("aborted", 1));
}
