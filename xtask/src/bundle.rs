//! `bundle`: a folder that runs on a GPU machine without Rust.
//!
//! It has the release program, the test executables, the examples, the PTX, the CUDA C++ peers and
//! the data of the tests, with the layout of the workspace. `run-tests.sh` runs each test executable
//! as cargo would: in the folder of its package and with `CARGO_MANIFEST_DIR`. It leaves out the
//! tests of `cuda_builder` and `xtask`: they are about the build.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::outcome::Outcome;
use crate::sets::{KernelSet, SETS};
use crate::workspace::{cargo, root, walk};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder to write; an older bundle in it is removed
    #[arg(long, default_value = "dist/bundle")]
    out: PathBuf,
}

/// A file that cargo built and that runs without a compiler.
#[derive(Debug, PartialEq, Eq)]
struct Built {
    path: PathBuf,
    /// `package.kind.target`, unique in the workspace. A library keeps its file name, because tests
    /// look for it by that name in their own folder. An example has its own name.
    name: String,
    /// The folder of its package.
    package: PathBuf,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Program,
    Example,
    Test,
    /// Loaded by tests at run time.
    Library,
}

pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let out = root().join(&args.out);
    if out.exists() {
        ensure!(may_go(&out)?, "{} exists and is no bundle: not replaced", out.display());
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(out.join("test-executables"))?;
    fs::create_dir_all(out.join("examples"))?;

    let program = build(&["build", "--package=gridsync-program", "--bin=gridsync"])?;
    let program = program
        .iter()
        .find(|built| built.what == What::Program)
        .context("cargo built no program")?;
    install(&program.path, &out.join("gridsync"))?;

    let not_here = ["--exclude=xtask", "--exclude=gridsync-cuda-builder"];
    let tests = build(&[&["test", "--workspace", "--no-run"], &not_here[..]].concat())?;
    let mut list = String::new();
    for test in &tests {
        let folder = match test.what {
            What::Program => continue,
            What::Example => "examples",
            What::Test | What::Library => "test-executables",
        };
        install(&test.path, &out.join(folder).join(&test.name))?;
        if test.what != What::Test {
            continue;
        }
        let package = test.package.strip_prefix(root()).unwrap_or(&test.package);
        fs::create_dir_all(out.join(package))?;
        list += &format!("{} {}\n", test.name, package.display());
    }
    fs::write(out.join("test-executables/list"), list)?;

    let images: Vec<_> = SETS.iter().map(KernelSet::images).collect::<Result<_>>()?;
    for path in images.into_iter().flatten().chain(data()?) {
        let to = out.join(path.strip_prefix(root())?);
        fs::create_dir_all(to.parent().unwrap_or(&out))?;
        fs::copy(&path, &to).with_context(|| path.display().to_string())?;
    }
    let script = out.join("run-tests.sh");
    fs::write(&script, include_str!("bundle/run-tests.sh"))?;
    executable(&script)?;

    let files = walk(&out, &|_| true)?;
    let bytes: u64 = files.iter().map(|file| fs::metadata(file).map_or(0, |data| data.len())).sum();
    println!(
        "{}: {} files, {:.1} MiB",
        out.display(),
        files.len(),
        bytes as f64 / f64::from(1 << 20)
    );
    Ok(Outcome::Passed)
}

/// Whether a folder is empty or a bundle. A bundle has `test-executables`, which is made first. So
/// a mistyped path does not delete another folder.
fn may_go(out: &Path) -> Result<bool> {
    Ok(out.join("test-executables").is_dir() || fs::read_dir(out)?.next().is_none())
}

/// Runs cargo in the release profile, and returns what cargo says it built.
fn build(args: &[&str]) -> Result<Vec<Built>> {
    let output = cargo()
        .args(args)
        .args(["--release", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "`cargo {}` failed", args.join(" "));
    Ok(runnable(&String::from_utf8_lossy(&output.stdout)))
}

/// Reads cargo's messages (The Cargo Book, "External tools", "Artifact messages").
fn runnable(messages: &str) -> Vec<Built> {
    let read = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let package = Path::new(message["manifest_path"].as_str()?).parent()?;
        let target = &message["target"];
        let kind = target["kind"][0].as_str()?;
        if kind == "proc-macro" {
            // The tests of a proc-macro crate are linked to libraries of the compiler.
            return None;
        }
        let package_name = package.file_name()?.to_string_lossy();
        let target = target["name"].as_str()?;
        let name = format!("{package_name}.{kind}.{target}");
        let (path, name, what) = match message["executable"].as_str() {
            Some(path) if message["profile"]["test"].as_bool()? => (path, name, What::Test),
            Some(path) if kind == "example" => (path, target.to_owned(), What::Example),
            Some(path) => (path, name, What::Program),
            None => {
                let files = message["filenames"].as_array()?;
                let mut files = files.iter().filter_map(Value::as_str);
                let path = files.find(|path| path.ends_with(".so"))?;
                let name = Path::new(path).file_name()?.to_string_lossy();
                (path, name.into_owned(), What::Library)
            }
        };
        Some(Built { path: path.into(), name, package: package.to_owned(), what })
    };
    messages.lines().filter_map(read).collect()
}

