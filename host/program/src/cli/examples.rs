//! At least two examples for each subcommand, at the end of its help.

use clap::Command;

/// The words of a subcommand, and its examples: a call, and its description.
type Examples = (&'static [&'static str], &'static [(&'static str, &'static str)]);

const EXAMPLES: &[Examples] = &[
    (
        &["reduce"],
        &[
            ("gridsync reduce x.npy --op sum --check", "the sum, compared with a reference"),
            ("gridsync reduce x.npy --op min,max,argmax", "several results in one read"),
            ("gridsync reduce x.npy --op mean --axis 0", "the mean of each column"),
            ("gridsync reduce x.npy --op std --ddof 1 --skip-nan", "of the elements but NaN"),
            ("gridsync reduce - --dtype f32 --op max < x.bin", "of raw little-endian elements"),
        ],
    ),
    (
        &["scan"],
        &[
            ("gridsync scan x.npy --op sum -o sums.npy", "numpy.cumsum"),
            ("gridsync scan x.npy --op max --axis 0 -o y.npy", "the maximum so far of each column"),
        ],
    ),
    (
        &["select"],
        &[
            ("gridsync select x.npy --where '> 0.5' -o y.npy", "x[x > 0.5]"),
            ("gridsync select x.npy --unique -o y.npy --counts n.npy", "run-length encoding"),
            (
                "gridsync select x.npy --where '> 1' -o - | gridsync select - --where '< 3' -o y.npy",
                "both conditions",
            ),
        ],
    ),
    (
        &["segments"],
        &[
            ("gridsync segments x.npy offsets.npy --op mean", "the mean of each segment"),
            ("gridsync segments x.npy rows.npy -o sums.npy --check", "row sums of a CSR matrix"),
        ],
    ),
    (
        &["group"],
        &[
            ("gridsync group keys.npy x.npy --op max", "key, count and maximum of each group"),
            ("gridsync group k.npy x.npy -o sums.npy --keys u.npy --counts n.npy", "in files"),
            ("gridsync group k.npy x.npy --adjacent", "the sum of each run of equal keys"),
        ],
    ),
    (
        &["sort"],
        &[
            ("gridsync sort x.npy -o y.npy", "numpy.sort"),
            ("gridsync sort x.npy --argsort --descending -o i.npy", "x[i] descends"),
        ],
    ),
    (
        &["unique"],
        &[
            ("gridsync unique x.npy", "each value, and its count"),
            ("gridsync unique x.npy -o u.npy --counts n.npy --indices i.npy", "numpy.unique"),
        ],
    ),
    (
        &["top"],
        &[
            ("gridsync top x.npy -k 10", "the 10 largest, with their indices"),
            ("gridsync top x.npy -k 10 --smallest -o y.npy", "the 10 smallest, in a file"),
            ("gridsync top x.npy -k 1000 --by-index --indices i.npy", "where the 1000 largest are"),
        ],
    ),
    (
        &["quantile"],
        &[
            ("gridsync quantile x.npy", "the quartiles, as numpy.quantile"),
            ("gridsync quantile x.npy 0.5 0.99 --json", "the median and another, for a script"),
        ],
    ),
    (
        &["histogram"],
        &[
            ("gridsync histogram x.npy --bins 20 --range 0 1", "numpy.histogram"),
            ("gridsync histogram x.npy --numbers 0..255 -o n.npy", "numpy.bincount"),
            ("gridsync histogram x.npy --bins 50 --svg x.svg", "as a bar chart, too"),
        ],
    ),
    (
        &["describe"],
        &[
            ("gridsync describe x.npy --ddof 1", "pandas.Series.describe, without quantiles"),
            ("gridsync describe x.npy --device cuda:all --json", "on all GPUs, for a script"),
        ],
    ),
    (
        &["range-sum"],
        &[
            ("gridsync range-sum x.npy ranges.npy -o sums.npy", "the sum of each range"),
            (
                "gridsync range-sum x.npz:a ranges.npy -o sums.npy --check",
                "of an array of an archive",
            ),
        ],
    ),
    (
        &["kendall"],
        &[
            ("gridsync kendall x.npy y.npy", "tau-b and its counts"),
            ("gridsync kendall x.npy y.npy --json", "the same for a script"),
        ],
    ),
    (
        &["demo"],
        &[
            ("gridsync demo", "what a missing barrier does"),
            ("gridsync demo --blocks 8 --threads 128 -n 1024", "in a larger grid"),
        ],
    ),
    (
        &["lab"],
        &[
            ("gridsync lab", "the list of experiments"),
            ("gridsync lab threads --block 40,2", "one of them"),
            ("gridsync lab all -o charts", "all of them, with figures"),
        ],
    ),
    (
        &["lab", "threads"],
        &[
            ("gridsync lab threads", "a block of 40 × 2 threads"),
            ("gridsync lab threads --block 8,4,3 -o charts", "another one, as a figure too"),
        ],
    ),
    (
        &["lab", "divergence"],
        &[
            ("gridsync lab divergence", "on a GPU, or in the emulator"),
            ("gridsync lab divergence --block 256 -o charts", "with larger blocks, and a figure"),
        ],
    ),
    (
        &["lab", "limits"],
        &[
            ("gridsync lab limits", "of the GPU, or of the emulated one"),
            ("gridsync lab limits -o charts", "with a figure"),
        ],
    ),
    (
        &["lab", "spin"],
        &[
            ("gridsync lab spin", "for compute capability 7.5"),
            ("gridsync lab spin --arch 90", "for 9.0"),
        ],
    ),
    (
        &["lab", "fences"],
        &[
            ("gridsync lab fences", "in cycles and ns"),
            ("gridsync lab fences -o charts", "with a figure"),
        ],
    ),
    (
        &["lab", "litmus"],
        &[
            ("gridsync lab litmus", "the classic shapes"),
            ("gridsync lab litmus test.litmus", "a test of your own"),
        ],
    ),
    (
        &["lab", "atomics"],
        &[
            ("gridsync lab atomics", "rates on a GPU, counts in the emulator"),
            ("gridsync lab atomics --threads 512 -o charts", "with larger blocks, and figures"),
        ],
    ),
    (
        &["lab", "locks"],
        &[("gridsync lab locks", "five locks"), ("gridsync lab locks -o charts", "with figures")],
    ),
    (
        &["lab", "banks"],
        &[
            ("gridsync lab banks", "strides from 0 to 33"),
            ("gridsync lab banks --bytes 16 -o charts", "of elements of 16 bytes, with figures"),
        ],
    ),
    (
        &["lab", "memory"],
        &[
            ("gridsync lab memory", "latencies and bandwidths"),
            ("gridsync lab memory -o charts", "with figures"),
        ],
    ),
    (
        &["lab", "ladder"],
        &[
            ("gridsync lab ladder", "one sum in seventeen steps"),
            ("gridsync lab ladder -n 2^20 -o charts", "of fewer elements, with figures"),
        ],
    ),
    (
        &["lab", "scans"],
        &[
            ("gridsync lab scans", "one scan in eleven steps"),
            ("gridsync lab scans -n 2^20 -o charts", "of fewer elements, with figures"),
        ],
    ),
    (
        &["lab", "sorts"],
        &[
            ("gridsync lab sorts", "one sort in seven steps"),
            ("gridsync lab sorts -n 2^20 -o charts", "of fewer elements, with figures"),
        ],
    ),
    (
        &["lab", "launches"],
        &[
            ("gridsync lab launches", "100 rounds"),
            ("gridsync lab launches --rounds 1000 -o charts", "more, at many shapes of grids"),
        ],
    ),
    (
        &["lab", "accuracy"],
        &[
            ("gridsync lab accuracy", "up to 2^24 elements"),
            ("gridsync lab accuracy --sizes 2^10,2^16 -o charts", "fewer, with figures"),
        ],
    ),
    (
        &["lab", "stress"],
        &[
            ("gridsync lab stress", "every barrier, right and wrong"),
            ("gridsync lab stress --right-only --rounds 2000", "the right ones, for longer"),
        ],
    ),
    (
        &["lab", "all"],
        &[
            ("gridsync lab all", "on a GPU, or in the emulator"),
            ("gridsync lab all -o charts", "with all figures"),
        ],
    ),
    (
        &["emulate"],
        &[
            ("gridsync emulate barrier", "all grid barriers, 100 schedules each"),
            ("gridsync emulate barrier/tree --weaken", "which of its orders are needed"),
            ("gridsync emulate --list", "the names"),
        ],
    ),
    (
        &["check"],
        &[
            (
                "gridsync check sum.cu --grid 2 --block 64 --arg f32[128]=1 --arg f32[1] --expect 1=128",
                "a sum",
            ),
            ("gridsync check sum.ptx --launch two.toml --weaken", "which orders are needed"),
        ],
    ),
    (
        &["dag"],
        &[
            ("gridsync dag --diamond", "C = A·B, by every means"),
            ("gridsync dag --random 1 --nodes 200 -o charts", "a random graph, drawn"),
        ],
    ),
    (
        &["new"],
        &[
            (
                "gridsync new hello && cd hello && cargo test",
                "a kernel, and its test in the emulator",
            ),
            ("gridsync new hello --path ~/gridsync", "with another checkout of gridsync"),
        ],
    ),
    (
        &["devices"],
        &[
            ("gridsync devices", "the GPUs, the emulator and the CPU"),
            ("gridsync devices --json", "the same for a script"),
        ],
    ),
    (
        &["verify"],
        &[
            ("gridsync verify", "on the GPU, or two minutes in the emulator"),
            ("gridsync verify --device emulator --thorough", "everything, in the emulator"),
        ],
    ),
    (
        &["bench"],
        &[
            ("gridsync bench barrier --peers", "grid barriers, compared with grid.sync()"),
            ("gridsync bench reduce --sizes 2^20,2^28 -o out.jsonl", "sums, as records too"),
        ],
    ),
    (
        &["bench", "compare"],
        &[
            ("gridsync bench compare before after", "what is slower or faster"),
            (
                "gridsync bench compare before after --fail-over 2",
                "exit code 1 if a line is slower by 2 % more than its noise",
            ),
        ],
    ),
    (
        &["bench", "peers"],
        &[
            ("gridsync bench peers bench/runs", "what takes longer than its peer"),
            ("gridsync bench peers bench/runs --json", "the same for a script"),
        ],
    ),
    (
        &["bench", "build-peers"],
        &[
            ("GRIDSYNC_PEERS=peers gridsync bench build-peers", "into the folder peers"),
            ("GRIDSYNC_PEERS=peers gridsync bench reduce --peers", "then: without nvcc"),
        ],
    ),
    (
        &["report"],
        &[
            ("gridsync report bench/runs -o page", "a page of all records"),
            ("gridsync report a.jsonl b.json -o page", "of these files"),
        ],
    ),
    (
        &["completions"],
        &[
            (
                "gridsync completions bash > ~/.local/share/bash-completion/completions/gridsync",
                "for bash",
            ),
            ("gridsync completions zsh > ~/.zfunc/_gridsync", "for zsh"),
        ],
    ),
    (
        &["man"],
        &[
            ("gridsync man | man -l -", "the manual page of gridsync"),
            ("gridsync man -o ~/.local/share/man/man1", "all pages; then: man gridsync-reduce"),
        ],
    ),
];

