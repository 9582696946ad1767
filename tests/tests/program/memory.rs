//! Behavior when memory is insufficient, and the memory that parts need.

use crate::call::{Call, WRONG_USAGE, run};
use crate::folder::Folder;
use gridsync_tests::{npy, program};
use std::fs::File;
use std::process::Command;

/// Elements of the array, and their bytes: 128 MiB.
const LEN: usize = 1 << 25;
const ARRAY: usize = LEN * size_of::<f32>();

/// A folder with queries, and with an array of zeros that uses no room on the disk.
fn zeros() -> Folder {
    let header = npy::shaped::<f32>(&format!("({LEN},)"), &[]);
    let folder = Folder::new()
        .with("zeros.npy", &header)
        .with("matrix.npy", npy::shaped::<f32>("(32768, 1024)", &[]))
        .with("whole.npy", npy::of(&[0, LEN as i64]))
        .with("queries.npy", npy::shaped("(1, 2)", &[0i64, 5]));
    for name in ["zeros.npy", "matrix.npy"] {
        lengthen(&folder, name, ARRAY);
    }
    folder
}

/// Appends `bytes` zero bytes to a file of the folder.
fn lengthen(folder: &Folder, name: &str, bytes: usize) {
    let file = File::options().write(true).open(folder.path(name)).expect("it was written");
    let header = file.metadata().expect("it was written").len();
    file.set_len(header + bytes as u64).expect("the file may have holes");
}

/// Address space for the program itself, which in the profile of the tests takes about 120 MiB: less
/// than that, so that too little is left for the data, but enough for a few parts of an array.
const PROGRAM: usize = 64 << 20;

/// Calls the program in `folder`, with the arguments in `line`, in so much address space that it has
/// less than `bytes` for data.
fn call(folder: &Folder, bytes: usize, line: &str) -> Call {
    let limit = (bytes + PROGRAM) >> 10;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!("ulimit -v {limit} && exec \"$0\" \"$@\"")])
        .arg(program::path())
        .current_dir(folder.path(""))
        .env("GRIDSYNC_LIBCUDA", "/nonexistent/libcuda.so.1")
        // Each thread needs its own address space.
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "1");
    run(shell, &line.split(' ').collect::<Vec<_>>(), b"")
}

#[test]
fn out_of_memory_is_one_line_with_the_numbers_and_a_remedy() {
    let folder = zeros();
    for (line, bytes, remedy) in [
        ("scan zeros.npy --op sum -o /dev/null --part 2^25", ARRAY, "--part"),
        (
            "scan zeros.npy --op sum -o /dev/null --rows --check",
            ARRAY,
            "scan some of them at a time",
        ),
        ("select zeros.npy --unique -o /dev/null --part 2^25", ARRAY, "--part"),
        ("reduce zeros.npy --op sum --part 2^25", ARRAY, "--part"),
        ("reduce zeros.npy --op sum --rows --part 2^25", ARRAY, "--part"),
        ("segments zeros.npy whole.npy --device cpu", ARRAY, "fewer segments"),
        ("group zeros.npy zeros.npy --device cpu", ARRAY, "fewer elements"),
        ("sort zeros.npy -o /dev/null --device cpu", ARRAY, "--part"),
        ("unique zeros.npy --device cpu", ARRAY, "--part"),
        ("top zeros.npy -k 5 --check --device cpu", ARRAY, "--part"),
        ("quantile zeros.npy --device cpu", ARRAY, "--part"),
        ("histogram zeros.npy -o /dev/null --device cpu", ARRAY, "--part"),
        // The sums are f64.
        ("range-sum zeros.npy queries.npy -o /dev/null --part 2^25", 2 * ARRAY, "--part"),
        ("kendall zeros.npy zeros.npy", ARRAY, "--part"),
    ] {
        let numbers = format!("{bytes} bytes do not fit in memory, of which ");
        // In a release build the program takes less than 64 MiB, and the array would fit.
        call(&folder, ARRAY - PROGRAM / 2, line)
            .fails(WRONG_USAGE, &[&numbers, "are free", remedy]);
    }
}

