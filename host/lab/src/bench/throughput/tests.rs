use super::*;
use crate::bench::library::Library;
use crate::bench::{
    BY_KEY, KENDALL, PeerKind, PeerKinds, RANK, REDUCE, SCAN, SOFTMAX, SORT, Spread,
};
use gridsync::device::{Emulator, EmulatorConfig};

const ONCE: Sampling = Sampling { at_least: 1, at_most: 1, uncertainty: 0.005 };

fn device() -> Device {
    Device::new(Emulator::new(EmulatorConfig::default()))
}

impl Throughput {
    /// The records of `cases` of `n` elements in the emulator, without a peer.
    pub(in crate::bench) fn in_emulator(&self, cases: &[Case], n: usize) -> Vec<Record> {
        let nobody = PeerTimes::default();
        self.run(&device(), cases, &[n], &nobody, &ONCE, |_| ())
            .expect("the emulator should measure it, and find it right")
            .records
    }
}

impl Case {
    /// The time of one call on `n` elements in the emulator, with its result checked.
    pub(in crate::bench) fn alone_in_emulator(&self, n: usize) -> Option<Measurement> {
        let device = device();
        let mut bench = Bench { device: &device, sampling: &ONCE, stock: Stock::default() };
        (self.measure)(&mut bench, &Load { n, plan: Plan::ALONE })
            .expect("the emulator should measure it, and find it right")
    }
}

/// The cases of one operation.
fn of(op: &str) -> Vec<Case> {
    let cases = REDUCE.cases.iter();
    cases.filter(|case| case.op == op).copied().collect()
}

#[test]
fn every_element_type_is_measured() {
    let (cases, nobody) = (of("min"), PeerTimes::default());
    let (mut steps, mut told) = (Vec::new(), Vec::new());
    let step = |step: Step<'_, (&Case, usize)>| match step {
        Step::Next((case, n)) => steps.push((case.dtype.name(), n)),
        Step::Measured(record) => told.push(record.clone()),
    };
    let run = REDUCE
        .run(&device(), &cases, &[1 << 12], &nobody, &ONCE, step)
        .expect("the emulator should reduce");
    assert_eq!(
        steps,
        ["f32", "f32", "f64", "f64", "i32", "i32", "u64", "u64"].map(|name| (name, 1 << 12)),
        "in a row and alone"
    );
    let times = |records: &[Record]| records.iter().map(|r| r.median).collect::<Vec<_>>();
    assert_eq!(times(&told), times(&run.records), "each as it comes");
    assert_eq!(run.too_large, []);
    let bytes: Vec<_> = run.records.iter().map(|record| record.bytes).collect();
    assert_eq!(bytes, [4, 4, 8, 8, 4, 4, 8, 8].map(|size| Some(size << 12)));
    let calls = |record: &Record| record.params["calls"].as_u64();
    assert_eq!(run.records.iter().map(calls).collect::<Vec<_>>()[..2], [Some(256), Some(1)]);
    for record in &run.records {
        assert!(record.params["peer_mode"].is_null() && record.peer.is_none());
    }
}

#[test]
fn a_mode_of_the_peer_that_answered_is_a_record_and_so_is_the_read_ceiling() {
    let device = device();
    let l2 = device.properties().l2_bytes;
    let cases = &of("sum")[..2];
    let row = Plan::in_a_row(4000, l2);
    let mut peers = PeerTimes::default();
    for (question, median) in [
        (cases[0].question("run_to_run", 1000, &row), 4.0),
        (cases[0].question("gpu_to_gpu", 1000, &row), 8.0),
        (cases[0].question("torch.sum", 1000, &row), 6.0),
        (cases[0].question("run_to_run", 1000, &Plan::ALONE), 5.0),
        (Ceiling::Read.question(4000, &row), 2.0),
    ] {
        let samples = vec![median - 0.1, median, median + 0.1];
        let time = Spread::of(samples).expect("there are samples");
        peers.times.insert(question, time);
    }
    peers.versions.insert(Library::Torch, "2.11.0".into());
    let run = REDUCE
        .run(&device, cases, &[1000], &peers, &ONCE, |_| ())
        .expect("the emulator should reduce");
    let told: Vec<_> = run
        .records
        .iter()
        .map(|record| {
            let mode = record.params["peer_mode"].as_str();
            let peer = record.peer.as_ref().map(|peer| peer.median);
            (record.variant.as_str(), mode, peer)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("read", None, None),
            ("tiles", Some("run_to_run"), Some(4.0)),
            ("tiles", Some("gpu_to_gpu"), Some(8.0)),
            ("tiles", Some("torch.sum"), Some(6.0)),
            ("f32 in f64", None, None),
            ("tiles", Some("run_to_run"), Some(5.0)),
            ("f32 in f64", None, None),
        ]
    );
    assert_eq!(run.records[0].gb_per_s(), Some(2.0));
    let warned = |record: &Record| record.warnings.iter().any(|w| w.kind() == "peer-noise");
    assert!(warned(&run.records[1]), "4.0 ± 0.1 is not known well enough");
    assert!(!warned(&run.records[4]));
    let json = json!(run.records[2]);
    assert_eq!(json["suite"], "reduce");
    assert_eq!(json["bytes"], 4000);
    assert_eq!(json["peer"]["name"], "cub::DeviceReduce");
    let of_library = &json!(run.records[3])["peer"];
    assert_eq!(
        (&of_library["name"], &of_library["version"]),
        (&json!("torch.sum"), &json!("2.11.0"))
    );
    assert_ne!(run.records[2].line(), run.records[3].line(), "a run keeps both");
    assert_eq!(
        json["params"],
        json!({
            "op": "sum", "dtype": "f32", "n": 1000, "calls": 256, "peer_mode": "gpu_to_gpu",
        })
    );
}

