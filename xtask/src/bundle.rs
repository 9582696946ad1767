//! `bundle`: a folder that runs on a GPU machine without Rust.
//!
//! It has the files of the workspace and, built in release mode, the program, the examples and the
//! tests that use a GPU. `run-tests.sh` runs each test executable as cargo would: in the folder of
//! its package and with `CARGO_MANIFEST_DIR`. `gpu.sh` runs everything that needs a GPU. All other
//! tests do not need one and run in CI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::gpu;
use crate::outcome::Outcome;
use crate::workspace::{cargo, output_of, root, walk};

/// The test executables that use a GPU, and their arguments: of the conformance tests those that
/// use CUDA, including the slow ones. They run sequentially in a process anyway, and with one
/// thread the log names the test that hangs.
const ON_A_GPU: [(&str, &str); 4] = [
    ("on_a_gpu", ""),
    ("on_a_gpu_fault", ""),
    ("conformance", "--include-ignored --test-threads 1 --slowest 30 cuda"),
    ("program", ""),
];

/// The scripts of the bundle.
const SCRIPTS: [(&str, &str); 2] = [
    ("run-tests.sh", include_str!("bundle/run-tests.sh")),
    ("gpu.sh", include_str!("bundle/gpu.sh")),
];

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
    /// search their own folder for that name. An example has its own name.
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
        ensure!(may_go(&out)?, "{} exists and is not a bundle: not replaced", out.display());
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

    let examples = build(&["build", "--package=gridsync", "--features=cust", "--examples"])?;
    let named = ON_A_GPU.map(|(test, _)| format!("--test={test}"));
    let named = named.iter().map(String::as_str);
    let tests = build(
        &["test", "--package=gridsync-tests", "--package=gridsync-cudarc", "--no-run"]
            .into_iter()
            .chain(named)
            .collect::<Vec<_>>(),
    )?;
    let mut list = String::new();
    for test in examples.iter().chain(&tests) {
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
        let is_it = |(target, _): &&(&str, &str)| test.name.ends_with(&format!(".{target}"));
        let arguments = ON_A_GPU.iter().find(is_it).map_or("", |(_, arguments)| arguments);
        list += format!("{} {} {arguments}", test.name, package.display()).trim_end();
        list += "\n";
    }
    fs::write(out.join("test-executables/list"), list)?;
    fs::write(out.join("test-executables/left-out"), include_str!("bundle/left-out"))?;

    let names = output_of(Command::new("git").current_dir(root()).args(["ls-files", "-z"]))?;
    for name in names.split_terminator('\0') {
        let (from, to) = (root().join(name), out.join(name));
        // A removed file whose removal has not been committed.
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap_or(&out))?;
            fs::copy(&from, &to).with_context(|| from.display().to_string())?;
        }
    }
    gpu::write_fingerprints(&out.join("sources.json"))?;
    for (name, text) in SCRIPTS {
        let script = out.join(name);
        fs::write(&script, text)?;
        executable(&script)?;
    }

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

/// Whether a folder is empty or a bundle. A bundle has `test-executables`, which is created first.
/// So a mistyped path does not delete another folder.
fn may_go(out: &Path) -> Result<bool> {
    Ok(out.join("test-executables").is_dir() || fs::read_dir(out)?.next().is_none())
}

/// Runs cargo in the release profile, and returns what it built according to its messages.
fn build(args: &[&str]) -> Result<Vec<Built>> {
    // The program writes the commit into its records.
    let described = ["describe", "--always", "--dirty", "--abbrev=40"];
    let commit = output_of(Command::new("git").args(described).current_dir(root()));
    let output = cargo()
        .args(args)
        .envs(commit.ok().map(|commit| ("GRIDSYNC_COMMIT", commit.trim().to_owned())))
        .args(["--release", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "`cargo {}` failed", args.join(" "));
    Ok(runnable(&String::from_utf8_lossy(&output.stdout)))
}

/// Parses cargo's messages (The Cargo Book, "External tools", "Artifact messages").
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
    fn only_files_that_run_without_a_compiler_are_bundled() {
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
        fs::write(tests.join("list"), "first host usual\nsecond host\n").unwrap();
        fs::write(tests.join("left-out"), "first a_test it needs a compiler\n").unwrap();
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
    fn the_script_runs_in_the_package_passes_filters_and_sums_counts() {
        let (text, success) =
            run_script("echo 'test result: ok. 2 passed; 0 failed'", &["scan", "reduce"]);
        assert!(success, "{text}");
        assert!(text.contains("5 passed, 0 failed"), "{text}");
        assert!(text.contains("1 said SKIPPED"), "{text}");
        assert!(text.contains("in host with --show-output --skip a_test scan reduce"), "{text}");
        assert!(text.contains("left out: first a_test: it needs a compiler"), "{text}");
        let (text, _) = run_script("true", &[]);
        assert!(text.contains("--skip a_test usual"), "{text}");
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
