//! Inputs that cannot be read: the program refuses each with one line that names the file and the
//! remedy.

use crate::call::{Call, WRONG_USAGE, without_cuda};
use crate::folder::Folder;
use gridsync_tests::devices::skipped;
use gridsync_tests::npy;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// An input as the calls name it. Messages contain the whole path, not only its last part.
const INPUT: &str = "./input.npy";

/// Calls the program for the sum of a file.
fn sum(folder: &Folder, path: &str, more: &[&str]) -> Call {
    folder.call(&[&["reduce", path, "--op", "sum"], more].concat(), b"")
}

/// Checks that the file is refused, both by its path on disk and through a pipe.
#[track_caller]
fn refused(bytes: &[u8], parts: &[&str]) {
    let folder = Folder::new().with(INPUT, bytes);
    sum(&folder, INPUT, &[]).fails(WRONG_USAGE, &[&[INPUT], parts].concat());
    let parts_of_pipe = [&["standard input"], parts].concat();
    without_cuda(&["reduce", "-", "--op", "sum"], bytes).fails(WRONG_USAGE, &parts_of_pipe);
}

fn good() -> Vec<u8> {
    npy::of(&[1.0f32; 100])
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    let good = good();
    assert_eq!(good.len(), 128 + 400);
    for len in [6, 7, 8, 9, 10, 11, 64, 127, 128, 129, 131, 132, 300, 527] {
        let parts: &[&str] = if len < 128 { &["header"] } else { &["400", "cut short"] };
        refused(&good[..len], parts);
    }
    for len in 0..6 {
        let folder = Folder::new().with(INPUT, &good[..len]);
        sum(&folder, INPUT, &[]).fails(WRONG_USAGE, &[INPUT]);
    }
}

#[test]
fn bytes_after_the_data_are_refused() {
    let mut long = good();
    long.push(0);
    refused(&long, &["400", "401"]);
}

#[test]
fn a_header_with_any_corrupt_byte_is_refused() {
    for at in 6..128 {
        let mut bad = good();
        bad[at] ^= 0x15;
        let call = without_cuda(&["reduce", "-", "--op", "sum", "--json"], &bad);
        // A changed blank or digit may give another valid header, but must never cause a crash.
        if call.code != Some(0) {
            call.fails(WRONG_USAGE, &["standard input"]);
        }
    }
    refused(&npy::raw("{'descr': '<f4'}", &[]), &["fortran_order"]);
    refused(&npy::raw("nonsense", &[]), &["corrupt"]);
    let huge = npy::header("<f4", false, "(99999999999999999999,)");
    refused(&npy::raw(&huge, &[]), &["corrupt"]);
    let overflow = npy::header("<f4", false, "(4294967296, 4294967296)");
    refused(&npy::raw(&overflow, &[]), &["2^64"]);
    let promised = npy::header("<f4", false, "(1000000000000,)");
    refused(&npy::raw(&promised, &[0; 4]), &["4000000000000 bytes"]);
}

#[test]
fn an_unknown_version_is_refused() {
    let mut bad = good();
    bad[6] = 9;
    refused(&bad, &["9.0", "np.save"]);
}

#[test]
fn a_type_without_kernels_is_refused_with_the_supported_types() {
    for descr in ["<c8", "<U3", "|O", "<M8[ns]", "|V2"] {
        let header = npy::header(descr, false, "(1,)");
        refused(&npy::raw(&header, &[0; 12]), &[descr]);
    }
}

#[test]
fn a_dtype_that_differs_from_the_header_is_refused() {
    let folder = Folder::new().with(INPUT, good());
    sum(&folder, INPUT, &["--dtype", "f64"]).fails(WRONG_USAGE, &[INPUT, "f32", "f64"]);
}

#[test]
fn raw_bytes_need_a_type_and_whole_elements() {
    let path = "./input.bin";
    let folder = Folder::new().with(path, [0; 10]);
    sum(&folder, path, &[]).fails(WRONG_USAGE, &[path, "--dtype"]);
    sum(&folder, path, &["--dtype", "f64"]).fails(WRONG_USAGE, &["10 bytes", "2 left over"]);
    without_cuda(&["reduce", "-", "--op", "sum", "--dtype", "i32"], &[0; 7])
        .fails(WRONG_USAGE, &["7 bytes", "3 left over"]);
}

#[test]
fn raw_bytes_named_npy_are_refused() {
    let folder = Folder::new().with(INPUT, [0; 16]);
    sum(&folder, INPUT, &["--dtype", "f32"]).fails(WRONG_USAGE, &[INPUT, "np.save"]);
}

#[test]
fn an_invalid_or_piped_archive_is_refused_with_a_remedy() {
    let (path, bytes) = ("./input.npz", b"PK\x03\x04 and so on");
    let folder = Folder::new().with(path, bytes);
    sum(&folder, path, &[]).fails(WRONG_USAGE, &[path, "np.savez"]);
    without_cuda(&["reduce", "-", "--op", "sum"], bytes).fails(WRONG_USAGE, &["save it to a file"]);
}

#[test]
fn inputs_that_are_not_files_are_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.path("d")).expect("the folder should be there");
    sum(&folder, "./d", &[]).fails(WRONG_USAGE, &["./d", "directory"]);
    sum(&folder, "./absent.npy", &[]).fails(WRONG_USAGE, &["./absent.npy", "no such file"]);
    sum(&folder, "absent/absent.npy", &[]).fails(WRONG_USAGE, &["absent/absent.npy"]);
}

#[test]
fn a_file_without_read_permission_is_refused() {
    let folder = Folder::new().with(INPUT, good());
    let nobody = fs::Permissions::from_mode(0o0);
    fs::set_permissions(folder.path(INPUT), nobody).expect("its mode should change");
    if fs::read(folder.path(INPUT)).is_ok() {
        skipped("this user may read any file");
        return;
    }
    sum(&folder, INPUT, &[]).fails(WRONG_USAGE, &[INPUT, "permission denied"]);
}
