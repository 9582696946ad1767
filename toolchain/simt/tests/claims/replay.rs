//! Recordings: repeating a run, shrinking it, and describing it.

use crate::support::{Words, global_thread};
use simt::replay::{Recording, Script, record, shrink};
use simt::{Access, Fault, LaunchConfig, Memory, Order, Schedule, Scope, Space, Stats, launch};

/// A launch of blocks of some threads on new words, under a seed's schedule and with weak memory.
fn run(
    seed: u64,
    (blocks, threads): (u32, u32),
    kernel: impl Fn(usize, Words),
) -> (Result<Stats, Fault>, Vec<u32>) {
    let mut memory = Memory::new(1 << 12);
    let words = Words::zeros(&mut memory, 64);
    let config = LaunchConfig {
        schedule: Schedule::from_seed(seed),
        weak_memory: true,
        ..LaunchConfig::new("test", blocks, threads)
    };
    let ended = launch(&mut memory, &config, &|| kernel(global_thread(), words));
    let left = words.host(&memory, 64);
    (ended, left)
}

/// Each thread adds to a word by a read and a write, and reads what others have noted.
fn lossy(me: usize, words: Words) {
    for _ in 0..3 {
        let before = words.load(0, Order::Relaxed, Scope::Device);
        words.store(0, before + 1, Order::Relaxed, Scope::Device);
        words.add(1 + me % 4, before);
    }
}

#[test]
fn a_script_gives_the_same_run_again() {
    for seed in 1..100 {
        let shape = (3, if seed % 2 == 0 { 1 } else { 33 });
        let (first, recording) = record(None, false, || run(seed, shape, lossy));
        assert_eq!(run(seed, shape, lossy), first, "recording changes nothing");
        let Recording { script, .. } = &recording;
        let (again, taken) = record(Some(script), false, || run(seed, shape, lossy));
        let decided = |run: &(Result<Stats, Fault>, Vec<u32>)| run.0.clone().map(|it| it.decided);
        assert_eq!((decided(&again), &again.1), (decided(&first), &first.1), "{seed}");
        assert_eq!(taken.script, *script, "{seed}");
    }
}

#[test]
fn runs_with_the_same_decisions_have_the_same_hash() {
    // Only one order of two blocks, and nothing to read: few different runs.
    let one = |_, words: Words| words.set(0, 1);
    let decided = |seed| run(seed, (2, 1), one).0.expect("nothing is wrong").decided;
    let distinct: std::collections::BTreeSet<u64> = (0..300).map(decided).collect();
    assert!((2..40).contains(&distinct.len()), "{}", distinct.len());
    let decided = |seed| run(seed, (3, 1), lossy).0.expect("nothing is wrong").decided;
    let distinct: std::collections::BTreeSet<u64> = (0..300).map(decided).collect();
    assert!(distinct.len() > 200, "{}", distinct.len());
}

/// Shrinks the first run that `fails`, and returns its script and story.
fn shrunk(
    shape: (u32, u32),
    kernel: impl Fn(usize, Words) + Copy,
    fails: impl Fn(&(Result<Stats, Fault>, Vec<u32>)) -> bool,
) -> (Script, String) {
    let seed = (1..2000).find(|&seed| fails(&run(seed, shape, kernel))).expect("one fails");
    let (_, recording) = record(None, false, || run(seed, shape, kernel));
    let script = shrink(recording.script, |script| {
        let (result, recording) = record(Some(script), false, || run(seed, shape, kernel));
        fails(&result).then_some(recording.script)
    });
    let (result, recording) = record(Some(&script), true, || run(seed, shape, kernel));
    assert!(fails(&result));
    let story = recording.story(result.0.as_ref().err(), None).to_string();
    (script, story)
}

#[test]
fn a_lost_update_shrinks_to_a_short_story() {
    let kernel = |_, words: Words| {
        let before = words.load(0, Order::Relaxed, Scope::Device);
        words.store(0, before + 1, Order::Relaxed, Scope::Device);
    };
    let (script, story) = shrunk((4, 1), kernel, |(_, words)| words[0] < 4);
    assert!(script.switches() + script.old_values() <= 6, "{script:?}");
    let lines: Vec<&str> = story.lines().collect();
    assert_eq!(lines.len(), 8, "a read and a write of each: {story}");
    assert!(lines[0].contains("reads 0 from word 0 of allocation 0 (relaxed, device)"), "{story}");
    assert!(story.contains(file!()), "{story}");
}