/// The files that tests read: all files in any `tests` folder except Rust, the records, their schemas,
/// the README that has numbers of them, and the chapters of the book.
fn data() -> Result<Vec<PathBuf>> {
    let [bench, schemas, chapters, readme] =
        ["bench", "docs/schemas", "docs/src", "README.md"].map(|name| root().join(name));
    walk(&root(), &|path| {
        let relative = path.strip_prefix(root()).unwrap_or(path);
        let rust = path.extension().is_some_and(|extension| extension == "rs")
            || path.ends_with("Cargo.toml");
        path.starts_with(&bench)
            || path.starts_with(&schemas)
            || path == readme
            || (path.starts_with(&chapters)
                && path.extension().is_some_and(|extension| extension == "md"))
            || (!rust && relative.iter().any(|part| part == "tests"))
    })
}

/// Copies an executable, and removes its symbols if there is a `strip`.
fn install(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    let stripped = Command::new("strip").arg(to).stderr(Stdio::null()).status();
    if !stripped.is_ok_and(|status| status.success()) {
        println!("note: no `strip`; {} keeps its symbols", to.display());
    }
    Ok(())
}

fn executable(script: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bundle_or_an_empty_folder_is_replaced() {
        for source in [".", "xtask", "xtask/src/bundle", "tests"] {
            assert!(!may_go(&root().join(source)).unwrap(), "{source}");
        }
        let out = tempfile::tempdir().unwrap();
        assert!(may_go(out.path()).unwrap());
        fs::create_dir(out.path().join("test-executables")).unwrap();
        assert!(may_go(out.path()).unwrap());
    }

    #[test]
    fn only_what_runs_without_a_compiler_is_taken() {
        let messages = r#"{"reason":"compiler-artifact","manifest_path":"/w/host/Cargo.toml","target":{"kind":["lib"],"name":"gridsync"},"profile":{"test":false},"filenames":["/w/target/release/libgridsync.rlib"],"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/fake/Cargo.toml","target":{"kind":["cdylib","rlib"],"name":"fake"},"profile":{"test":false},"filenames":["/w/target/release/libfake.so","/w/target/release/libfake.rlib"],"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/host/Cargo.toml","target":{"kind":["lib"],"name":"gridsync"},"profile":{"test":true},"executable":"/w/target/release/deps/gridsync-1"}
{"reason":"compiler-artifact","manifest_path":"/w/host/Cargo.toml","target":{"kind":["bin"],"name":"gridsync"},"profile":{"test":false},"executable":"/w/target/release/gridsync"}
{"reason":"compiler-artifact","manifest_path":"/w/host/Cargo.toml","target":{"kind":["example"],"name":"jacobi"},"profile":{"test":false},"executable":"/w/target/release/examples/jacobi"}
{"reason":"compiler-artifact","manifest_path":"/w/macros/Cargo.toml","target":{"kind":["proc-macro"],"name":"macros"},"profile":{"test":true},"executable":"/w/target/release/deps/macros-1"}
not json
{"reason":"build-finished","success":true}"#;
        let found = runnable(messages);
        let names: Vec<_> = found.iter().map(|built| (built.name.as_str(), built.what)).collect();
        assert_eq!(
            names,
            [
                ("libfake.so", What::Library),
                ("host.lib.gridsync", What::Test),
                ("host.bin.gridsync", What::Program),
                ("jacobi", What::Example)
            ]
        );
        assert_eq!(found[1].package, Path::new("/w/host"));
    }

    /// A bundle with two test executables. `second` makes one of them fail, hang or die.
    fn run_script(second: &str, args: &[&str]) -> (String, bool) {
        let dir = tempfile::tempdir().unwrap();
        let tests = dir.path().join("test-executables");
        fs::create_dir_all(&tests).unwrap();
        fs::create_dir_all(dir.path().join("host")).unwrap();
        let first = "echo \"in $(basename \"$PWD\") with $*\"\necho 'SKIPPED: no GPU'\necho 'test result: ok. 3 passed; 0 failed; 0 ignored'";
        for (name, body) in [("first", first), ("second", second)] {
            fs::write(tests.join(name), format!("#!/bin/sh\n{body}\n")).unwrap();
            executable(&tests.join(name)).unwrap();
        }
        fs::write(tests.join("list"), "first host\nsecond host\n").unwrap();
        let script = dir.path().join("run-tests.sh");
        fs::write(&script, include_str!("bundle/run-tests.sh")).unwrap();
        let output = Command::new("bash")
            .arg(&script)
            .args(args)
            .env("GRIDSYNC_TEST_TIMEOUT", "1")
            .output()
            .unwrap();
        let mut text = String::from_utf8(output.stdout).unwrap();
        text += &fs::read_to_string(dir.path().join("logs/first.log")).unwrap();
        (text, output.status.success())
    }

    #[test]
    fn the_script_runs_in_the_package_passes_filters_and_adds_up() {
        let (text, success) =
            run_script("echo 'test result: ok. 2 passed; 0 failed'", &["scan", "reduce"]);
        assert!(success, "{text}");
        assert!(text.contains("5 passed, 0 failed"), "{text}");
        assert!(text.contains("1 said SKIPPED"), "{text}");
        assert!(text.contains("in host with") && text.contains("scan reduce"), "{text}");
    }

    #[test]
    fn the_script_fails_when_a_test_fails_dies_or_hangs() {
        for second in
            ["echo 'test result: FAILED. 0 passed; 1 failed'; exit 101", "exit 139", "sleep 30"]
        {
            let (text, success) = run_script(second, &[]);
            assert!(!success, "{second}: {text}");
            assert!(text.contains("3 passed, 1 failed"), "{second}: {text}");
        }
    }
}
