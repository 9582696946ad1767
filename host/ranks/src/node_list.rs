//! SLURM's lists of machines: `node[01-04,07],other`.
//!
//! The format is that of `scontrol show hostnames`
//! (<https://slurm.schedmd.com/scontrol.html#OPT_hostnames>): comma-separated names in which
//! brackets hold numbers and ranges of numbers, with leading zeros. A name may have several
//! brackets.

/// The most machines of a job. A list with more is corrupt.
const MOST: usize = 1 << 20;

/// The most digits of a number.
const MOST_DIGITS: usize = 20;

/// All machines of `list`, in order, or `None` if it is not a valid list.
pub(super) fn expand(list: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for name in split(list.trim())? {
        all.extend(names(name)?);
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

/// Splits `list` at the commas outside brackets.
fn split(list: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut is_inside) = (Vec::new(), 0, false);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'[' if is_inside => return None,
            b'[' => is_inside = true,
            b']' if !is_inside => return None,
            b']' => is_inside = false,
            b',' if !is_inside => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    (!is_inside && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// The machines of one name, which may have brackets.
fn names(name: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = name.split_once('[') else {
        return Some(vec![name.to_owned()]);
    };
    let (inside, after) = rest.split_once(']')?;
    let after = match after {
        "" => vec![String::new()],
        after => names(after)?,
    };
    let mut all = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let is_number = |text: &str| {
            (1..=MOST_DIGITS).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
        };
        if !is_number(first) || !is_number(last) {
            return None;
        }
        let (from, to): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let count = to.checked_sub(from)?.checked_add(1)?;
        if count.checked_mul(after.len())? > MOST {
            return None;
        }
        for number in from..=to {
            let number = format!("{number:0width$}", width = first.len());
            all.extend(after.iter().map(|after| format!("{before}{number}{after}")));
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_expand_with_leading_zeros() {
        let found = expand("node[01-04,07],other").expect("a list");
        assert_eq!(found, ["node01", "node02", "node03", "node04", "node07", "other"]);
        assert_eq!(expand("one").expect("a list"), ["one"]);
        assert_eq!(expand("n[9-11]").expect("a list"), ["n9", "n10", "n11"]);
        assert_eq!(expand("n[098-101]").expect("a list").last().expect("four"), "n101");
    }

    #[test]
    fn a_name_may_have_several_brackets_and_a_suffix() {
        let found = expand("r[1-2]n[3,5]-ib,x").expect("a list");
        assert_eq!(found, ["r1n3-ib", "r1n5-ib", "r2n3-ib", "r2n5-ib", "x"]);
    }

    #[test]
    fn an_invalid_list_is_rejected() {
        let bad = [
            "",
            "n[1-",
            "n]1",
            "n[[1]]",
            "n[2-1]",
            "n[a-b]",
            "n[]",
            "n[-1]",
            "a,,b",
            "n[1-99999999999999999999]",
            "n[0-99999999]",
            "n[0-18446744073709551615]",
            "n[000000000000000000001]",
        ];
        for list in bad {
            assert_eq!(expand(list), None, "{list:?}");
        }
    }
}
