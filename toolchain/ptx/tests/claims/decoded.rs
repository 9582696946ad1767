//! The meaning of instructions.

use std::collections::BTreeSet;

use ptx::decode::{
    Access, AddressSpace, BarrierAction, Fence, MbarrierAction, Operation, Order, Rounding, Scope,
    Update, decode,
};
use ptx::{Module, Type, parse};

use crate::{SAMPLES, body};

fn of(mnemonic: &str) -> Operation {
    decode(&body(&format!("{mnemonic};")).instructions[0].mnemonic)
}

fn access(space: AddressSpace, order: Order, scope: Scope, ty: Type) -> Access {
    Access { space, order, scope, ty, vector: 1, non_coherent: false }
}

/// The mnemonics that are not decoded.
fn unknown(module: &Module) -> BTreeSet<String> {
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    let instructions = bodies.flat_map(|body| &body.instructions);
    let unknown = instructions.filter_map(|instruction| match decode(&instruction.mnemonic) {
        Operation::Unknown(text) => Some(text.into()),
        _ => None,
    });
    unknown.collect()
}

#[test]
fn the_samples_have_few_instructions_that_are_not_decoded() {
    let all = SAMPLES.iter().flat_map(|(_, text)| unknown(&parse(text).expect("a module")));
    let all: Vec<String> = all.collect();
    let words = |text: &String| text.split('.').next().map(str::to_owned);
    assert_eq!(all.iter().filter_map(words).collect::<Vec<_>>(), ["cp"]);
}

#[test]
fn matrices_have_shapes_that_exist() {
    let product = |ty, depth| Operation::MatrixProduct { ty, depth };
    for (text, expected) in [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", product(Type::F16, 16)),
        ("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", product(Type::Bf16, 8)),
        ("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", product(Type::Tf32, 4)),
    ] {
        assert_eq!(of(text), expected, "{text}");
    }
    for text in [
        "mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
    ] {
        assert!(matches!(of(text), Operation::Unknown(_)), "{text}");
    }
    let space = AddressSpace::Shared;
    assert_eq!(
        of("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16"),
        Operation::MatrixAccess { loads: true, count: 2, transposes: true, space }
    );
    assert_eq!(
        of("stmatrix.sync.aligned.m8n8.x4.shared.b16"),
        Operation::MatrixAccess { loads: false, count: 4, transposes: false, space }
    );
}

#[test]
fn packed_conversions_have_a_size_and_a_sign() {
    let pack = |bits, signed| Operation::Pack { bits, signed };
    assert_eq!(of("cvt.pack.sat.u16.s32"), pack(16, false));
    assert_eq!(of("cvt.pack.sat.s4.s32.b32"), pack(4, true));
    assert!(matches!(of("cvt.pack.u8.s32.b32"), Operation::Unknown(_)));
}

#[test]
fn accesses_have_the_defaults_of_the_isa() {
    use AddressSpace::{Generic, Global, Shared};
    use Scope::{Block, Cluster, Device, System};
    for (text, expected) in [
        ("ld.u32", access(Generic, Order::Weak, Block, Type::U32)),
        ("ld.volatile.global.u64", access(Global, Order::Volatile, System, Type::U64)),
        ("ld.mmio.relaxed.sys.global.b32", access(Global, Order::Mmio, System, Type::B32)),
        ("ld.acquire.gpu.b32", access(Generic, Order::Acquire, Device, Type::B32)),
        ("ld.relaxed.cluster.shared::cta.b8", access(Shared, Order::Relaxed, Cluster, Type::B8)),
        ("ld.global.ca.L1::evict_last.L2::256B.f32", access(Global, Order::Weak, Block, Type::F32)),
    ] {
        assert_eq!(of(text), Operation::Load(expected), "{text}");
    }
    let weak = access(Global, Order::Weak, Block, Type::B32);
    assert_eq!(of("st.global.v4.b32"), Operation::Store(Access { vector: 4, ..weak }));
    assert_eq!(of("ld.global.nc.b32"), Operation::Load(Access { non_coherent: true, ..weak }));
    let relaxed = access(Generic, Order::Relaxed, Device, Type::U32);
    assert_eq!(of("atom.add.u32"), Operation::Atomic(relaxed, Update::Add));
    let exchange = access(Global, Order::Release, Device, Type::B32);
    assert_eq!(
        of("atom.global.gpu.release.exch.b32"),
        Operation::Atomic(exchange, Update::Exchange)
    );
    let shared = access(Shared, Order::Relaxed, Block, Type::F32);
    assert_eq!(of("red.relaxed.cta.shared.add.f32"), Operation::Reduction(shared, Update::Add));
}