/// The widest call that has its description on the same line.
const WIDEST: usize = 56;

/// Adds its examples to the help of each subcommand of `command`.
pub(super) fn add_to(command: Command) -> Command {
    EXAMPLES.iter().fold(command, |command, (path, examples)| at(command, path, &text(examples)))
}

fn at(command: Command, path: &[&str], text: &str) -> Command {
    match path {
        [] => {
            let text = match command.get_after_help() {
                Some(after) => format!("{text}\n\n{after}"),
                None => text.to_owned(),
            };
            command.after_help(text)
        }
        [name, rest @ ..] => command.mut_subcommand(*name, |below| at(below, rest, text)),
    }
}

fn text(examples: &[(&str, &str)]) -> String {
    let widths = examples.iter().map(|(call, _)| call.len()).filter(|&width| width <= WIDEST);
    let width = widths.max().unwrap_or(0);
    let lines = examples.iter().map(|(call, what)| {
        if call.len() > WIDEST {
            format!("\n  {call}\n  {:width$}  {what}", "")
        } else {
            format!("\n  {call:width$}  {what}")
        }
    });
    format!("Examples:{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    /// The examples in the help of `command` and of all commands below it: each command's words, and
    /// its calls.
    fn examples(command: &Command, above: &[&str]) -> Vec<(String, Vec<String>)> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let lines = lines.take_while(|line| !line.is_empty());
        // Two spaces come before each call, and before its description.
        let calls = lines.filter_map(|line| line.trim_end().strip_prefix("  ")?.split("  ").next());
        let calls = calls.filter(|call| !call.is_empty()).map(str::to_owned).collect();
        let below = command
            .get_subcommands()
            .flat_map(|command| examples(command, &[above, &[command.get_name()]].concat()));
        [(above.join(" "), calls)].into_iter().chain(below).collect()
    }

    #[test]
    fn every_subcommand_has_two_examples() {
        for (command, examples) in examples(&command(), &["gridsync"]) {
            assert!(examples.len() >= 2, "{command}: {examples:?}");
            assert!(examples[0].contains(&command), "{command}: {examples:?}");
        }
    }

    #[test]
    fn every_example_parses() {
        // The first is gridsync, whose examples end with a call of --help.
        let examples = examples(&command(), &["gridsync"]).into_iter().skip(1);
        for call in examples.flat_map(|(_, calls)| calls) {
            for part in call.split(['|', '&']) {
                let Some(begin) = part.find("gridsync ") else {
                    continue;
                };
                let parsed = command().try_get_matches_from(words(&part[begin..]));
                assert!(parsed.is_ok(), "{call}: {}", parsed.unwrap_err());
            }
        }
    }

    /// The words of a call without redirections, as a shell splits them.
    fn words(call: &str) -> Vec<String> {
        let (mut words, mut quoted) = (vec![String::new()], false);
        for c in call.chars() {
            match c {
                '\'' => quoted = !quoted,
                '<' | '>' if !quoted => break,
                ' ' if !quoted => words.push(String::new()),
                c => words.last_mut().expect("there is one").push(c),
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }
}
