//! The classic shapes have the verdicts of the model.

use std::collections::BTreeSet;

use litmus::shapes::{Flavour, Placement, all, variant};
use litmus::{Occurrence, Scope, judge, parse};

/// Whether the model allows the outcome of a variant.
fn allowed(family: &str, flavour: Flavour, scope: Option<Scope>, place: Placement) -> bool {
    let shape = variant(family, flavour, scope, place).expect("there is such a variant");
    let judgement = judge(&parse(&shape.text).unwrap()).unwrap();
    judgement.occurrence != Occurrence::Never
}

#[test]
fn every_shape_has_its_verdict() {
    let shapes = all();
    let wrong: Vec<String> = shapes
        .iter()
        .filter_map(|shape| {
            let test = parse(&shape.text).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
            let judgement = judge(&test).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
            assert!(judgement.terminates, "{}", shape.name);
            assert!(judgement.executions > 0, "{}", shape.name);
            let allowed = judgement.occurrence != Occurrence::Never;
            (allowed != shape.allowed).then(|| format!("{}: allowed {allowed}", shape.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), shapes.len());
}

#[test]
fn names_are_unique() {
    let shapes = all();
    let names: BTreeSet<&str> = shapes.iter().map(|shape| shape.name.as_str()).collect();
    assert_eq!(names.len(), shapes.len());
}

#[test]
fn a_relaxed_flag_does_not_publish_data() {
    let (relaxed, ordered) = (Flavour::Relaxed, Flavour::ReleaseAcquire);
    assert!(allowed("MP", relaxed, Some(Scope::Sys), Placement::SameCta));
    assert!(!allowed("MP", ordered, Some(Scope::Cta), Placement::SameCta));
}

#[test]
fn a_release_in_cta_scope_does_not_reach_another_cta() {
    let ordered = Flavour::ReleaseAcquire;
    assert!(allowed("MP", ordered, Some(Scope::Cta), Placement::OtherCta));
    assert!(!allowed("MP", ordered, Some(Scope::Gpu), Placement::OtherCta));
    assert!(allowed("MP", ordered, Some(Scope::Gpu), Placement::OtherGpu));
}

#[test]
fn store_buffering_needs_a_sequentially_consistent_fence() {
    let place = Placement::OtherCta;
    assert!(allowed("SB", Flavour::ReleaseAcquire, Some(Scope::Gpu), place));
    assert!(allowed("SB", Flavour::Fence, Some(Scope::Gpu), place));
    assert!(!allowed("SB", Flavour::FenceSc, Some(Scope::Gpu), place));
}

#[test]
fn a_barrier_orders_weak_accesses_of_its_cta_only() {
    assert!(!allowed("SB", Flavour::Barrier, None, Placement::SameCta));
    assert!(allowed("SB", Flavour::Barrier, None, Placement::OtherCta));
}

#[test]
fn atomics_out_of_scope_lose_updates() {
    assert!(!allowed("RMW", Flavour::Relaxed, Some(Scope::Gpu), Placement::OtherCta));
    assert!(allowed("RMW", Flavour::Relaxed, Some(Scope::Cta), Placement::OtherCta));
}
