//! A spinning grid barrier over thousands of threads.

use simt::{LaunchConfig, Memory, Policy, launch};

use crate::support::{Words, config, global_thread, schedules};

/// One growing counter: the last arrival of each round lets the grid through.
#[track_caller]
fn grid_barrier(counter: Words, round: u32) {
    let at = simt::position();
    simt::block_barrier();
    if at.linear_thread() == 0 {
        counter.add(0, 1);
        counter.wait_for(0, (round + 1) * at.grid_dim.count() as u32);
    }
    simt::block_barrier();
}

fn rounds(grid: u32, block: u32, rounds: u32, config: LaunchConfig<'_>) -> simt::Stats {
    let threads = (grid * block) as usize;
    let mut memory = Memory::new(16 << 20);
    let counter = Words::zeros(&mut memory, 1);
    let words = [Words::zeros(&mut memory, threads), Words::zeros(&mut memory, threads)];
    let stats = launch(&mut memory, &config, &|| {
        let i = global_thread();
        for round in 0..rounds {
            let [from, to] = [round as usize % 2, (round as usize + 1) % 2];
            let far = (i + threads / 2 + 1) % threads;
            to_next(words, from, to, far, i);
            grid_barrier(counter, round);
        }
    })
    .expect("the barrier holds");
    assert_eq!(words[rounds as usize % 2].host(&memory, threads), vec![rounds; threads]);
    stats
}

#[track_caller]
fn to_next(words: [Words; 2], from: usize, to: usize, far: usize, i: usize) {
    words[to].set(i, words[from].get(far) + 1);
}

#[test]
fn a_grid_of_132_blocks_stays_in_step() {
    let config = LaunchConfig { cooperative: true, ..config(132, 256, Policy::Coarse) };
    let stats = rounds(132, 256, 10, config);
    assert_eq!(stats.barriers, 2 * 10 * 132);
}

#[test]
fn a_grid_of_132_blocks_stays_in_step_in_lockstep() {
    rounds(132, 256, 2, config(132, 256, Policy::RoundRobin));
    rounds(132, 256, 2, config(132, 256, Policy::RunAhead));
}

#[test]
fn the_barrier_survives_every_schedule() {
    for schedule in schedules() {
        rounds(7, 40, 20, LaunchConfig { schedule, ..config(7, 40, Policy::RoundRobin) });
    }
}

#[test]
fn the_barrier_survives_a_thousand_rounds() {
    rounds(3, 33, 1000, config(3, 33, Policy::Coarse));
}
