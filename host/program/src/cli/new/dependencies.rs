//! Where a new package gets gridsync from.

use crate::cli::exit::Usage;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The packages named in the files, and their folders in a checkout.
const PACKAGES: [(&str, &str); 4] = [
    ("{{host}}", "host"),
    ("{{kernels}}", "kernels"),
    ("{{cuda_std}}", "toolchain/cuda_std"),
    ("{{cuda_builder}}", "toolchain/cuda_builder"),
];

/// Where a new package gets gridsync from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Dependencies {
    /// A checkout, by its path relative to the folder of the package.
    Checkout(PathBuf),
    /// crates.io.
    Registry,
}

impl Dependencies {
    /// The checkout in the folder `named`; if it is `None`, the one around `here`, the current
    /// folder, or around the file `program`. A release, which has a public address, does not need a
    /// checkout.
    pub(super) fn find(named: Option<&Path>, here: &Path, program: &Path) -> anyhow::Result<Self> {
        if let Some(named) = named {
            if !is_checkout(named) {
                let message = format!("{}: is not a checkout of gridsync", named.display());
                return Err(Usage(message).into());
            }
            return Ok(Self::Checkout(from_package(named)));
        }
        if let Some(above) = here.ancestors().position(is_checkout) {
            return Ok(Self::Checkout((0..=above).map(|_| "..").collect()));
        }
        if let Some(checkout) = program.ancestors().find(|folder| is_checkout(folder)) {
            return Ok(Self::Checkout(checkout.into()));
        }
        match env!("CARGO_PKG_REPOSITORY") {
            "" => {
                let message = "neither the current folder nor this program is in a checkout of gridsync, and gridsync is not on crates.io yet; name a checkout with --path DIR";
                Err(Usage(message.into()).into())
            }
            _ => Ok(Self::Registry),
        }
    }

    /// `text`, with each placeholder replaced by a source that cargo can use.
    pub(super) fn fill_in(&self, text: String) -> String {
        PACKAGES.iter().fold(text, |text, (mark, folder)| {
            let source = match self {
                // A JSON string is also a TOML string.
                Self::Checkout(path) => {
                    format!("path = {}", json!(path.join(folder).to_string_lossy()))
                }
                Self::Registry => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
            };
            text.replace(mark, &source)
        })
    }
}

/// A path relative to the current folder, made relative to the package, which is a folder in it.
fn from_package(path: &Path) -> PathBuf {
    if path.is_absolute() { path.into() } else { Path::new("..").join(path) }
}

fn is_checkout(folder: &Path) -> bool {
    PACKAGES.iter().all(|(_, package)| folder.join(package).join("Cargo.toml").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    /// A folder that this module accepts as a checkout.
    fn checkout() -> TempDir {
        let root = tempfile::tempdir().unwrap();
        for (_, folder) in PACKAGES {
            fs::create_dir_all(root.path().join(folder)).unwrap();
            fs::write(root.path().join(folder).join("Cargo.toml"), "").unwrap();
        }
        root
    }

    #[test]
    fn path_of_the_checkout_is_relative_to_the_package() {
        let root = checkout();
        let found = |here: &str| {
            Dependencies::find(None, &root.path().join(here), Path::new("/bin/x")).unwrap()
        };
        assert_eq!(found(""), Dependencies::Checkout("..".into()));
        assert_eq!(found("work/today"), Dependencies::Checkout("../../..".into()));
    }

    #[test]
    fn the_checkout_around_the_program_is_the_second_choice() {
        let (root, elsewhere) = (checkout(), tempfile::tempdir().unwrap());
        let program = root.path().join("target/release/gridsync");
        let found = Dependencies::find(None, elsewhere.path(), &program).unwrap();
        assert_eq!(found, Dependencies::Checkout(root.path().into()));
    }

    #[test]
    fn without_a_checkout_a_package_needs_a_release() {
        let elsewhere = tempfile::tempdir().unwrap();
        let found = Dependencies::find(None, elsewhere.path(), &elsewhere.path().join("gridsync"));
        match env!("CARGO_PKG_REPOSITORY") {
            "" => assert!(found.unwrap_err().to_string().contains("--path DIR")),
            _ => assert_eq!(found.unwrap(), Dependencies::Registry),
        }
    }

    #[test]
    fn paths_in_a_manifest_are_relative_to_the_package() {
        let path = |named: &str| {
            let line = Dependencies::Checkout(from_package(Path::new(named)));
            line.fill_in("{{host}}".into())
        };
        assert_eq!(path("/a \"b\"/c"), "path = \"/a \\\"b\\\"/c/host\"");
        assert_eq!(path("gridsync"), "path = \"../gridsync/host\"");
        assert_eq!(path(".."), "path = \"../../host\"");
        assert_eq!(path("."), "path = \".././host\"");
    }

    #[test]
    fn a_release_is_a_dependency_by_version() {
        let line = Dependencies::Registry.fill_in("{ {{kernels}} }".into());
        assert_eq!(line, format!("{{ version = \"{}\" }}", env!("CARGO_PKG_VERSION")));
    }
}
