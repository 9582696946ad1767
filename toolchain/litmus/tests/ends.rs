//! Termination of runs: spins, barriers, loops, and the bounds.

use litmus::{Judgement, Occurrence, TooLarge, judge, parse};

/// A test with these rows. Locations x and y start at 0.
fn of(places: &str, rows: &[&str], question: &str) -> Result<Judgement, TooLarge> {
    let rows = rows.iter().map(|row| format!("{row} ;\n")).collect::<String>();
    let text = format!("PTX test\n{{ x=0; y=0; }}\n{places} ;\n{rows}{question}\n");
    judge(&parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

const ONE: &str = "P0@cta 0,gpu 0";
const SAME: &str = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0";
const OTHER: &str = "P0@cta 0,gpu 0 | P1@cta 1,gpu 0";

/// P1 spins until x is not 0, then reads y.
fn spin(places: &str, store: &str, load: &str) -> Judgement {
    let rows = [
        "st.weak y, 1 | L:".to_owned(),
        format!("{store} x, 1 | {load} r0, x"),
        " | beq r0, 0, L".to_owned(),
        " | ld.weak r1, y".to_owned(),
    ];
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    of(places, &rows, "exists (P1:r0 == 1 /\\ P1:r1 == 0)").unwrap()
}

#[test]
fn a_spin_on_a_relaxed_flag_ends_and_publishes_nothing() {
    let judgement = spin(OTHER, "st.relaxed.gpu", "ld.relaxed.gpu");
    assert!(judgement.terminates);
    assert_eq!(judgement.states, [[1, 0], [1, 1]]);
}

#[test]
fn a_spin_on_an_acquired_flag_ends_and_sees_the_data() {
    let judgement = spin(OTHER, "st.release.gpu", "ld.acquire.gpu");
    assert!(judgement.terminates);
    assert_eq!(judgement.states, [[1, 1]]);
}

#[test]
fn a_spin_whose_scope_is_too_small_may_never_end() {
    assert!(!spin(OTHER, "st.release.cta", "ld.acquire.gpu").terminates);
    assert!(!spin(OTHER, "st.release.gpu", "ld.acquire.cta").terminates);
    assert!(spin(SAME, "st.release.cta", "ld.acquire.gpu").terminates);
}

#[test]
fn a_spin_of_weak_reads_may_never_end() {
    assert!(!spin(SAME, "st.weak", "ld.weak").terminates);
    assert!(!spin(SAME, "st.relaxed.gpu", "ld.weak").terminates);
}

#[test]
fn a_volatile_spin_ends() {
    assert!(spin("P0@cta 0,gpu 0 | P1@cta 0,gpu 1", "st.volatile", "ld.volatile").terminates);
}

#[test]
fn a_spin_for_a_transient_value_may_never_end() {
    let rows = [
        "st.relaxed.gpu x, 1 | L:",
        "st.relaxed.gpu x, 0 | ld.relaxed.gpu r0, x",
        "| bne r0, 1, L",
    ];
    let judgement = of(SAME, &rows, "exists (P1:r0 == 1)").unwrap();
    assert!(!judgement.terminates);
    assert_eq!(judgement.occurrence, Occurrence::Always);
}

#[test]
fn an_acquired_message_ends_even_a_weak_spin() {
    // The first read acquires y, so the weak read must see x in the second and later iterations.
    let rows = [
        "st.weak x, 1 | L: ld.relaxed.gpu r1, x",
        "st.release.gpu y, 1 | ld.weak r0, x",
        "| ld.acquire.gpu r2, y",
        "| beq r0, 0, L",
    ];
    assert!(of(OTHER, &rows, "exists (P1:r0 == 1)").unwrap().terminates);
}

#[test]
fn fences_of_a_spin_come_after_the_fence_of_a_thread_that_ends() {
    let rows = ["st.weak x, 1 | L: fence.sc.gpu", "fence.sc.gpu | ld.weak r0, x", "| beq r0, 0, L"];
    assert!(of(OTHER, &rows, "exists (P1:r0 == 1)").unwrap().terminates);
}

#[test]
fn a_spin_lock_by_cas_ends_and_excludes() {
    let rows = [
        "L: atom.acquire.gpu.cas r0, x, 0, 1 | L: atom.acquire.gpu.cas r0, x, 0, 1",
        "bne r0, 0, L | bne r0, 0, L",
        "ld.weak r1, y | ld.weak r1, y",
        "add r1, r1, 1 | add r1, r1, 1",
        "st.weak y, r1 | st.weak y, r1",
        "st.release.gpu x, 0 | st.release.gpu x, 0",
    ];
    let judgement = of(OTHER, &rows, "forall (y == 2 /\\ x == 0)").unwrap();
    assert!(judgement.holds && judgement.terminates);
    assert_eq!(judgement.states, [[0, 2]]);
}

#[test]
fn a_lock_that_is_not_released_blocks_the_other_thread() {
    let rows = [
        "L: atom.acquire.gpu.cas r0, x, 0, 1 | L: atom.acquire.gpu.cas r0, x, 0, 1",
        "bne r0, 0, L | bne r0, 0, L",
    ];
    let judgement = of(OTHER, &rows, "exists (x == 1)").unwrap();
    assert!(!judgement.terminates && judgement.states.is_empty());
}

#[test]
fn an_endless_loop_without_any_access_is_detected() {
    let judgement = of(ONE, &["L: goto L"], "forall (x == 1)").unwrap();
    assert!(!judgement.terminates);
    assert!(judgement.holds, "no state contradicts");
}

#[test]
fn a_counted_loop_is_unrolled() {
    let rows = ["L: atom.relaxed.gpu.add r0, x, 2", "add r1, r1, 1", "blt r1, 3, L"];
    let judgement = of(ONE, &rows, "forall (x == 6 /\\ P0:r0 == 4)").unwrap();
    assert!(judgement.holds && judgement.terminates);
}

#[test]
fn an_unbounded_loop_that_writes_is_refused() {
    let rows = ["L: atom.relaxed.gpu.add r0, x, 1", "bne r0, 1, L"];
    let error = of(ONE, &rows, "exists (x == 2)").unwrap_err();
    assert!(matches!(error, TooLarge::Loop { thread: 0, line: 4, .. }), "{error}");
}

#[test]
fn a_barrier_that_a_thread_never_reaches_blocks() {
    let rows = ["barrier.cta.sync 0, 2 | ld.weak r0, x"];
    assert!(!of(SAME, &rows, "exists (x == 0)").unwrap().terminates);
}

#[test]
fn a_barrier_without_a_count_waits_for_the_threads_that_name_it() {
    let spin = [
        "barrier.cta.sync 0 | L: ld.relaxed.cta r0, x",
        "st.relaxed.cta x, 1 | beq r0, 0, L",
        "| barrier.cta.sync 0",
    ];
    let judgement = of(SAME, &spin, "exists (x == 1)").unwrap();
    assert!(!judgement.terminates && judgement.states.is_empty());
    let alone = ["barrier.cta.sync 0 | barrier.cta.sync 1"];
    assert!(of(SAME, &alone, "exists (x == 0)").unwrap().terminates);
}

#[test]
fn a_barrier_serves_several_phases() {
    let rows = [
        "st.weak x, 1 | barrier.cta.sync 0, 2",
        "barrier.cta.sync 0, 2 | ld.weak r0, x",
        "barrier.cta.sync 0, 2 | barrier.cta.sync 0, 2",
        "st.weak x, 2 | ",
    ];
    let judgement = of(SAME, &rows, "forall (P1:r0 == 1 /\\ x == 2)").unwrap();
    assert!(judgement.holds && judgement.terminates);
    assert_eq!(judgement.executions, 1);
}

#[test]
fn an_arrival_publishes_without_waiting() {
    let rows = [
        "st.weak x, 1 | st.weak y, 1",
        "barrier.cta.arrive 0, 2 | barrier.cta.sync 0, 2",
        "ld.weak r0, y | ld.weak r0, x",
    ];
    let judgement = of(SAME, &rows, "exists (P0:r0 == 0)").unwrap();
    assert!(judgement.terminates);
    assert_eq!(judgement.states, [[0], [1]]);
    let judgement = of(SAME, &rows, "exists (P1:r0 == 0)").unwrap();
    assert_eq!(judgement.states, [[1]]);
}

#[test]
fn a_spin_may_count_its_rounds() {
    let rows =
        ["st.relaxed.gpu x, 1 | L: ld.relaxed.gpu r0, x", "| add r1, r1, 1", "| beq r0, 0, L"];
    assert!(of(SAME, &rows, "exists (P1:r0 == 1)").unwrap().terminates);
    assert!(of(SAME, &rows, "exists (P1:r1 == 1)").is_err(), "the count has no bound");
}

#[test]
fn too_many_executions_are_refused() {
    let places: Vec<String> = (0..12).map(|thread| format!("P{thread}@cta 0,gpu 0")).collect();
    let row = ["atom.relaxed.gpu.add r0, x, 1"; 12].join(" | ");
    let error = of(&places.join(" | "), &[&row], "forall (x == 12)").unwrap_err();
    assert!(matches!(error, TooLarge::Search { .. }), "{error}");
}
