//! Faults in libraries name the line that calls the library, and the protocol that would help.

use simt::{
    Fault, LaunchConfig, Memory, MissingOrder, Order, Place, Policy, Schedule, Scope, interpret_at,
    join_barrier, launch, library_call, position, protocol_call,
};

use crate::library::{Kept, LIBRARY, SUM_LINE, apply, mean, sum};
use crate::races::{DATA, FLAG, race_in};
use crate::support::{Words, assert_site, config};

#[test]
fn a_fault_in_a_library_names_its_caller_and_the_inner_line() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    let line = line!() + 3;
    let kernels: [&dyn Fn(); 2] = [
        &|| {
            sum(words, 5);
        },
        &|| _ = mean(words, 5),
    ];
    for (kernel, line) in kernels.into_iter().zip([line, line + 2]) {
        let config = config(1, 2, Policy::RoundRobin);
        let fault = launch(&mut memory, &config, kernel).expect_err("there are four words");
        assert_site(&fault, 0, 0, file!(), line);
        let inside = fault.site().and_then(|site| site.inside).expect("it is");
        assert_eq!((inside.file(), inside.line()), (LIBRARY, SUM_LINE), "{fault}");
        assert!(fault.to_string().contains(&format!(", in {inside}")));
    }
}

#[test]
fn a_fault_in_an_interpreter_names_the_line_of_its_program_only() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    let lines = [7, 8].map(|line| Place::in_program("kernel.ptx", line, 0));
    let fault = launch(&mut memory, &config(1, 2, Policy::RoundRobin), &|| {
        for (index, line) in [3, 4].into_iter().zip(lines) {
            interpret_at(line, line);
            words.get(index);
        }
    })
    .expect_err("there are four words");
    assert_site(&fault, 0, 0, "kernel.ptx", 8);
    assert!(fault.to_string().ends_with("at kernel.ptx:8)"), "{fault}");
    assert_eq!(Place::in_program("kernel.ptx", 8, 0), lines[1]);
}

#[test]
fn a_destructor_names_the_line_stored_in_its_value() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    let line = line!() + 2;
    let fault = launch(&mut memory, &config(1, 2, Policy::RoundRobin), &|| {
        let kept = Kept::new(words);
        words.get(0);
        drop(kept);
    });
    assert_site(&fault.expect_err("there are four words"), 0, 0, file!(), line);
}

#[test]
fn a_closure_that_a_kernel_gives_to_a_library_has_its_own_line() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    let line = line!() + 3;
    let fault = launch(&mut memory, &config(1, 2, Policy::RoundRobin), &|| {
        apply(|| {
            words.get(4);
        });
    })
    .expect_err("there are four words");
    assert_site(&fault, 0, 0, file!(), line);
    assert_eq!(fault.site().and_then(|site| site.inside), None);
}

#[test]
fn a_library_call_ends_with_its_guard_and_does_nothing_outside_a_kernel() {
    drop(library_call());
    drop(protocol_call("nothing"));
    join_barrier("nothing", 0);
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 4);
    let line = line!() + 3;
    let fault = launch(&mut memory, &config(1, 2, Policy::RoundRobin), &|| {
        sum(words, 4);
        words.get(4);
    })
    .expect_err("there are four words");
    assert_site(&fault, 0, 0, file!(), line);
    assert_eq!(fault.site().and_then(|site| site.inside), None);
}

/// A grid barrier in one word.
#[derive(Clone, Copy)]
struct Barrier {
    word: Words,
    at: usize,
}

impl Barrier {
    #[track_caller]
    fn attach(word: Words, at: usize) -> Self {
        let _call = protocol_call("the barrier");
        join_barrier("the barrier", word.address() + 4 * at as u64);
        // Like a barrier whose count continues across launches: read the current count.
        word.load(at, Order::Relaxed, Scope::Device);
        Self { word, at }
    }

    #[track_caller]
    fn sync(self) {
        let _call = protocol_call("the barrier");
        simt::block_barrier();
        if position().thread_idx.x == 0 {
            self.word.add_at(self.at, 1, Order::Release, Scope::Device);
            let all = position().grid_dim.x;
            while self.word.load(self.at, Order::Acquire, Scope::Device) != all {
                simt::spin();
            }
        }
        simt::block_barrier();
    }
}

