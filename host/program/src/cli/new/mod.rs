//! `gridsync new`: a package with a first kernel, to begin with.

use super::exit::Usage;
use super::{Global, output};
use anyhow::Context;
use serde_json::json;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of the package: where they go, and their text.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("template/manifest.toml")),
    (".cargo/config.toml", include_str!("template/config.toml")),
    (".cargo/cuda/lib64/libcuda.so", include_str!("template/libcuda.so")),
    (".gitignore", include_str!("template/gitignore")),
    ("README.md", include_str!("template/README.md")),
    ("build.rs", include_str!("template/build.rs")),
    ("kernels/Cargo.toml", include_str!("template/kernels_manifest.toml")),
    ("kernels/src/lib.rs", include_str!("template/kernels.rs")),
    ("src/main.rs", include_str!("template/main.rs")),
];

/// The packages of a checkout that the files name, and their folders.
const PACKAGES: [(&str, &str); 4] = [
    ("{{host}}", "host"),
    ("{{kernels}}", "kernels"),
    ("{{cuda_std}}", "toolchain/cuda_std"),
    ("{{cuda_builder}}", "toolchain/cuda_builder"),
];

/// The checkout that this program was built from.
const BUILT_FROM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Names that cargo or rustc keep for themselves.
const TAKEN: [&str; 8] =
    ["alloc", "build", "core", "deps", "examples", "incremental", "std", "test"];

/// Make a package with a first kernel, its test and a program
///
/// The folder NAME gets a package for the host and one for the kernels. `cargo test` there checks the kernel in the
/// emulator, and needs no GPU. `cargo run --features gpu` compiles the kernel to PTX, and takes a GPU.
#[derive(clap::Args)]
pub(crate) struct New {
    /// The name of the package and of its folder: letters, digits, `-` and `_`.
    name: String,
    /// A checkout of gridsync for the package to depend on [default: the one that this program was built from, since
    /// gridsync is not on crates.io yet].
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

impl New {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<()> {
        let Self { name, path } = self;
        if let Err(why) = is_package_name(&name) {
            let message = format!("`{name}` cannot be the name of a package: {why}");
            return Err(Usage(message).into());
        }
        let texts = texts(&name, &checkout(path.as_deref())?);
        let folder = Path::new(&name);
        match fs::create_dir(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let message = format!("{name}: is there already; choose another name");
                return Err(Usage(message).into());
            }
            Err(error) => return Err(Usage(format!("{name}: {error}")).into()),
        }
        for (file, text) in &texts {
            if let Err(error) = write(&folder.join(file), text) {
                let message = format!("{name}/{file}: {error}");
                return match fs::remove_dir_all(folder) {
                    Ok(()) => Err(Usage(message).into()),
                    Err(left) => Err(Usage(format!("{message}; {name} is left: {left}")).into()),
                };
            }
        }
        output::result(
            global,
            || {
                format!(
                    "{name}/ has a kernel with a grid barrier. Next:\n  cd {name}\n  \
                     cargo test                  in the emulator, under 200 schedules\n  \
                     cargo run --features gpu    on a GPU; README.md says what it needs"
                )
            },
            || json!({ "folder": name, "files": texts.map(|(file, _)| file) }),
        )
    }
}

/// Says why a package cannot have this name.
fn is_package_name(name: &str) -> Result<(), &'static str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    match name {
        _ if !name.starts_with(|first: char| first.is_ascii_alphabetic()) => {
            Err("it has to begin with a letter from a to z")
        }
        _ if !name.chars().all(is_letter) => Err("it may have letters, digits, `-` and `_` only"),
        _ if TAKEN.contains(&name) => Err("cargo or rustc keep it for themselves"),
        _ if name.starts_with("gridsync") || name.starts_with("cuda_") => {
            Err("the packages of gridsync begin like that")
        }
        _ => Ok(()),
    }
}

/// The absolute path of the checkout to depend on.
fn checkout(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let place = named.unwrap_or(Path::new(BUILT_FROM));
    let is_one = PACKAGES.iter().all(|(_, folder)| place.join(folder).join("Cargo.toml").is_file());
    if !is_one {
        let message = match named {
            Some(named) => format!("{}: is no checkout of gridsync", named.display()),
            None => {
                "the checkout that this program was built from is gone, and gridsync is not on \
                     crates.io yet; name a checkout by --path DIR"
                    .to_owned()
            }
        };
        return Err(Usage(message).into());
    }
    fs::canonicalize(place).with_context(|| Usage(place.display().to_string()))
}

/// The files of package `name`, which depends on `checkout`.
fn texts(name: &str, checkout: &Path) -> [(&'static str, String); FILES.len()] {
    FILES.map(|(file, text)| {
        let text = text.replace("{{name}}", name);
        let text = PACKAGES.iter().fold(text, |text, (mark, folder)| {
            // A string of JSON is one of TOML too.
            let path = json!(checkout.join(folder).to_string_lossy());
            text.replace(mark, &path.to_string())
        });
        (file, text)
    })
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_would_refuse_are_refused() {
        for good in ["hello", "hello-2", "my_kernels", "H"] {
            assert_eq!(is_package_name(good), Ok(()), "{good}");
        }
        for bad in ["", "2d", "-x", "a/b", "..", "a b", "ä", "test", "gridsync", "cuda_std"] {
            assert!(is_package_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_mark_is_left_and_both_manifests_are_toml() {
        let texts = texts("hello-2", Path::new("/a \"b\"/c"));
        for (file, text) in &texts {
            assert!(!text.contains("{{"), "{file}: {text}");
            if file.ends_with(".toml") {
                toml::from_str::<toml::Table>(text)
                    .unwrap_or_else(|error| panic!("{file}: {error}"));
            }
        }
        let manifest: toml::Table = toml::from_str(&texts[0].1).expect("as above");
        let path = manifest["dependencies"]["gridsync"]["path"].as_str();
        assert_eq!(path, Some("/a \"b\"/c/host"));
    }
}
