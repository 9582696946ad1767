//! `gridsync man`: the pages match the command line.

use crate::call::WRONG_USAGE;
use crate::folder::Folder;
use crate::help::{flags, subcommands};

#[test]
fn each_subcommand_has_a_page_with_its_flags() {
    let folder = Folder::new();
    folder.call(&["man", "-o", "man1"], b"").says_nothing();
    let mut calls = vec![vec![]];
    calls.extend(subcommands(&[]).into_iter().map(|name| vec![name]));
    for above in ["lab", "bench"] {
        calls.extend(subcommands(&[above]).into_iter().map(|name| vec![above.to_owned(), name]));
    }
    let pages = folder.path("man1").read_dir().expect("the folder should be there").count();
    assert_eq!(pages, calls.len());
    for call in &calls {
        let call: Vec<_> = call.iter().map(String::as_str).collect();
        let name = [&["gridsync"], &call[..]].concat().join("-");
        let page = String::from_utf8(folder.read(&format!("man1/{name}.1"))).expect("text");
        let head = format!(".TH {name} 1  \"gridsync {}\"", env!("CARGO_PKG_VERSION"));
        assert!(page.contains(&head), "{head}: {page}");
        for flag in flags(&call) {
            assert!(page.contains(&flag.replace('-', "\\-")), "{flag} of {name}");
        }
    }
}

#[test]
fn without_a_folder_the_first_page_is_printed() {
    let folder = Folder::new();
    folder.call(&["man", "--output", "."], b"").says_nothing();
    let printed = folder.call(&["man"], b"").says_nothing().stdout;
    assert_eq!(printed.as_bytes(), folder.read("gridsync.1"));
    // The lines of the help, without filling.
    let (_, notes) = printed.split_once("\n.SH NOTES\n.nf\n").expect("notes");
    let (notes, _) = notes.split_once("\n.fi\n.SH ").expect("their end");
    assert!(notes.starts_with("Examples:\n") && notes.contains("\nExit codes:\n"), "{notes}");
}

#[test]
fn a_file_in_place_of_the_folder_is_wrong_usage() {
    let folder = Folder::new().with("man1", "");
    folder.call(&["man", "-o", "man1"], b"").fails(WRONG_USAGE, &["man1"]);
}
