//! The ring of the scan by bulk copies, over several turns, with every memory order checked.

use cuda_std::memory::Global;
use gridsync_kernels::grid::Workspace;
use gridsync_kernels::grid::scan::{self, Form, Mode, Shape};
use gridsync_kernels::op::Sum;
use simt::{LaunchConfig, Memory, Schedule};

/// More than one turn of the six stages of a block, and a remainder.
const LEN: usize = 8 * 8192 + 5;

#[test]
fn ring_stages_are_reloaded_after_a_proxy_fence() {
    let shape = Shape::for_bulk::<u32>(LEN);
    for (seed, (races, weak_memory)) in (0..).zip([(true, false), (true, true), (false, true)]) {
        let mut memory = Memory::new(1 << 24);
        let mut upload = |bytes: Vec<u8>| {
            let at = memory.alloc(bytes.len(), 16).expect("it fits");
            memory.write(at, &bytes).expect("allocated just now");
            at
        };
        let input = upload((0..LEN as u32).flat_map(|i| (i % 9).to_le_bytes()).collect());
        let output = upload(vec![0; 4 * LEN]);
        let (words, state) =
            (upload(vec![0; 8 * shape.places()]), upload(vec![0; 4 * scan::STATE]));
        // SAFETY: allocated just now, with `LEN` elements each.
        let (input, to) =
            unsafe { (Global::from_address(input, LEN), Global::from_address(output, LEN)) };
        // SAFETY: allocated just now, with these lengths.
        let workspace = unsafe {
            Workspace {
                words: Global::from_address(words, shape.places()),
                state: Global::from_address(state, scan::STATE),
            }
        };
        let config = LaunchConfig {
            dynamic_shared: scan::BULK_SHARED as usize,
            shared_per_block: 227 << 10,
            schedule: Schedule::from_seed(seed),
            races,
            weak_memory,
            ..LaunchConfig::new("scan", 1, scan::BULK_THREADS)
        };
        let mode = Mode { form: Form::Inclusive, goes_on: false, leaves: false, in_second: false };
        let launched = simt::launch(&mut memory, &config, &|| {
            scan::scan_by_bulk(Sum::<u32>::new(), input, to, workspace, shape.tiles, mode);
        });
        if let Err(fault) = launched {
            panic!("seed {seed}: {fault}");
        }
        let mut bytes = vec![0; 4 * LEN];
        memory.read(output, &mut bytes).expect("all of it is written");
        let mut sum = 0;
        for (i, got) in bytes.chunks_exact(4).enumerate() {
            sum += i as u32 % 9;
            assert_eq!(got, sum.to_le_bytes(), "element {i}, seed {seed}");
        }
    }
}
