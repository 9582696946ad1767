//! `gridsync check`.

use crate::call::WRONG_USAGE;
use crate::folder::Folder;
use serde_json::Value;

/// The exit code when a result is wrong.
const WRONG: i32 = 1;

/// Each block counts itself, and the last one adds up what all wrote. `ORDER` is the order of the
/// counting.
const LAST_BLOCK: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry last_block(.param .u64 parts, .param .u64 counter, .param .u64 sum, .param .u32 add)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [parts];
    ld.param.u64 %rd2, [counter];
    ld.param.u64 %rd3, [sum];
    ld.param.u32 %r1, [add];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %nctaid.x;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd4, %rd1, %rd4;
    add.u32 %r4, %r2, %r1;
    st.global.u32 [%rd4], %r4;
    atom.ORDER.gpu.global.add.u32 %r5, [%rd2], 1;
    add.u32 %r5, %r5, 1;
    setp.ne.u32 %p1, %r5, %r3;
    @%p1 bra $end;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
$next:
    mul.wide.u32 %rd5, %r6, 4;
    add.s64 %rd5, %rd1, %rd5;
    ld.global.u32 %r8, [%rd5];
    add.u32 %r7, %r7, %r8;
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, %r3;
    @%p2 bra $next;
    st.global.u32 [%rd3], %r7;
$end:
    ret;
}
";

fn folder(order: &str) -> Folder {
    Folder::new().with("last.ptx", LAST_BLOCK.replace("ORDER", order))
}

const CALL: [&str; 16] = [
    "check", "last.ptx", "--grid", "3", "--block", "1", "--arg", "u32[3]", "--arg", "u32[1]",
    "--arg", "u32[1]", "--arg", "5", "--expect", "2=18",
];

#[test]
fn a_right_kernel_passes_and_each_order_is_found_to_be_needed() {
    let folder = folder("acq_rel");
    let shown = folder.call(&CALL, b"").says_nothing();
    assert!(shown.stdout.contains("last.ptx: last_block: right under "), "{shown:?}");
    let shown = folder.call(&[&CALL[..], &["--weaken", "--json"]].concat(), b"").says_nothing();
    let report: Value = serde_json::from_str(&shown.stdout).expect("one JSON value");
    let sites = report["sites"].as_array().expect("sites");
    assert!(!sites.is_empty() && sites.iter().all(|site| site["file"] == "last.ptx"), "{report}");
    let is_needed = |site: &&Value| site["caught"].is_object() && site["line"] == 20;
    assert!(sites.iter().any(|site| is_needed(&site)), "{report}");
}

#[test]
fn a_relaxed_counter_is_a_race_with_both_lines() {
    let folder = folder("relaxed");
    let shown = folder.call(&CALL, b"");
    assert_eq!(shown.code, Some(WRONG), "{shown:?}");
    for part in ["data race", "last.ptx:19", "last.ptx:29", "argument 0", "--seed"] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    assert_eq!(shown.stderr, "gridsync: last.ptx is wrong\n");
}

#[test]
fn all_executions_of_a_tiny_grid_are_explored() {
    let folder = folder("acq_rel");
    let two = CALL.map(|word| if word == "3" { "2" } else { word });
    let two = two.map(|word| if word == "2=18" { "2=11" } else { word });
    let shown = folder.call(&[&two[..], &["--every", "10000"]].concat(), b"").says_nothing();
    assert!(shown.stdout.contains("right in all "), "{shown:?}");
}

#[test]
fn a_wrong_result_names_the_element_and_both_values() {
    let folder = folder("acq_rel");
    let other = CALL.map(|word| if word == "2=18" { "2=19" } else { word });
    let shown = folder.call(&other, b"");
    assert_eq!(shown.code, Some(WRONG), "{shown:?}");
    assert!(shown.stdout.contains("array of argument 2: element 0 is 18, not 19"), "{shown:?}");
}

#[test]
fn a_file_describes_arrays_and_launches() {
    let plan = "
        [arrays]
        parts = 'u32[4]'
        counter = 'u32[1]'
        other = 'u32[1]'
        sum = 'u32[1]'
        [[launch]]
        grid = [2]
        block = [1]
        args = ['parts', 'counter', 'sum', '1']
        [[launch]]
        kernel = 'last_block'
        grid = [4]
        block = [1]
        args = ['parts', 'other', 'sum', '7']
        [expect]
        counter = '2'
        sum = '34'
    ";
    let folder = folder("acq_rel").with("plan.toml", plan);
    let shown = folder.call(&["check", "last.ptx", "--launch", "plan.toml"], b"").says_nothing();
    assert!(shown.stdout.contains("last_block, last_block: right under "), "{shown:?}");
    let folder = folder.with("plan.toml", plan.replace("block =", "blok ="));
    folder
        .call(&["check", "last.ptx", "--launch", "plan.toml"], b"")
        .fails(WRONG_USAGE, &["plan.toml", "blok"]);
}

