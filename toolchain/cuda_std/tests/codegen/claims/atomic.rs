//! Claims about read-modify-write operations that follow a rule.

use super::Claims;

/// Each type with the suffixes of its addition, of its bits, and of its minimum if it has one. PTX
/// has no `add.s64`, but two's complement addition is the same.
const TYPES: [(&str, &str, &str, Option<&str>); 6] = [
    ("u32", "u32", "b32", Some("u32")),
    ("i32", "s32", "b32", Some("s32")),
    ("u64", "u64", "b64", Some("u64")),
    ("i64", "u64", "b64", Some("s64")),
    ("f32", "f32", "b32", None),
    ("f64", "f64", "b64", None),
];

/// Each space with its only scope (if it has just one), the address, and the index of the first
/// parameter after it.
const SPACES: [(&str, Option<&str>, &str, usize); 2] =
    [("global", None, "$0", 1), ("shared", Some("cta"), "gridsync_dynamic_shared", 0)];

/// Every operation on every type in both spaces, relaxed.
pub(super) fn of_each_type() -> Claims {
    let mut claims = Claims::new();
    for (space, only_scope, at, first) in SPACES {
        let (value, new) = (format!("${first}"), format!("${}", first + 1));
        let scope = only_scope.unwrap_or("gpu");
        for (ty, add, bits, min) in TYPES {
            let register = if bits == "b32" { "%r" } else { "%rd" };
            let with = format!("relaxed.{scope}.{space}");
            let atom = |op: &str| format!("atom.{with}.{op} {register}, [{at}], {value};");
            let mut effects = vec![
                atom(&format!("add.{add}")),
                atom(&format!("exch.{bits}")),
                format!("atom.{with}.cas.{bits} {register}, [{at}], {value}, {new};"),
                format!("red.{with}.add.{add} [{at}], {value};"),
            ];
            if let Some(min) = min {
                effects.extend(["min", "max"].map(|op| atom(&format!("{op}.{min}"))));
                effects.extend(["and", "or", "xor"].map(|op| atom(&format!("{op}.{bits}"))));
            }
            claims.insert(format!("atomics_{space}_{ty}"), effects);
        }
    }
    claims
}

/// Each ordering in each scope, for one operation of each kind: the others follow the same rule.
/// `SeqCst` is a `fence.sc` of the requested scope, then the operation as `acq_rel`.
pub(super) fn of_each_order_and_scope() -> Claims {
    let mut claims = Claims::new();
    for (space, only_scope, at, first) in SPACES {
        let (value, new) = (format!("${first}"), format!("${}", first + 1));
        let each = |orders: &[&str], instruction: &dyn Fn(&str) -> String| {
            let mut effects = Vec::new();
            for asked in ["cta", "gpu", "sys"] {
                let scope = only_scope.unwrap_or(asked);
                for order in orders {
                    if *order == "sc" {
                        effects.push(format!("fence.sc.{asked};"));
                    }
                    let order = if *order == "sc" { "acq_rel" } else { order };
                    effects.push(instruction(&format!("{order}.{scope}.{space}")));
                }
            }
            effects
        };
        let all = ["relaxed", "acquire", "release", "acq_rel", "sc"];
        for op in ["add", "inc"] {
            let atom = |with: &str| format!("atom.{with}.{op}.u32 %r, [{at}], {value};");
            claims.insert(format!("orders_of_{op}_{space}"), each(&all, &atom));
        }
        let red = |with: &str| format!("red.{with}.add.u64 [{at}], {value};");
        claims.insert(format!("orders_of_red_{space}"), each(&["relaxed", "release"], &red));
        let cas = |with: &str| format!("atom.{with}.cas.b64 %rd, [{at}], {value}, {new};");
        claims.insert(format!("orders_of_cas_{space}"), each(&all, &cas));
    }
    claims
}
