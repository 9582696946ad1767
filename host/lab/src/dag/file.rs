//! Graphs as TOML files.

use super::{Operation, Step, Work};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The file format, for the help.
pub(super) const FORMAT: &str = "\
The file, in TOML:
  elements = 1024        # of each node's array of 32-bit numbers; 1 if not given
  threads = 256          # of each block; 32 if not given
  [[node]]
  name = \"A\"
  value = 5              # combined with the inputs; 0 if not given
  microseconds = 20.0    # its minimum time; 0 if not given
  blocks = 4             # 1 if not given
  [[node]]
  name = \"C\"
  operation = \"product\"  # or sum, or mix; sum if not given
  value = 1
  after = [\"A\"]          # its inputs, in order";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "one")]
    elements: u32,
    #[serde(default = "warp")]
    threads: u32,
    #[serde(default)]
    node: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    operation: Named,
    #[serde(default)]
    value: u32,
    #[serde(default)]
    microseconds: f64,
    #[serde(default = "one")]
    blocks: u32,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Named {
    #[default]
    Sum,
    Product,
    Mix,
}

const fn one() -> u32 {
    1
}

const fn warp() -> u32 {
    32
}

/// Reads a graph from a file.
pub(super) fn read(path: &Path) -> Result<Work, String> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    parse(&text).map_err(|why| format!("{shown}: {why}"))
}

fn parse(text: &str) -> Result<Work, String> {
    let File { elements, threads, node: entries } = toml::from_str(text).map_err(|error| {
        // The error's own text has several lines.
        let before = error.span().map_or("", |span| &text[..span.start]);
        format!("line {}: {}", before.matches('\n').count() + 1, error.message().replace('\n', " "))
    })?;
    if entries.is_empty() {
        return Err("there is no [[node]] in it: a graph needs at least one".into());
    }
    if elements == 0 {
        return Err("elements = 0: each node needs at least one element".into());
    }
    if threads == 0 {
        return Err("threads = 0: each block needs at least one warp of 32 threads".into());
    }
    let mut ids = HashMap::new();
    for (id, entry) in entries.iter().enumerate() {
        if ids.insert(entry.name.clone(), id).is_some() {
            return Err(format!("there are two nodes `{}`: names must be unique", entry.name));
        }
    }
    let step = |entry: Entry| {
        let Entry { name, operation, value, microseconds, blocks, after } = entry;
        if !(0.0..=1e6).contains(&microseconds) {
            return Err(format!("`{name}`: microseconds = {microseconds}: must be from 0 to 1e6"));
        }
        if blocks == 0 {
            return Err(format!("`{name}`: blocks = 0: a node needs at least one block"));
        }
        let id = |before: String| {
            ids.get(&before)
                .copied()
                .ok_or(format!("`{name}` is after `{before}`, which does not exist"))
        };
        let after = after.into_iter().map(id).collect::<Result<_, _>>()?;
        let operation = match operation {
            Named::Sum => Operation::Sum,
            Named::Product => Operation::Product,
            Named::Mix => Operation::Mix,
        };
        Ok(Step { name, operation, value, after, microseconds, blocks })
    };
    let steps = entries.into_iter().map(step).collect::<Result<_, String>>()?;
    Ok(Work { steps, elements, threads })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text).expect_err("it has a fault")
    }

    #[test]
    fn a_file_is_parsed_into_its_graph() {
        let text = "
            elements = 3
            [[node]]
            name = \"C\"
            operation = \"product\"
            value = 1
            after = [\"A\", \"B\"]
            [[node]]
            name = \"A\"
            value = 5
            microseconds = 2.5
            [[node]]
            name = \"B\"
            value = 7
            blocks = 2";
        let work = parse(text).expect("a graph");
        assert_eq!((work.elements, work.threads), (3, 32));
        assert_eq!(work.steps[0], Step::new("C", Operation::Product, 1, &[1, 2]));
        assert_eq!((work.steps[1].microseconds, work.steps[2].blocks), (2.5, 2));
        let dag = work.dag(0).expect("it has no cycle");
        assert_eq!(work.reference(&dag), [35, 5, 7]);
    }

    #[test]
    fn example_in_the_help_is_a_valid_graph() {
        let (_, example) = FORMAT.split_once('\n').expect("it has lines");
        assert_eq!(parse(example).expect("it can be read").steps.len(), 2);
    }

    #[test]
    fn errors_in_a_file_are_reported() {
        let node = "[[node]]\nname = \"A\"\n";
        for (text, said) in [
            (String::new(), "no [[node]]"),
            (format!("elements = 0\n{node}"), "elements = 0"),
            (format!("threads = 0\n{node}"), "threads = 0"),
            (format!("{node}{node}"), "two nodes `A`"),
            (format!("{node}after = [\"Z\"]"), "`A` is after `Z`"),
            (format!("{node}blocks = 0"), "blocks = 0"),
            (format!("{node}microseconds = -1.0"), "microseconds = -1"),
            (format!("{node}operation = \"divide\""), "unknown variant `divide`"),
            (format!("{node}colour = 3"), "line 3: unknown field `colour`"),
            ("[[node]]\nname = ".into(), "line 2"),
        ] {
            let refused = refused(&text);
            assert!(refused.contains(said) && !refused.contains('\n'), "{refused}");
        }
    }
}
