use super::*;
use gridsync::device::EmulatorConfig;
use serde_json::Value;

const ONCE: Sampling = Sampling { at_least: 1, at_most: 1, uncertainty: 0.005 };

/// An emulated machine with this many GPUs.
fn emulated(ordinals: &[u32]) -> Result<Devices, DeviceError> {
    Devices::emulated(EmulatorConfig { gpus: ordinals.len() as u32, ..EmulatorConfig::default() })
}

#[test]
fn powers_of_two_and_all_gpus_are_measured() {
    assert_eq!(gpu_counts(1), [1]);
    assert_eq!(gpu_counts(2), [1, 2]);
    assert_eq!(gpu_counts(6), [1, 2, 4, 6]);
    assert_eq!(gpu_counts(8), [1, 2, 4, 8]);
}

#[test]
fn the_blocks_are_one_and_half_and_all_of_the_multiprocessors() {
    assert_eq!(system_blocks(132), [1, 66, 132]);
    assert_eq!(system_blocks(2), [1, 2]);
    assert_eq!(system_blocks(1), [1]);
}

#[test]
fn every_collective_is_measured_on_every_number_of_gpus_where_it_fits() {
    let shape = |blocks, threads| Shape { blocks, threads };
    let spread = Spread::of(vec![8.0]).expect("there is a sample");
    let (mut steps, mut told) = (0, Vec::new());
    let system = System {
        ordinals: &[4, 1],
        collectives: &COLLECTIVES,
        shapes: &[shape(1, 32), shape(1 << 20, 32)],
        peers: &HashMap::from([(2, spread)]),
        sampling: ONCE,
    };
    let records = system.run(emulated, |step| match step {
        Step::Next(_) => steps += 1,
        Step::Measured(record) => told.push(record.clone()),
    });
    let records = records.expect("the emulator should run both");
    assert_eq!(steps, 2 * 2 * 2, "numbers of GPUs, shapes and collectives");
    let times = |records: &[Record]| records.iter().map(|r| r.median).collect::<Vec<_>>();
    assert_eq!(times(&told), times(&records), "each as it comes");

    let params = records.iter().map(|record| (record.variant.as_str(), json!(record.params)));
    let params: Vec<_> = params.collect();
    let of = |gpus: usize| {
        let ordinals = &[4, 1][..gpus];
        json!({ "gpus": gpus, "ordinals": ordinals, "blocks": 1, "threads": 32 })
    };
    let both = |params: Value| [("barrier", params.clone()), ("all-reduce", params)];
    assert_eq!(params, [both(of(1)), both(of(2))].concat(), "the larger grid does not fit");
    for record in &records {
        let json = json!(record);
        assert_eq!((&json["suite"], &json["unit"]), (&json!("system"), &json!("us")));
        let peer = if json["params"]["gpus"] == 2 { json!("NCCL") } else { json!(null) };
        assert_eq!(json["peer"]["name"], peer);
    }
}

#[test]
fn a_peer_that_scatters_gets_a_warning() {
    let scattered = Spread::of(vec![1.0, 2.0, 3.0, 4.0]).expect("there are samples");
    let shape = Shape { blocks: 1, threads: 32 };
    let system = System {
        ordinals: &[0],
        collectives: &COLLECTIVES[..1],
        shapes: &[shape],
        peers: &HashMap::from([(1, scattered)]),
        sampling: ONCE,
    };
    let records = system.run(emulated, |_| ()).expect("the emulator should run it");
    let warns = |warning: &Warning| matches!(warning, Warning::PeerNoise { samples: 4, .. });
    assert!(records[0].warnings.iter().any(warns), "{records:?}");
}

#[test]
fn an_exchange_of_partial_warps_is_left_out() {
    let devices = emulated(&[0, 1]).expect("there may be two");
    let shape = Shape { blocks: 2, threads: 33 };
    assert_eq!(all_reduce(&devices, shape, &ONCE), Ok(None));
}

#[test]
fn gpus_that_do_not_open_end_the_run() {
    let missing = DeviceError::NoSuchDevice { ordinal: 1, count: 1 };
    let system = System {
        ordinals: &[0, 1],
        collectives: &COLLECTIVES,
        shapes: &[],
        peers: &HashMap::new(),
        sampling: ONCE,
    };
    let open = |ordinals: &[u32]| match ordinals.len() {
        1 => emulated(ordinals),
        _ => Err(missing.clone()),
    };
    assert_eq!(system.run(open, |_| ()), Err(missing.clone()));
}
