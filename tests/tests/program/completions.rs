//! `gridsync completions`: the scripts match the command line.

use crate::call::without_cuda;
use crate::folder::Folder;
use crate::help::{flags, subcommands};
use gridsync_tests::devices::skipped;
use std::process::Command;

fn script(shell: &str) -> String {
    without_cuda(&["completions", shell], b"").says_nothing().stdout
}

#[test]
fn each_script_has_every_subcommand_and_every_flag() {
    let commands = [subcommands(&[]), subcommands(&["lab"]), subcommands(&["bench"])].concat();
    assert!(commands.len() > 25, "{commands:?}");
    let flags = [flags(&["reduce"]), flags(&["bench", "system"]), flags(&["select"])].concat();
    assert!(flags.len() > 20, "{flags:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = script(shell);
        for word in &commands {
            assert!(script.contains(word.as_str()), "{word} for {shell}");
        }
        for flag in &flags {
            // In fish, the names of flags have no dashes and follow -l.
            let word = if shell == "fish" { flag.replacen("--", "-l ", 1) } else { flag.clone() };
            assert!(script.contains(&word), "{word} for {shell}");
        }
    }
}

#[test]
fn bash_completes_subcommands_flags_and_values() {
    if Command::new("bash").arg("--version").output().is_err() {
        skipped("no bash to complete calls with");
        return;
    }
    let folder = Folder::new().with("gridsync.bash", script("bash"));
    let completed = |words: &[&str]| {
        let [.., before, begun] = words else { panic!("{words:?} should be a call") };
        let call = format!(
            "source ./gridsync.bash; COMP_WORDS=({}); COMP_CWORD={}; _gridsync gridsync '{begun}' '{before}'; \
             echo \"${{COMPREPLY[@]}}\"",
            words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            words.len() - 1
        );
        let done = Command::new("bash")
            .args(["--norc", "-c", &call])
            .current_dir(folder.path(""))
            .output()
            .expect("bash should run");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).expect("words").trim_end().to_owned()
    };
    assert_eq!(completed(&["gridsync", "re"]), "reduce report");
    assert_eq!(completed(&["gridsync", "lab", "la"]), "ladder launches");
    assert_eq!(
        completed(&["gridsync", "bench", "s"]),
        "scan-threads system scaling scan select segments scan-rows softmax sort"
    );
    assert_eq!(completed(&["gridsync", "bench", "scan", "--op"]), "--ops");
    assert_eq!(completed(&["gridsync", "reduce", "--tr"]), "--transport");
    assert_eq!(completed(&["gridsync", "reduce", "--op", "arg"]), "argmin argmax");
}

#[test]
fn the_script_is_a_field_of_the_json() {
    let json = without_cuda(&["completions", "fish", "--json"], b"").json();
    assert_eq!(json["shell"], "fish");
    assert_eq!(json["script"], script("fish").trim_end().to_owned() + "\n");
}
