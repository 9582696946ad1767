//! Panics and traps, and the state after a fault.

use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind};

use simt::{Fault, Memory, Policy, launch};

use crate::support::{Words, assert_site, config, schedules};

#[test]
fn a_panic_in_a_kernel_is_a_fault() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 1);
    let table = [1u32, 2, 3];
    for schedule in schedules() {
        let config = simt::LaunchConfig { schedule, ..config(2, 40, Policy::RoundRobin) };
        let line = line!() + 4;
        let fault = launch(&mut memory, &config, &|| {
            let at = simt::position();
            words.get(0);
            let past = table[(at.block_idx.x * 3 * u32::from(at.thread_idx.x == 35)) as usize];
            assert_eq!(past, 1);
            simt::block_barrier();
        })
        .expect_err("thread 35 of block 1 panics");
        let Fault::Panicked { message, at, .. } = &fault else { panic!("{fault}") };
        assert_eq!(message, "index out of bounds: the len is 3 but the index is 3");
        assert!(at.starts_with(&format!("{}:{line}:", file!())), "{at}");
        assert_site(&fault, 1, 35, file!(), line - 1);
    }
}

/// The message and location of the panic that ends `kernel`.
fn panicked(kernel: &dyn Fn()) -> (String, String) {
    let fault = launch(&mut Memory::new(0), &config(1, 40, Policy::RoundRobin), kernel)
        .expect_err("the kernel panics");
    let Fault::Panicked { message, at, .. } = fault else { panic!("{fault}") };
    (message, at)
}

#[test]
fn a_kernel_that_unwinds_without_a_panic_is_a_fault() {
    let unknown = "an unknown place".to_owned();
    let ended = panicked(&|| resume_unwind(Box::new("gave up")));
    assert_eq!(ended, ("gave up".to_owned(), unknown.clone()));
    let ended = panicked(&|| resume_unwind(Box::new(format!("gave {}", "up"))));
    assert_eq!(ended, ("gave up".to_owned(), unknown.clone()));
    let ended = panicked(&|| resume_unwind(Box::new(7)));
    assert_eq!(ended, ("a payload that is not a string".to_owned(), unknown));
}

#[test]
fn a_panic_that_the_kernel_catches_is_not_reported() {
    let caught = || catch_unwind(|| panic!("caught")).expect_err("it panics");
    launch(&mut Memory::new(0), &config(2, 40, Policy::RoundRobin), &|| {
        caught();
        simt::block_barrier();
    })
    .expect("the kernel caught its panic");

    let (message, at) = panicked(&|| {
        caught();
        simt::spin();
        assert!(simt::position().linear_thread() != 3, "not caught");
    });
    assert_eq!(message, "not caught");
    assert!(at.starts_with(file!()), "{at}");

    let (message, at) = panicked(&|| {
        caught();
        resume_unwind(Box::new("gave up"));
    });
    assert_eq!((message.as_str(), at.as_str()), ("gave up", "an unknown place"));

    let (message, at) = panicked(&|| resume_unwind(caught()));
    assert_eq!(message, "caught");
    assert!(at.starts_with(file!()), "{at}");
}

#[test]
fn a_trap_is_a_fault_with_its_message() {
    let mut memory = Memory::new(1 << 20);
    let line = line!() + 3;
    let fault = launch(&mut memory, &config(1, 64, Policy::RoundRobin), &|| {
        if simt::position().linear_thread() == 50 {
            simt::trap("sum is negative");
        }
    })
    .expect_err("trapped");
    assert_site(&fault, 0, 50, file!(), line);
    assert!(fault.to_string().starts_with("trap: sum is negative ("), "{fault}");
}

/// Counts the threads that hold one, and accesses memory in its destructor.
struct Held<'a> {
    count: &'a Cell<u32>,
    words: Words,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.count.set(self.count.get() - 1);
        self.words.add(0, 1);
        self.words.set(1 << 20, 1);
        simt::spin();
        simt::block_vote(1);
        simt::warp_exchange(1, "never", 0);
        simt::active_mask();
    }
}

#[test]
fn a_fault_runs_all_destructors_and_the_next_launch_works() {
    let mut memory = Memory::new(1 << 20);
    let words = Words::zeros(&mut memory, 2);
    let held = Cell::new(0);
    for schedule in schedules() {
        let config = simt::LaunchConfig { schedule, ..config(3, 64, Policy::RoundRobin) };
        let most = Cell::new(0);
        let fault = launch(&mut memory, &config, &|| {
            held.set(held.get() + 1);
            most.set(most.get().max(held.get()));
            let _held = Held { count: &held, words };
            simt::block_barrier();
            if simt::position().linear_block() == 2 {
                words.get(usize::MAX / 8);
            }
            simt::block_barrier();
            words.wait_for(1, 1);
        })
        .expect_err("block 2 reads astray");
        assert!(matches!(fault, Fault::OutOfBounds { .. }), "{fault}");
        assert!(most.get() >= 64);
        assert_eq!(held.get(), 0, "every thread that started was unwound");
        assert_eq!(words.host(&memory, 2)[0], most.get(), "good accesses work while unwinding");
        memory.zero(words.address(), 8).expect("allocated");
        launch(&mut memory, &config, &|| words.set(0, 0)).expect("nothing is left of the fault");
    }
}

#[test]
fn a_launch_inside_a_kernel_is_refused() {
    let mut memory = Memory::new(1 << 20);
    launch(&mut memory, &config(1, 1, Policy::RoundRobin), &|| {
        let mut inner = Memory::new(0);
        let refused = launch(&mut inner, &config(1, 1, Policy::RoundRobin), &|| {});
        assert!(matches!(refused, Err(Fault::Nested { .. })));
    })
    .expect("the outer launch goes on");
}

#[test]
fn in_thread_functions_panic_outside_a_launch() {
    assert!(!simt::in_kernel());
    let mut memory = Memory::new(0);
    launch(&mut memory, &config(1, 1, Policy::RoundRobin), &|| assert!(simt::in_kernel()))
        .expect("no fault");
    let panic = catch_unwind(simt::position).expect_err("outside a launch");
    let message = panic.downcast::<String>().expect("a formatted message");
    assert!(message.starts_with("simt::position called outside an emulated thread"), "{message}");
}

#[test]
fn launches_on_several_os_threads_do_not_interfere() {
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut memory = Memory::new(1 << 20);
                let words = Words::zeros(&mut memory, 1);
                launch(&mut memory, &config(4, 64, Policy::RoundRobin), &|| {
                    words.add(0, 1);
                    simt::block_barrier();
                })
                .expect("no fault");
                assert_eq!(words.host(&memory, 1), [256]);
            });
        }
    });
}
