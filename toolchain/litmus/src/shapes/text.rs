//! Writes a shape as a litmus test.

use std::fmt::Write as _;

use super::families::Family;
use super::{Flavour, Placement, scope_word};
use crate::instruction::Scope;

/// The text of one variant of a family.
pub(super) fn text(
    family: &Family,
    name: &str,
    flavour: Flavour,
    scope: Option<Scope>,
    place: Placement,
) -> String {
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (number, accesses) in family.threads.iter().enumerate() {
        let (cta, gpu) = match place {
            Placement::SameCta => (0, 0),
            Placement::OtherCta => (number, 0),
            Placement::OtherGpu => (0, number),
        };
        let mut column = vec![format!("P{number}@cta {cta},gpu {gpu}")];
        let mut reads = 0;
        for access in accesses.split(' ') {
            let between = if column.len() > 1 { between(flavour, scope) } else { None };
            column.extend(between);
            column.push(instruction(access, flavour, scope, &mut reads));
        }
        columns.push(column);
    }
    let mut text = format!("PTX {name}\n\"{}\"\n{{ ", family.says);
    for location in ["x", "y", "z"] {
        let used = |thread: &&str| thread.contains(location);
        if family.threads.iter().any(used) {
            let _ = write!(text, "{location}=0; ");
        }
    }
    text.push_str("}\n");
    let width = |column: &[String]| column.iter().map(String::len).max().unwrap_or(0);
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cell = |column: &Vec<String>| {
            let cell = column.get(row).map_or("", String::as_str);
            format!(" {cell:0$} ", width(column))
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        let _ = writeln!(text, "{};", cells.join("|"));
    }
    let _ = writeln!(text, "exists ({})", family.outcome);
    text
}

fn instruction(access: &str, flavour: Flavour, scope: Option<Scope>, reads: &mut usize) -> String {
    let (kind, rest) = access.split_at(1);
    let (location, value) = rest.split_at(1);
    let (write, read, both) = match flavour {
        Flavour::Weak | Flavour::WeakFenceSc | Flavour::Barrier => ("weak", "weak", "weak"),
        Flavour::Relaxed | Flavour::Fence | Flavour::FenceSc => ("relaxed", "relaxed", "relaxed"),
        Flavour::ReleaseAcquire => ("release", "acquire", "acq_rel"),
    };
    let scope = match scope {
        Some(scope) if write != "weak" => format!(".{}", scope_word(scope)),
        _ => String::new(),
    };
    if kind == "W" {
        return format!("st.{write}{scope} {location}, {value}");
    }
    let register = *reads;
    *reads += 1;
    if kind == "R" {
        format!("ld.{read}{scope} r{register}, {location}")
    } else {
        format!("atom.{both}{scope}.add r{register}, {location}, 1")
    }
}

/// The instruction between two accesses of a thread.
fn between(flavour: Flavour, scope: Option<Scope>) -> Option<String> {
    let order = match flavour {
        Flavour::Weak | Flavour::Relaxed | Flavour::ReleaseAcquire => return None,
        Flavour::Barrier => return Some("barrier.cta.sync 0".to_owned()),
        Flavour::Fence => "acq_rel",
        Flavour::FenceSc | Flavour::WeakFenceSc => "sc",
    };
    scope.map(|scope| format!("fence.{order}.{}", scope_word(scope)))
}