#[test]
fn a_scan_is_compared_with_a_copy_and_the_cpu_has_one_record() {
    let device = device();
    let auto = &SCAN.cases[..1];
    let alone = [
        auto[0].question("default", 1000, &Plan::ALONE),
        Ceiling::Copy.question(4000, &Plan::ALONE),
    ];
    let mut peers = PeerTimes::default();
    for question in alone.iter().chain(["sum f32 cpu 1000 1 0".into()].iter()) {
        let time = Spread::of(vec![4.0; 7]).expect("there are samples");
        peers.times.insert(question.clone(), time);
    }
    let run = SCAN
        .run(&device, auto, &[100, 1000, 1 << 50], &peers, &ONCE, |_| ())
        .expect("the emulator should scan");
    let told: Vec<_> = run
        .records
        .iter()
        .filter(|record| record.params["n"] == 1000)
        .map(|record| (record.variant.as_str(), &record.device[..], record.peer.is_some()))
        .collect();
    assert_eq!(
        told,
        [
            ("auto", "emulator", false),
            ("copy", "emulator", false),
            ("numpy.cumsum", "CPU", false),
            ("auto", "emulator", true),
        ]
    );
    for record in &run.records {
        let n = record.params["n"].as_u64().expect("a length");
        assert_eq!(record.bytes, Some(2 * 4 * n), "{}", record.variant);
    }
}

#[test]
fn a_length_that_does_not_fit_in_memory_is_reported_and_the_rest_is_measured() {
    let (cases, nobody) = (&of("max")[..1], PeerTimes::default());
    let run = REDUCE
        .run(&device(), cases, &[1 << 50, 100], &nobody, &ONCE, |_| ())
        .expect("too little memory is no failure");
    assert!(
        matches!(&run.too_large[..], [TooLarge { dtype: Dtype::F32, n, .. }] if *n == 1 << 50),
        "{:?}",
        run.too_large
    );
    assert_eq!(run.records.len(), 2, "in a row and alone");
}

#[test]
fn the_peer_gets_the_plan_that_we_follow() {
    let (sum, l2) = (of("sum")[0], 60 << 20);
    let asked = |mode, n| REDUCE.plans(Dtype::F32, n, l2).map(|plan| sum.question(mode, n, &plan));
    assert_eq!(
        asked("run_to_run", 1 << 10),
        ["sum f32 run_to_run 1024 256 0", "sum f32 run_to_run 1024 1 0"]
    );
    assert_eq!(asked("gpu_to_gpu", 1 << 28)[0], "sum f32 gpu_to_gpu 268435456 2 2000");
    assert_eq!(
        Ceiling::Read.question(1 << 34, &Plan::in_a_row(1 << 34, l2)),
        "read u8 plain 17179869184 1 2000"
    );
}

#[test]
fn a_result_is_checked_once_at_each_length() {
    for n in [1 << 10, 1 << 28] {
        let plans = KENDALL.plans(Dtype::F32, n, 60 << 20);
        let checked = plans.map(|plan| Load { n, plan }.is_checked());
        assert_eq!(checked, [false, true], "{n}: in a row and alone");
    }
}

#[test]
fn a_suite_without_a_peer_on_the_gpu_needs_no_compiler() {
    let peers = KENDALL
        .peers(KENDALL.cases, &[10, 1 << 24], 60 << 20, &ONCE, &PeerKinds::All)
        .expect("nothing is built");
    let answered = peers.times.contains_key("kendall f32 cpu 10 1 0");
    assert!(answered || peers.notes()[0].contains("left out"), "{peers:?}");
}

#[test]
fn a_library_gets_each_question_once_and_only_those_that_we_measure() {
    let l2 = 60 << 20;
    let of_torch =
        |suite: &Throughput| suite.questions_to(Library::Torch, suite.cases, &[1 << 20], l2);
    let ranks = of_torch(&RANK);
    assert_eq!(ranks[0], "top-64 f32 torch.topk 1048576 1 0", "alone only");
    assert_eq!(ranks.len(), 5);
    let scans = of_torch(&SCAN);
    assert_eq!(scans.len(), 2 * 3, "in a row and alone, of three types");
    assert_eq!(of_torch(&KENDALL), [""; 0]);
}

#[test]
fn the_peer_of_calls_that_are_only_measured_alone_measures_no_others() {
    let asked = BY_KEY.questions(&BY_KEY.cases[..2], &[1 << 20], 60 << 20);
    let cases = ["reduce-2", "reduce-16"].map(|op| format!("{op} f32 default 1048576 1 0"));
    assert_eq!(asked[0], "read u8 plain 8388608 1 0", "keys and values");
    assert_eq!(asked[1..], cases);
}

#[test]
fn a_suite_has_the_kinds_of_its_peers() {
    use PeerKind::{Cpu, Cuda, Cupy, Torch};
    assert_eq!(SOFTMAX.kinds(), [Cuda, Torch]);
    assert_eq!(SCAN.kinds(), [Cuda, Cpu, Torch, Cupy]);
    assert_eq!((RANK.kinds(), KENDALL.kinds()), (vec![Torch, Cupy], vec![Cpu]));
    let none = SORT.peers(SORT.cases, &[10], 60 << 20, &ONCE, &PeerKinds::None);
    assert_eq!(none.ok(), Some(PeerTimes::default()));
}

#[test]
fn a_mode_is_shown_without_what_its_variant_repeats() {
    let modes = ["run_to_run_in_f64", "kept_50", "bins_256", "torch.histc_256", "default"];
    assert_eq!(modes.map(plain_mode), ["run_to_run", "kept", "bins", "torch", "default"]);
}
