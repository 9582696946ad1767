//! Verdicts of the model beyond the shapes.

use litmus::{Judgement, judge, parse};

fn of(header: &str, rows: &[&str], question: &str) -> Judgement {
    let rows = rows.iter().map(|row| format!("{row} ;\n")).collect::<String>();
    let text = format!("PTX test\n{header} ;\n{rows}{question}\n");
    judge(&parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))).unwrap()
}

const TWO: &str = "{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0";
const THREE: &str = "{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 | P2@cta 2,gpu 0";

#[test]
fn racing_weak_writes_leave_either_value() {
    let judgement = of(TWO, &["st.weak x, 1 | st.weak x, 2"], "exists (x == 1)");
    assert_eq!(judgement.states, [[1], [2]]);
    assert_eq!(judgement.executions, 1, "the writes have no order");
}

#[test]
fn strong_writes_are_ordered_one_way_or_the_other() {
    let judgement = of(TWO, &["st.relaxed.gpu x, 1 | st.relaxed.gpu x, 2"], "exists (x == 1)");
    assert_eq!(judgement.states, [[1], [2]]);
    assert_eq!(judgement.executions, 2);
}

#[test]
fn values_do_not_come_out_of_thin_air() {
    let copy = [
        "ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y",
        "st.relaxed.gpu y, r0 | st.relaxed.gpu x, r0",
    ];
    let judgement = of(TWO, &copy, "exists (P0:r0 == 1)");
    assert_eq!(judgement.states, [[0]]);
    let branch = [
        "ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y",
        "beq r0, 0, E | beq r0, 0, E",
        "st.relaxed.gpu y, 1 | st.relaxed.gpu x, 1",
        "E: | E:",
    ];
    assert!(!of(TWO, &branch, "exists (P0:r0 == 1 /\\ P1:r0 == 1)").holds);
}

#[test]
fn a_load_may_see_a_later_store_without_a_dependency() {
    let rows = [
        "ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y",
        "st.relaxed.gpu y, r0 | st.relaxed.gpu x, 1",
    ];
    assert!(of(TWO, &rows, "exists (P0:r0 == 1 /\\ P1:r0 == 1)").holds);
}

#[test]
fn an_atomic_reads_before_it_writes() {
    let rows = [
        "atom.relaxed.gpu.exch r0, x, 1 | ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y",
        "| st.relaxed.gpu y, r0 | add r0, r0, 1",
        "| | st.relaxed.gpu x, r0",
    ];
    assert!(!of(THREE, &rows, "exists (P0:r0 == 2)").holds, "2 comes of what it wrote");
    assert!(of(THREE, &rows, "exists (P2:r0 == 1)").holds);
}

#[test]
fn causality_reaches_a_weak_read_after_a_strong_one() {
    let rows = ["st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x", "| ld.weak r1, x"];
    assert!(!of(TWO, &rows, "exists (P1:r0 == 1 /\\ P1:r1 == 0)").holds);
}

#[test]
fn a_second_fence_orders_what_the_first_did() {
    let rows = [
        "st.weak x, 1 | st.weak y, 1",
        "fence.sc.gpu | fence.sc.gpu",
        "st.weak x, 2 | st.weak y, 2",
        "fence.sc.gpu | fence.sc.gpu",
        "ld.weak r0, y | ld.weak r0, x",
    ];
    assert!(of(TWO, &rows, "forall (P0:r0 == 2 \\/ P1:r0 == 2)").holds);
}

#[test]
fn atomics_pass_a_release_on() {
    let rows = [
        "st.weak x, 1 | atom.relaxed.gpu.add r0, y, 1 | ld.acquire.gpu r0, y",
        "st.release.gpu y, 1 | | ld.weak r1, x",
    ];
    assert!(!of(THREE, &rows, "exists (P2:r0 == 2 /\\ P1:r0 == 1 /\\ P2:r1 == 0)").holds);
    let broken = [
        "st.weak x, 1 | ld.relaxed.gpu r0, y | ld.acquire.gpu r0, y",
        "st.release.gpu y, 1 | add r0, r0, 1 | ld.weak r1, x",
        "| st.relaxed.gpu y, r0 |",
    ];
    assert!(of(THREE, &broken, "exists (P2:r0 == 2 /\\ P1:r0 == 2 /\\ P2:r1 == 0)").holds);
}

#[test]
fn a_reduction_and_a_fence_acquire_nothing() {
    let rows = |update: &str| {
        [
            "st.weak x, 1 | ".to_owned() + update,
            "st.release.gpu y, 1 | fence.acq_rel.gpu".to_owned(),
            "| ld.weak r1, x".to_owned(),
        ]
    };
    let judge = |update: &str| {
        let rows = rows(update);
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        of(TWO, &rows, "exists (y == 3 /\\ P1:r1 == 0)").holds
    };
    assert!(judge("red.relaxed.gpu.add y, 2"));
    let read = [
        "st.weak x, 1 | atom.relaxed.gpu.add r0, y, 2",
        "st.release.gpu y, 1 | fence.acq_rel.gpu",
        "| ld.weak r1, x",
    ];
    assert!(!of(TWO, &read, "exists (P1:r0 == 1 /\\ P1:r1 == 0)").holds);
}

#[test]
fn a_release_covers_later_strong_writes_to_its_location() {
    let rows = [
        "st.weak x, 1 | ld.acquire.gpu r0, y",
        "st.release.gpu y, 1 | ld.weak r1, x",
        "st.relaxed.gpu y, 2 |",
    ];
    assert!(!of(TWO, &rows, "exists (P1:r0 == 2 /\\ P1:r1 == 0)").holds);
    let weak = [
        "st.weak x, 1 | ld.acquire.gpu r0, y",
        "st.release.gpu y, 1 | ld.weak r1, x",
        "st.weak y, 2 |",
    ];
    assert!(of(TWO, &weak, "exists (P1:r0 == 2 /\\ P1:r1 == 0)").holds);
}

#[test]
fn a_filter_ignores_states() {
    let rows = ["st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x"];
    assert!(!of(TWO, &rows, "forall (P1:r0 == 1)").holds);
    assert!(of(TWO, &rows, "filter (P1:r0 != 0) forall (P1:r0 == 1)").holds);
}

#[test]
fn the_columns_are_the_terms_asked_and_shown() {
    let rows = ["st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, x"];
    let header = TWO.to_owned();
    let judgement = of(&header, &rows, "locations [x; P1:r0;] exists (x == 1)");
    assert_eq!(judgement.columns.len(), 2);
    assert_eq!(judgement.states, [[0, 1], [1, 1]]);
}

#[test]
fn atomics_compute_as_in_ptx() {
    let updates = [
        ("exch r0, x, 7", 7),
        ("cas r0, x, 5, 9", 9),
        ("cas r0, x, 4, 9", 5),
        ("inc r0, x, 5", 0),
        ("inc r0, x, 6", 6),
        ("dec r0, x, 3", 3),
        ("dec r0, x, 9", 4),
        ("min r0, x, -1", -1),
        ("max r0, x, -1", 5),
        ("and r0, x, 4", 4),
        ("or r0, x, 2", 7),
        ("xor r0, x, 1", 4),
        ("sub r0, x, 6", -1),
    ];
    for (update, value) in updates {
        let row = format!("atom.{}", update);
        let judgement = of(
            "{ x=5; }\nP0@cta 0,gpu 0",
            &[&row],
            &format!("forall (x == {value} /\\ P0:r0 == 5)"),
        );
        assert!(judgement.holds, "{update}: {:?}", judgement.states);
    }
}
