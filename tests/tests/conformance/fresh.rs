//! The committed PTX matches its sources.

use cuda_builder::{Header, fingerprint};
use gridsync_tests::devices::{images, skipped};
use gridsync_tests::program::workspace;
use gridsync_tests::trials;
use gridsync_tests::trials::Trials;

pub(crate) fn trials() -> Trials {
    trials! {
        test:
            the_ptx_is_not_older_than_the_kernels;
    }
}

fn the_ptx_is_not_older_than_the_kernels() {
    for image in &images() {
        let head = image.head().expect("a whole image");
        let sources = Header::read(head).and_then(|header| header.sources).unwrap_or_else(|| {
            panic!("{image:?} should begin with the fingerprint of its sources")
        });
        if let Some(absent) = sources.dirs.iter().find(|dir| !workspace().join(dir).exists()) {
            skipped(&format!("no sources to compare the PTX with ({absent})"));
            return;
        }
        let now = fingerprint(&workspace(), &sources.dirs).expect("the sources should be readable");
        assert_eq!(
            sources.sha256, now,
            "{image:?} is stale: its sources have changed since; run `cargo xtask build-kernels`"
        );
    }
}