#[test]
fn wrong_calls_are_refused_with_the_numbers_and_names() {
    let folder = folder("acq_rel");
    let changed = |from: &str, to: &'static str| {
        CALL.map(|word| if word == from { to } else { word }).to_vec()
    };
    for (call, parts) in [
        (CALL[..12].to_vec(), &["takes 4 arguments, not 3"][..]),
        (changed("5", "5000000000"), &["`5000000000` is no u32"]),
        (changed("u32[3]", "u33[3]"), &["`u33` is no type of elements"]),
        (changed("u32[3]", "missing.npy"), &["missing.npy"]),
        (changed("2=18", "7=18"), &["argument 7"]),
        (changed("last.ptx", "other.ptx"), &["cannot read other.ptx"]),
        ([&CALL[..2], &["first"], &CALL[2..]].concat(), &["no kernel first", "last_block"]),
    ] {
        folder.call(&call, b"").fails(WRONG_USAGE, parts);
    }
    folder
        .with("bad.ptx", ".version 8.0\n.target sm_80\n.visible .entri k() {}\n")
        .call(&["check", "bad.ptx", "--grid", "1", "--block", "1"], b"")
        .fails(WRONG_USAGE, &["bad.ptx, line 3", "entri"]);
}

/// A kernel in a namespace, and two overloads of `add`, of which the first one races.
const OVERLOADS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry _ZN4fast4moveEv()
{
    ret;
}
.visible .entry _Z3addPj(.param .u64 words)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [words];
    st.global.u32 [%rd1], 1;
    ret;
}
.visible .entry _Z3addPf(.param .u64 words)
{
    ret;
}
";

#[test]
fn kernels_are_named_as_in_the_source_or_as_in_the_ptx() {
    let folder = Folder::new().with("add.ptx", OVERLOADS);
    let rest = ["--grid", "2", "--block", "1", "--schedules", "5"];
    let check = |kernel: &str, more: &[&str]| {
        folder.call(&[&["check", "add.ptx", kernel][..], &rest, more].concat(), b"")
    };
    for kernel in ["move", "fast::move", "_ZN4fast4moveEv"] {
        let shown = check(kernel, &[]).says_nothing();
        assert!(shown.stdout.starts_with("add.ptx: fast::move(): right"), "{shown:?}");
    }
    let both = "name one of the kernels: add(unsigned int*) (_Z3addPj), add(float*) (_Z3addPf)";
    check("add", &[]).fails(WRONG_USAGE, &[both]);
    check("ad", &[]).fails(WRONG_USAGE, &["no kernel ad", "fast::move() (_ZN4fast4moveEv)"]);
    check("move", &["--arg", "1"]).fails(WRONG_USAGE, &["fast::move() takes 0 arguments, not 1"]);
    let shown = check("add(unsigned int*)", &["--arg", "u32[1]"]);
    assert_eq!(shown.code, Some(WRONG), "{shown:?}");
    assert!(shown.stdout.contains("(kernel add(unsigned int*), block (0, 0, 0)"), "{shown:?}");
    assert!(!shown.stdout.contains("_Z3addPj"), "{shown:?}");
    let shown = check("_Z3addPj", &["--arg", "u32[1]", "--json"]);
    let report: Value = serde_json::from_str(&shown.stdout).expect("one JSON value");
    assert_eq!(report["name"], "add.ptx: add(unsigned int*)");
    let what = report["what"].as_str().expect("a message");
    assert!(what.contains("kernel add(unsigned int*)") && !what.contains("_Z"), "{what}");
}

#[test]
fn a_weak_load_before_compare_and_swap_is_reported_as_probably_harmless() {
    let text = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 word)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [word];
    ld.global.u32 %r1, [%rd1];
$again:
    add.u32 %r2, %r1, 1;
    atom.global.cas.b32 %r3, [%rd1], %r1, %r2;
    setp.ne.u32 %p1, %r3, %r1;
    mov.u32 %r1, %r3;
    @%p1 bra $again;
    ret;
}
";
    let call = ["check", "count.ptx", "--grid", "2", "--block", "1", "--arg", "u32[1]"];
    let shown = Folder::new().with("count.ptx", text).call(&call, b"");
    assert_eq!(shown.code, Some(WRONG), "{shown:?}");
    assert!(shown.stdout.contains("data race") && shown.stdout.contains("count.ptx:11"));
    let note = "\nthe race is probably harmless: the load only begins a loop of compare-and-swap";
    assert!(shown.stdout.contains(note), "{shown:?}");
    let store = text.replace("@%p1 bra", "st.global.u32 [%rd1], %r2;\n    @%p1 bra");
    let shown = Folder::new().with("count.ptx", store).call(&call, b"");
    assert_eq!(shown.code, Some(WRONG), "{shown:?}");
    assert!(!shown.stdout.contains("harmless"), "{shown:?}");
}