#[test]
fn fences_and_barriers_have_orders_and_scopes() {
    let thread = |order, scope| Operation::Fence(Fence::Thread(order, scope));
    assert_eq!(of("fence.cta"), thread(Order::AcquireRelease, Scope::Block));
    assert_eq!(of("fence.sc.sys"), thread(Order::SequentiallyConsistent, Scope::System));
    assert_eq!(of("membar.gl"), thread(Order::SequentiallyConsistent, Scope::Device));
    assert_eq!(of("fence.acquire.cluster"), thread(Order::Acquire, Scope::Cluster));
    let shared = Fence::AsyncProxy(AddressSpace::Shared);
    assert_eq!(of("fence.proxy.async.shared::cta"), Operation::Fence(shared));
    for (text, action, aligned) in [
        ("bar.sync", BarrierAction::Sync, true),
        ("barrier.sync", BarrierAction::Sync, false),
        ("barrier.cta.arrive.aligned", BarrierAction::Arrive, true),
        ("bar.red.popc.u32", BarrierAction::Count, true),
        ("barrier.red.and.pred", BarrierAction::And, false),
    ] {
        assert_eq!(of(text), Operation::Barrier { action, aligned }, "{text}");
    }
    let arrive = Operation::ClusterBarrier { waits: false, order: Order::Relaxed, aligned: true };
    assert_eq!(of("barrier.cluster.arrive.relaxed.aligned"), arrive);
    assert_eq!(
        of("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64"),
        Operation::Mbarrier {
            action: MbarrierAction::Test { waits: true, parity: true },
            space: AddressSpace::Shared,
            order: Order::Acquire,
            scope: Some(Scope::Block)
        }
    );
    let arrive = |drops, expects_bytes, completes| Operation::Mbarrier {
        action: MbarrierAction::Arrive { drops, expects_bytes, completes },
        space: AddressSpace::SharedCluster,
        order: Order::Release,
        scope: None,
    };
    assert_eq!(of("mbarrier.arrive.shared::cluster.b64"), arrive(false, false, true));
    assert_eq!(of("mbarrier.arrive_drop.expect_tx.shared::cluster.b64"), arrive(true, true, true));
    assert_eq!(of("mbarrier.arrive.noComplete.shared::cluster.b64"), arrive(false, false, false));
    let space = AddressSpace::Shared;
    for (text, increments) in [
        ("cp.async.mbarrier.arrive.noinc.shared::cta.b64", false),
        ("cp.async.mbarrier.arrive.shared.b64", true),
    ] {
        assert_eq!(of(text), Operation::AsyncArrive { space, increments }, "{text}");
    }
}

#[test]
fn computations_and_conversions_keep_each_modifier() {
    let Operation::Compute(sum) = of("add.rz.ftz.sat.f32") else { panic!("a computation") };
    assert_eq!((sum.ty, sum.rounding), (Type::F32, Some(Rounding::Zero)));
    assert!(sum.flush && sum.saturate && !sum.sets_carry);
    let Operation::Convert(whole) = of("cvt.rni.f32.f32") else { panic!("a conversion") };
    assert!(whole.to_integer && whole.rounding == Some(Rounding::Nearest));
    let Operation::Convert(narrow) = of("cvt.rn.f16x2.f32") else { panic!("a conversion") };
    assert_eq!((narrow.to, narrow.from, narrow.to_integer), (Type::F16x2, Type::F32, false));
    let Operation::Compare(less) = of("setp.ltu.and.f32") else { panic!("a comparison") };
    assert!(less.unordered && less.combined.is_some() && less.result.is_none());
}

#[test]
fn a_modifier_that_is_not_understood_makes_the_instruction_unknown() {
    for text in [
        "ld.acquire.b32",
        "ld.weak.gpu.b32",
        "add.frob.s32",
        "frob",
        "st.async.b32",
        "mov",
        "mul.s32",
        "shf.b32",
    ] {
        assert_eq!(of(text), Operation::Unknown(text.into()));
    }
    assert_eq!(
        of("wgmma.fence.sync.aligned"),
        Operation::Refused("matrix products of warp groups")
    );
}

#[test]
fn the_order_of_modifiers_does_not_matter() {
    for words in [
        &["relaxed", "gpu", "global", "add", "u64"][..],
        &["acquire", "sys", "global", "cas", "b64"],
        &["max", "shared", "s32"],
    ] {
        let of = |words: &[&str]| of(&format!("atom.{}", words.join(".")));
        let first = of(words);
        assert!(matches!(first, Operation::Atomic(..)), "{first:?}");
        let mut turned = words.to_vec();
        for _ in words {
            turned.rotate_left(1);
            assert_eq!(of(&turned), first);
            assert_eq!(of(&turned.iter().rev().copied().collect::<Vec<_>>()), first);
        }
    }
}