/// Each block writes a word and reads another block's word, with or without the barrier in between.
fn neighbours(words: Words, barrier: Barrier, crosses: bool) {
    let (me, blocks) = (position().block_idx.x as usize, 3);
    if position().thread_idx.x == 0 {
        words.set(DATA + me, 1);
    }
    if crosses {
        barrier.sync();
    }
    words.get(DATA + (me + 1) % blocks);
}

#[test]
fn an_uncrossed_barrier_is_reported_and_its_atomics_are_not_blamed() {
    let attached = |crosses| {
        race_in(3, 2, move |words| {
            neighbours(words, Barrier::attach(words, FLAG), crosses);
        })
    };
    assert_eq!(attached(true), None);
    assert_eq!(attached(false), Some(MissingOrder::Crossing("the barrier")));
    // Arriving after the write, so that others may see the count when they attach.
    for seed in 0..30 {
        let mut memory = Memory::new(1 << 20);
        let words = Words::zeros(&mut memory, 32);
        let config = LaunchConfig {
            races: true,
            schedule: Schedule::from_seed(seed),
            ..config(3, 2, Policy::RoundRobin)
        };
        let fault = launch(&mut memory, &config, &|| {
            let barrier = Barrier::attach(words, FLAG);
            if position().block_idx.x == 0 {
                neighbours(words, barrier, true);
            } else {
                neighbours(words, barrier, false);
                barrier.sync();
            }
        })
        .expect_err("two blocks read too early");
        let told = fault.to_string();
        let cross = "nothing orders them: cross the barrier between them";
        assert!(told.ends_with(cross), "seed {seed}: {told}");
    }
}

#[test]
fn barriers_of_other_blocks_are_not_reported_as_missing() {
    // Blocks 0 and 1 have one barrier, block 2 another.
    let race = race_in(3, 1, |words| {
        let block = position().block_idx.x;
        Barrier::attach(words, FLAG + usize::from(block == 2));
        match block {
            0 => words.set(DATA, 1),
            2 => _ = words.get(DATA),
            _ => {}
        }
    });
    assert_eq!(race, Some(MissingOrder::Everything { same_block: false }));
}

#[test]
fn a_race_names_a_protocol_that_orders_no_other_memory() {
    /// Sends with a relaxed word.
    #[track_caller]
    fn tell(words: Words) {
        let _call = protocol_call("the mail");
        words.store(FLAG, 1, Order::Relaxed, Scope::Device);
    }
    #[track_caller]
    fn hear(words: Words) {
        let _call = protocol_call("the mail");
        while words.load(FLAG, Order::Relaxed, Scope::Device) != 1 {
            simt::spin();
        }
    }
    let mailed = |fences: bool| {
        race_in(2, 1, move |words| {
            let fence = || {
                if fences {
                    simt::fence(Scope::Device, Order::AcqRel);
                }
            };
            if position().block_idx.x == 0 {
                words.set(DATA, 42);
                fence();
                tell(words);
            } else {
                hear(words);
                fence();
                words.get(DATA);
            }
        })
    };
    let race = mailed(false).expect("the mail is relaxed");
    assert_eq!(race, MissingOrder::Protocol("the mail"));
    assert!(race.to_string().contains("the mail, through which"), "{race}");
    assert_eq!(mailed(true), None, "fences on both sides make it a message");
}

#[test]
fn a_flag_is_reported_along_with_a_barrier_that_would_help_too() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 32);
    let config = LaunchConfig { races: true, ..config(2, 1, Policy::RoundRobin) };
    let fault = launch(&mut memory, &config, &|| {
        Barrier::attach(words, FLAG);
        if position().block_idx.x == 0 {
            words.set(DATA, 42);
            words.store(FLAG + 1, 1, Order::Relaxed, Scope::Device);
        } else {
            while words.load(FLAG + 1, Order::Acquire, Scope::Device) != 1 {
                simt::spin();
            }
            words.get(DATA);
        }
    })
    .expect_err("the flag is not released");
    assert!(matches!(fault, Fault::Race(_)), "{fault}");
    let told = fault.to_string();
    for part in [
        "cross the barrier between them; or else: the 4-byte acquire load",
        "but the write is not released",
    ] {
        assert!(told.contains(part), "{told}");
    }
}