#[test]
fn the_story_of_a_deadlock_shows_its_polls() {
    let kernel = |_, words: Words| {
        for _ in 0..2 {
            match words.add(0, 1) {
                1 => words.store(0, 0, Order::Release, Scope::Device),
                _ => {
                    while words.load(0, Order::Acquire, Scope::Device) != 0 {
                        simt::spin();
                    }
                }
            }
        }
    };
    let is_stuck =
        |run: &(Result<Stats, Fault>, Vec<u32>)| matches!(run.0, Err(Fault::Deadlock(_)));
    let (_, story) = shrunk((2, 1), kernel, is_stuck);
    assert!(story.lines().count() < 10, "{story}");
    let polls = "polls word 0 of allocation 0 (acquire, device) 64 times and sees 1";
    assert_eq!(story.matches(polls).count(), 2, "{story}");
}

/// The story of some launches of two blocks.
fn told(launches: u32, threads: u32, kernel: impl Fn(Words)) -> String {
    let mut memory = Memory::new(1 << 12);
    let words = Words::zeros(&mut memory, 64);
    memory.name_arguments([(words.address(), "flags")]);
    let (ended, recording) = record(None, true, || {
        let config = LaunchConfig::new("test", 2, threads);
        (0..launches).try_for_each(|_| launch(&mut memory, &config, &|| kernel(words)).map(drop))
    });
    recording.story(ended.err().as_ref(), None).to_string()
}

#[test]
fn threads_of_a_block_that_do_the_same_are_one_step() {
    let story = told(1, 64, |words| {
        let at = simt::position();
        if at.block_idx.x == 0 && at.linear_thread() == 0 {
            words.set(5, 1);
        }
        if at.block_idx.x == 1 && at.linear_thread() >= 50 {
            words.get(5);
        }
    });
    assert_eq!(story.lines().count(), 2, "{story}");
    assert!(story.contains("block 0, thread 0 writes 1 to word 5 of flags, at "), "{story}");
    let lanes = "block 1, lanes 18 to 31 of warp 1 read 1 from word 5 of flags, at ";
    assert!(story.contains(lanes), "{story}");
}

#[test]
fn a_value_of_an_earlier_launch_is_named() {
    let story = told(2, 1, |words| {
        if words.load(0, Order::Relaxed, Scope::Device) == 0 {
            words.store(0, 1, Order::Relaxed, Scope::Device);
        }
    });
    let seen =
        "launch 2, block 1 reads 1 from word 0 of flags (relaxed, device), which launch 1 wrote";
    assert!(story.contains(seen), "{story}");
    assert!(story.contains("launch 1, block 0 writes 1 to word 0 of flags"), "{story}");
}

#[test]
fn a_launch_ends_before_the_first_step_of_the_next() {
    let steps = |launches| {
        let story = told(launches, 1, |words| {
            words.add(0, 1);
        });
        let parts = story.lines().map(|line| line.split(". ").nth(1).unwrap_or(line).to_owned());
        parts.collect::<Vec<_>>()
    };
    let two = steps(2);
    let begins: Vec<&str> = two.iter().map(|step| &step[..step.len().min(15)]).collect();
    let (first, second) = ("launch 1, block", "launch 2, block");
    assert_eq!(begins, [first, first, "launch 1 ends", second, second], "{two:?}");
    assert!(!steps(1).iter().any(|step| step.contains("ends")));
}

#[test]
fn a_floating_point_number_is_shown_as_one() {
    let story = told(1, 1, |words| {
        let at = core::ptr::with_exposed_provenance_mut::<f32>(words.address() as usize);
        let access = Access::write(Space::Global);
        if simt::access_float(at.cast(), 4, access) {
            // SAFETY: announced just now.
            unsafe { at.write(24_640.5) };
        }
    });
    assert!(story.contains("block 1 writes 24640.5 to word 0 of flags"), "{story}");
}