#[test]
fn a_selection_without_room_for_its_results_is_refused_before_it_runs_out() {
    let folder = zeros();
    // The part itself fits, but not what is selected from each chunk of it, or not all of that at once.
    for (line, room) in [
        ("select zeros.npy --unique -o /dev/null --part 2^25", ARRAY + PROGRAM + PROGRAM / 4),
        ("select zeros.npy --unique -o /dev/null --part 2^25", 2 * ARRAY - PROGRAM / 2),
        ("select zeros.npy --where ==0 -o /dev/null --part 2^25", 3 * ARRAY - PROGRAM),
    ] {
        let numbers = format!("{} bytes do not fit in memory, of which ", ARRAY + (4 << 20));
        call(&folder, room, line).fails(WRONG_USAGE, &[&numbers, "are free", "--part"]);
    }
}

#[test]
fn output_that_a_stream_waits_for_is_held_if_memory_suffices() {
    // Longer than the program itself, so that most of the memory holds output.
    let folder =
        Folder::new().with("zeros.npy", npy::shaped::<f32>(&format!("({},)", 4 * LEN), &[]));
    lengthen(&folder, "zeros.npy", 4 * ARRAY);
    for line in [
        "select zeros.npy --where ==0 -o /dev/null",
        "scan zeros.npy --op sum -o /dev/null --check",
    ] {
        let parts = ["/dev/null", "bytes do not fit in memory", "name a file"];
        call(&folder, 3 * ARRAY, line).fails(WRONG_USAGE, &parts);
    }
}

#[test]
fn memory_holds_only_a_few_parts() {
    let folder = zeros();
    for line in [
        "reduce zeros.npy --op argmax -q --part 1000000",
        "reduce zeros.npy --op max -q --check --part 1000000",
        "reduce zeros.npy --op sum -q --rows",
        "reduce matrix.npy --op mean -q --rows --check -o out.npy",
        "reduce matrix.npy --op sum -q --axis 0 -o out.npy",
        "reduce matrix.npy --op argmax -q --axis 0 --part 1e6 -o out.npy",
        "scan matrix.npy --op sum -q --rows -o /dev/null",
        "scan matrix.npy --op max -q --axis 0 -o /dev/null",
        "scan zeros.npy --op sum -o sums.npy -q --check",
        "select zeros.npy --where >0 -o kept.npy --positions places.npy -q --check",
        "range-sum zeros.npy queries.npy -o /dev/null -q --check",
        "scan zeros.npy --op max -o /dev/null -q --part 2^20",
        "select zeros.npy --where >0 -o /dev/null -q",
        "select zeros.npy --unique -o /dev/null -q --part 1e6",
        "sort zeros.npy -o sorted.npy -q --part 2^20",
        "sort zeros.npy --argsort -o /dev/null -q --part 2^20",
        "sort matrix.npy --rows -o /dev/null -q --part 2^20",
        "top zeros.npy -k 5 -o /dev/null -q --part 2^20",
        "quantile matrix.npy --rows -o /dev/null -q --part 2^20",
        "quantile zeros.npy -o /dev/null -q --part 2^20",
        "unique zeros.npy -o /dev/null -q --part 2^20",
        "histogram zeros.npy -o /dev/null -q --part 2^20",
    ] {
        let call = call(&folder, ARRAY + PROGRAM / 2, line);
        assert_eq!((call.code, call.stderr.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn narrow_integers_are_not_widened_in_memory() {
    let header = npy::raw(&npy::header("|u1", false, &format!("({},)", 2 * LEN)), &[]);
    let folder = Folder::new().with("bytes.npy", header);
    lengthen(&folder, "bytes.npy", 2 * LEN);
    // A few parts fit in memory at one byte per element, but not at four.
    for line in [
        "reduce bytes.npy --op argmax -q --part 2^25",
        "select bytes.npy --where >0 -o /dev/null -q --part 2^24",
    ] {
        let call = call(&folder, 2 * ARRAY, line);
        assert_eq!((call.code, call.stderr.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn columns_of_floats_are_scanned_without_a_transposed_copy() {
    let folder = Folder::new().with("matrix.npy", npy::shaped::<f32>("(16384, 1024)", &[]));
    // Four such arrays do not fit in memory.
    lengthen(&folder, "matrix.npy", ARRAY / 2);
    let call = call(&folder, 2 * ARRAY, "scan matrix.npy --op sum -q --axis 0 -o /dev/null");
    assert_eq!((call.code, call.stderr.as_str()), (Some(0), ""));
}
