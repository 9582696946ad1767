//! Inputs that cannot be read: each is refused with one line that names the file and the remedy.

use crate::call::{WRONG_USAGE, without_cuda};
use gridsync_tests::devices::skipped;
use gridsync_tests::npy;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

/// A folder with `bytes` in a file `name`, and the path of that file.
fn file(name: &str, bytes: &[u8]) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder should be there to write to");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("the input should be written");
    let path = path.to_str().expect("its path should be UTF-8").to_owned();
    (folder, path)
}

/// Checks that the file is refused, both by its path on disk and through a pipe.
#[track_caller]
fn refused(bytes: &[u8], parts: &[&str]) {
    let (_folder, path) = file("input.npy", bytes);
    let parts_of_file = [&[path.as_str()], parts].concat();
    without_cuda(&["reduce", &path, "--op", "sum"], b"").fails(WRONG_USAGE, &parts_of_file);
    let parts_of_pipe = [&["standard input"], parts].concat();
    without_cuda(&["reduce", "-", "--op", "sum"], bytes).fails(WRONG_USAGE, &parts_of_pipe);
}

fn good() -> Vec<u8> {
    npy::of(&[1.0f32; 100]).expect("f32 has a name")
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
        let (_folder, path) = file("input.npy", &good[..len]);
        without_cuda(&["reduce", &path, "--op", "sum"], b"").fails(WRONG_USAGE, &[&path]);
    }
}

#[test]
fn bytes_after_the_data_are_refused() {
    let mut long = good();
    long.push(0);
    refused(&long, &["400", "401"]);
}

#[test]
fn a_corrupt_header_is_refused_whatever_byte_is_wrong() {
    for at in 6..128 {
        let mut bad = good();
        bad[at] ^= 0x15;
        let call = without_cuda(&["reduce", "-", "--op", "sum", "--json"], &bad);
        // A changed blank or digit may give another valid header, but never a crash.
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
fn a_type_without_kernels_is_refused_with_those_that_have() {
    for descr in ["<c8", "<U3", "|O", "<M8[ns]", "|V2"] {
        let header = npy::header(descr, false, "(1,)");
        refused(&npy::raw(&header, &[0; 12]), &[descr]);
    }
}

#[test]
fn another_dtype_than_the_header_says_is_refused() {
    let (_folder, path) = file("input.npy", &good());
    without_cuda(&["reduce", &path, "--op", "sum", "--dtype", "f64"], b"")
        .fails(WRONG_USAGE, &[&path, "f32", "f64"]);
}

#[test]
fn raw_bytes_need_a_type_and_whole_elements() {
    let (_folder, path) = file("input.bin", &[0; 10]);
    without_cuda(&["reduce", &path, "--op", "sum"], b"").fails(WRONG_USAGE, &[&path, "--dtype"]);
    without_cuda(&["reduce", &path, "--op", "sum", "--dtype", "f64"], b"")
        .fails(WRONG_USAGE, &["10 bytes", "2 left over"]);
    without_cuda(&["reduce", "-", "--op", "sum", "--dtype", "i32"], &[0; 7])
        .fails(WRONG_USAGE, &["7 bytes", "3 left over"]);
}

#[test]
fn raw_bytes_named_npy_are_refused() {
    let (_folder, path) = file("input.npy", &[0; 16]);
    without_cuda(&["reduce", &path, "--op", "sum", "--dtype", "f32"], b"")
        .fails(WRONG_USAGE, &[&path, "np.save"]);
}

#[test]
fn an_archive_that_is_none_or_comes_through_a_pipe_is_refused_with_the_way_out() {
    let bytes = b"PK\x03\x04 and so on";
    let (_folder, path) = file("input.npz", bytes);
    without_cuda(&["reduce", &path, "--op", "sum"], b"").fails(WRONG_USAGE, &[&path, "np.savez"]);
    without_cuda(&["reduce", "-", "--op", "sum"], bytes).fails(WRONG_USAGE, &["save it to a file"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder should be there");
    let path = folder.path().to_str().expect("its path should be UTF-8");
    without_cuda(&["reduce", path, "--op", "sum"], b"").fails(WRONG_USAGE, &[path, "directory"]);
    let absent = format!("{path}/absent.npy");
    without_cuda(&["reduce", &absent, "--op", "sum"], b"")
        .fails(WRONG_USAGE, &[&absent, "no such file"]);
    let through = format!("{path}/absent/absent.npy");
    without_cuda(&["reduce", &through, "--op", "sum"], b"").fails(WRONG_USAGE, &[&through]);
}

#[test]
fn a_file_that_may_not_be_read_is_refused() {
    let (_folder, path) = file("input.npy", &good());
    let nobody = fs::Permissions::from_mode(0o0);
    fs::set_permissions(&path, nobody).expect("its mode should change");
    if fs::read(&path).is_ok() {
        skipped("this user may read any file");
        return;
    }
    without_cuda(&["reduce", &path, "--op", "sum"], b"")
        .fails(WRONG_USAGE, &[&path, "permission denied"]);
}
