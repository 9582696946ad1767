//! Each site of a kernel can be made weaker for one launch, and only that site.

use simt::{
    Change, Fault, Kinship, LaunchConfig, Memory, Order, OrderSite, Orders, Policy, Scope, Sites,
    Weaken, launch, position,
};

use crate::races::{DATA, FLAG};
use crate::support::{Words, config};

/// Block 0 passes a word to block 1, in which thread 1 reads it after thread 0 has waited.
fn hand_over(words: Words) {
    let at = position();
    match (at.block_idx.x, at.thread_idx.x) {
        (0, 0) => {
            words.set(DATA, 7);
            words.store(FLAG, 1, Order::Release, Scope::Device);
        }
        (1, 0) => {
            while words.load(FLAG, Order::Acquire, Scope::Device) != 1 {
                if !simt::spin() {
                    break;
                }
            }
        }
        _ => {}
    }
    simt::block_barrier();
    if (at.block_idx.x, at.thread_idx.x) == (1, 1) {
        assert_eq!(words.get(DATA), 7);
    }
}

fn run(races: bool, sites: Option<&Sites>, weaken: Option<Weaken>) -> Option<Fault> {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let base = config(2, 2, Policy::Reverse);
    let config = LaunchConfig { races, sites, weaken, ..base };
    launch(&mut memory, &config, &|| hand_over(words)).err()
}

fn sites() -> Vec<OrderSite> {
    let sites = Sites::default();
    assert_eq!(run(false, Some(&sites), None), None);
    sites.sorted()
}

#[test]
fn the_sites_of_a_kernel_are_listed_in_source_order() {
    let sites = sites();
    let said: Vec<String> = sites.iter().map(|site| site.does.to_string()).collect();
    assert_eq!(
        said,
        ["release store, device scope", "acquire load, device scope", "wait", "block barrier"]
    );
    assert!(sites.iter().all(|site| site.place.file() == file!()), "{sites:?}");
}

#[test]
fn every_weaker_form_of_a_needed_site_is_detected() {
    let mut tried = 0;
    for site in sites() {
        for change in site.weaker() {
            let fault = run(true, None, Some(Weaken { site, change }));
            let noticed = matches!(fault, Some(Fault::Race(_) | Fault::Panicked { .. }));
            assert!(noticed, "{} {change}: {fault:?}", site.does);
            tried += 1;
        }
    }
    // Two orders, two scopes, a wait and a barrier.
    assert_eq!(tried, 6);
}

#[test]
fn a_removed_wait_polls_once() {
    let site = sites().into_iter().find(|site| site.does == Orders::Wait).expect("there is one");
    // Block 1 runs first, so the word has not been written yet.
    let fault = run(false, None, Some(Weaken { site, change: Change::Out }));
    assert!(matches!(fault, Some(Fault::Panicked { .. })), "{fault:?}");
}

#[test]
fn an_unordered_vote_still_has_its_result() {
    let votes = |races, weaken| {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 1);
        let sites = Sites::default();
        let base = config(1, 40, Policy::RoundRobin);
        let config = LaunchConfig { races, sites: Some(&sites), weaken, ..base };
        let fault = launch(&mut memory, &config, &|| {
            let at = position().thread_idx.x;
            if at == 0 {
                words.set(0, 1);
            }
            assert_eq!(simt::block_vote(at % 2).count, 20);
            if at == 39 {
                words.get(0);
            }
        });
        (sites.sorted(), fault.err())
    };
    let (sites, fault) = votes(true, None);
    assert_eq!((sites.len(), fault), (1, None));
    assert_eq!(sites[0].weaker(), [Change::Unordered]);
    let weaken = Some(Weaken { site: sites[0], change: Change::Unordered });
    assert_eq!(votes(false, weaken).1, None);
    let (_, fault) = votes(true, weaken);
    assert!(matches!(fault, Some(Fault::Race(_))), "{fault:?}");
}

#[test]
fn a_scope_narrows_by_one_step_and_system_counts_as_device() {
    let site = |in_clusters| OrderSite {
        place: core::panic::Location::caller().into(),
        does: Orders::Fence(Scope::System, Order::SeqCst),
        kinship: Kinship { in_clusters, on_gpus: false },
    };
    let smaller = |scope| [Change::Scope(scope), Change::Order(Order::AcqRel), Change::Out];
    assert_eq!(site(false).weaker(), smaller(Scope::Block));
    assert_eq!(site(true).weaker(), smaller(Scope::Cluster));
}
