//! What happens when memory does not suffice, and how much memory parts take.

use crate::call::{Call, WRONG_USAGE};
use gridsync_tests::{npy, program};
use std::fs::{self, File};
use std::io::Write;
use std::process::Command;
use tempfile::TempDir;

/// Elements of the array, and their bytes: 256 MiB.
const LEN: usize = 1 << 26;
const ARRAY: usize = LEN * size_of::<f32>();

/// KiB of address space that a call gets: less than an array, but more than the program and a few
/// parts of an array.
const LIMIT: usize = 240 << 10;

/// A folder with queries, and with an array of zeros that takes no room on the disk.
fn zeros() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let header = npy::raw(&npy::header("<f4", false, &format!("({LEN},)")), &[]);
    let mut file =
        File::create(folder.path().join("zeros.npy")).expect("the folder should be there");
    file.write_all(&header).expect("there is room");
    let bytes = header.len() + ARRAY;
    file.set_len(bytes as u64).expect("the file may have holes");
    let header = npy::header("<i8", false, "(1, 2)");
    let queries = npy::raw(&header, bytemuck::cast_slice(&[0i64, 5]));
    fs::write(folder.path().join("queries.npy"), queries).expect("the folder should be there");
    folder
}

/// Calls the program with little memory.
fn with_little_memory(args: &[&str]) -> Call {
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {LIMIT} && exec \"$0\" \"$@\"")])
        .arg(program::path())
        .args(args)
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        // Each thread takes address space of its own.
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("there should be a shell");
    Call {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Calls the program with little memory: words that end in .npy are files of `folder`.
fn call(folder: &TempDir, line: &str) -> Call {
    let at = |word: &str| match word.ends_with(".npy") {
        true => folder.path().join(word).to_str().expect("UTF-8").to_owned(),
        false => word.to_owned(),
    };
    let args: Vec<String> = line.split(' ').map(at).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    with_little_memory(&args)
}

#[test]
fn what_does_not_fit_in_memory_is_one_line_with_the_numbers_and_a_remedy() {
    let folder = zeros();
    for (line, bytes, remedy) in [
        ("scan zeros.npy --op sum -o /dev/null --check", ARRAY, "--check"),
        ("scan zeros.npy --op sum -o /dev/null --part 2^26", ARRAY, "--part"),
        ("scan zeros.npy --op sum -o /dev/null --rows", ARRAY, "--rows"),
        ("select zeros.npy --unique -o /dev/null --check", ARRAY, "--check"),
        ("select zeros.npy --unique -o /dev/null --part 2^26", ARRAY, "--part"),
        ("reduce zeros.npy --op sum --check", ARRAY, "--check"),
        ("reduce zeros.npy --op sum --part 2^26", ARRAY, "--part"),
        ("reduce zeros.npy --op sum --rows", ARRAY, "--rows"),
        ("range-sum zeros.npy queries.npy -o /dev/null --check", ARRAY, "--check"),
        // The sums are f64.
        ("range-sum zeros.npy queries.npy -o /dev/null --part 2^26", 2 * ARRAY, "--part"),
        ("kendall zeros.npy zeros.npy", ARRAY, "--part"),
    ] {
        let numbers = format!("{bytes} bytes do not fit in memory, of which ");
        call(&folder, line).fails(WRONG_USAGE, &[&numbers, "are free", remedy]);
    }
}

#[test]
fn what_a_stream_has_to_wait_for_is_held_as_far_as_memory_goes() {
    let line = "select zeros.npy --where ==0 -o /dev/null";
    let parts = ["/dev/null", "bytes do not fit in memory", "name a file"];
    call(&zeros(), line).fails(WRONG_USAGE, &parts);
}

#[test]
fn parts_take_a_few_parts_of_memory_and_no_more() {
    let folder = zeros();
    for line in [
        "reduce zeros.npy --op sum -q",
        "reduce zeros.npy --op argmax -q --part 1000000",
        "scan zeros.npy --op sum -o /dev/null -q",
        "scan zeros.npy --op max -o /dev/null -q --part 2^23",
        "select zeros.npy --where >0 -o /dev/null -q",
        "select zeros.npy --unique -o /dev/null -q --part 1e6",
        "range-sum zeros.npy queries.npy -o /dev/null -q",
    ] {
        let call = call(&folder, line);
        assert_eq!((call.code, call.stderr.as_str()), (Some(0), ""), "{line}");
    }
}
