//! `gridsync new`: creates a package with a first kernel.

mod dependencies;

use super::exit::Usage;
use super::{Global, output};
use cuda_builder::Compiler;
use dependencies::Dependencies;
use serde_json::json;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of the package: paths and contents.
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("template/manifest.toml")),
    ("rust-toolchain.toml", include_str!("template/toolchain.toml")),
    (".gitignore", include_str!("template/gitignore")),
    ("build.rs", include_str!("template/build.rs")),
    ("src/lib.rs", include_str!("template/kernels.rs")),
    ("src/main.rs", include_str!("template/main.rs")),
];

/// Names reserved by cargo or rustc.
const TAKEN: [&str; 8] =
    ["alloc", "build", "core", "deps", "examples", "incremental", "std", "test"];

/// Make a package with a first kernel, its test and a program
///
/// `cargo test` in the folder NAME checks the kernel in the emulator, and needs neither a GPU nor CUDA. `cargo run
/// --features gpu` compiles the kernel to PTX, and uses a GPU.
#[derive(clap::Args)]
pub(crate) struct New {
    /// The name of the package and of its folder: letters, digits, `-` and `_`.
    name: String,
    /// A checkout of gridsync for the package to depend on [default: the one around the current folder, or around
    /// this program].
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
        let here = env::current_dir().unwrap_or_default();
        let program = env::current_exe().unwrap_or_default();
        let texts = texts(&name, &Dependencies::find(path.as_deref(), &here, &program)?);
        let folder = Path::new(&name);
        match fs::create_dir(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let message = format!("{name}: already exists; choose another name");
                return Err(Usage(message).into());
            }
            Err(error) => return Err(Usage(format!("{name}: {error}")).into()),
        }
        for (file, text) in &texts {
            if let Err(error) = write(&folder.join(file), text) {
                let message = format!("{name}/{file}: {error}");
                return match fs::remove_dir_all(folder) {
                    Ok(()) => Err(Usage(message).into()),
                    Err(left) => {
                        Err(Usage(format!("{message}; {name} could not be removed: {left}")).into())
                    }
                };
            }
        }
        output::result(
            global,
            || {
                let gpu = Compiler::find()
                    .map_or_else(|why| format!("\nNot ready for a GPU: {why}"), |_| String::new());
                format!(
                    "{name}/ has a kernel with a grid barrier. Next:\n  cd {name}\n  \
                     cargo test                  in the emulator, under 200 schedules\n  \
                     cargo run --features gpu    on a GPU{gpu}"
                )
            },
            || json!({ "folder": name, "files": texts.map(|(file, _)| file) }),
        )
    }
}

/// Checks the name of a package; the error explains why it is invalid.
fn is_package_name(name: &str) -> Result<(), &'static str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    match name {
        _ if !name.starts_with(|first: char| first.is_ascii_alphabetic()) => {
            Err("it must begin with a letter from a to z")
        }
        _ if !name.chars().all(is_letter) => {
            Err("it may contain only letters, digits, `-` and `_`")
        }
        _ if TAKEN.contains(&name) => Err("cargo or rustc reserve it"),
        _ if name.starts_with("gridsync") || name.starts_with("cuda_") => {
            Err("the names of gridsync's packages begin like that")
        }
        _ => Ok(()),
    }
}

/// The files of package `name`.
fn texts(name: &str, dependencies: &Dependencies) -> [(&'static str, String); FILES.len()] {
    FILES.map(|(file, text)| {
        let text = text.replace("{{name}}", name).replace("{{crate}}", &name.replace('-', "_"));
        (file, dependencies.fill_in(text))
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
    fn names_that_cargo_rejects_are_rejected() {
        for good in ["hello", "hello-2", "my_kernels", "H"] {
            assert_eq!(is_package_name(good), Ok(()), "{good}");
        }
        for bad in ["", "2d", "-x", "a/b", "..", "a b", "ä", "test", "gridsync", "cuda_std"] {
            assert!(is_package_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_placeholder_is_left_and_manifests_are_toml() {
        for dependencies in
            [Dependencies::Checkout(Path::new("/a \"b\"/c").into()), Dependencies::Registry]
        {
            for (file, text) in texts("hello-2", &dependencies) {
                assert!(!text.contains("{{"), "{file}: {text}");
                if file.ends_with(".toml") {
                    toml::from_str::<toml::Table>(&text)
                        .unwrap_or_else(|error| panic!("{file}: {error}"));
                }
            }
        }
    }
}
