//! Views, and the packs that they move.

use crate::support::{config, download, leaves, upload};
use cuda_std::convert::{bf16_to_f32, f16_to_f32};
use cuda_std::memory::CacheHint::{Default, L2Only, ReadOnly, Streaming};
use cuda_std::memory::Ordering::{Acquire, Relaxed, Release, SeqCst};
use cuda_std::memory::Scope::{Block, Device, System};
use cuda_std::memory::{Global, Pack, Scalar};
use cuda_std::{bf16, f16, thread};
use simt::Memory;

#[test]
fn a_part_begins_at_its_start() {
    let after = leaves(&config(1, 1), &[10u32, 11, 12, 13, 14, 15], |all| {
        let part = all.part(2, 3);
        assert_eq!((part.len(), part.is_empty(), all.part(6, 0).is_empty()), (3, false, true));
        assert_eq!(part.address(), all.address() + 8);
        assert_eq!([part.read(0), part.part(1, 2).read(1)], [12, 14]);
        part.write(0, 99);
    });
    assert_eq!(after, [10, 11, 99, 13, 14, 15]);
}

#[test]
fn a_cast_keeps_the_bytes_and_drops_a_remainder() {
    let after = leaves(&config(1, 1), &[0x0001_0002u32, 3, 4], |words| {
        let halves = words.cast::<u16>();
        assert_eq!((halves.len(), halves.read(0), halves.read(1)), (6, 2, 1));
        let longs = words.cast::<u64>();
        assert_eq!((longs.len(), longs.read(0)), (1, 0x0000_0003_0001_0002));
        words.cast::<f32>().write(2, 1.0);
    });
    assert_eq!(after, [0x0001_0002, 3, 1.0f32.to_bits()]);
}

#[test]
fn the_head_before_a_multiple_of_16_bytes_is_counted() {
    let mut memory = Memory::new(1 << 10);
    let halves = upload(&mut memory, &[0u16; 40]);
    for start in 0..24 {
        let expected = (8 - start % 8) % 8;
        assert_eq!(halves.part(start, 16).unaligned_head(), expected);
        assert_eq!(halves.part(start, 2).unaligned_head(), expected.min(2));
    }
    let longs = upload(&mut memory, &[0f64; 4]);
    let heads = [0, 1, 2].map(|start| longs.part(start, 2).unaligned_head());
    assert_eq!(heads, [0, 1, 0]);
    assert_eq!(longs.part(1, 0).unaligned_head(), 0);
}

#[track_caller]
fn packs_of<T: Scalar + PartialEq + core::fmt::Debug>(of: impl Fn(u8) -> T) {
    let values: Vec<T> = (0..32).map(&of).collect();
    let n = T::PACK;
    assert_eq!(n, 16 / size_of::<T>());
    let mut expected = values.clone();
    expected.rotate_right(n);
    let after = leaves(&config(1, 32 / n as u32), &values, |view| {
        let hint = [Default, L2Only, Streaming, ReadOnly][thread::index() % 4];
        let i = thread::index();
        let pack = view.read_pack(n * i, hint);
        thread::sync_threads();
        view.write_pack(n * ((i + 1) % (32 / n)), pack, hint);
    });
    assert_eq!(after, expected);
}

#[test]
fn a_read_only_pack_of_written_memory_is_detected() {
    let read = |hint| {
        let mut memory = Memory::new(1 << 10);
        let words = upload(&mut memory, &[0u32; 8]);
        simt::launch(&mut memory, &config(1, 2), &|| {
            if thread::index() == 0 {
                words.write(5, 1);
            }
            thread::sync_threads();
            if thread::index() == 1 {
                words.read_pack(0, ReadOnly);
                words.read_pack(4, hint);
            }
        })
    };
    let line = line!() - 4;
    assert!(read(Streaming).is_ok());
    let fault = read(ReadOnly).expect_err("the launch wrote it");
    assert_eq!(fault.site().map(|site| site.place.line()), Some(line));
    assert!(fault.to_string().contains("read-only path"), "{fault}");
}

#[test]
fn packs_of_every_type_move_16_bytes_in_order() {
    packs_of(|i| i);
    packs_of(|i| i as i8);
    packs_of(u16::from);
    packs_of(i16::from);
    packs_of(f16::from);
    packs_of(bf16::from);
    packs_of(u32::from);
    packs_of(i32::from);
    packs_of(f32::from);
    packs_of(u64::from);
    packs_of(i64::from);
    packs_of(f64::from);
}

#[test]
fn a_pack_is_folded_as_a_tree_and_zipped_element_by_element() {
    let text = |a: &'static str, b: &'static str| -> &'static str { format!("({a}{b})").leak() };
    assert_eq!(["a"].fold(text), "a");
    assert_eq!(["a", "b"].fold(text), "(ab)");
    assert_eq!(["a", "b", "c", "d"].fold(text), "((ab)(cd))");
    let letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
    assert_eq!(letters.fold(text), "(((ab)(cd))((ef)(gh)))");
    assert_eq!(letters.zip(letters, text)[6], "(gg)");
    assert_eq!(<[u8; 4]>::splat(3), [3; 4]);
    assert_eq!(u32::map_pack([1, 2, 3, 4], |x| x as f64 / 2.0), [0.5, 1.0, 1.5, 2.0]);
}

#[test]
fn loads_and_stores_of_every_strength_move_the_same_value() {
    let after = leaves(&config(1, 1), &[1i64, 0, 0, 0, 0, 0, 0], |at| {
        at.write_volatile(1, at.read_volatile(0) + 1);
        for (i, (load, store)) in
            [(Relaxed, Relaxed), (Acquire, Release), (SeqCst, SeqCst)].into_iter().enumerate()
        {
            let scope = [Block, Device, System][i];
            at.store(i + 2, at.load(i + 1, load, scope) + 1, store, scope);
        }
        at.write(5, at.read(4) + 1);
    });
    assert_eq!(after, [1, 2, 3, 4, 5, 6, 0]);
}

#[test]
fn each_type_keeps_its_bits_through_memory() {
    fn round_trip<T: Scalar + PartialEq + core::fmt::Debug>(values: [T; 2]) {
        let after = leaves(&config(1, 1), &values, |at: Global<T>| {
            let [a, b] = [at.read(0), at.read(1)];
            at.write(0, b);
            at.write(1, a);
        });
        assert_eq!(after, [values[1], values[0]]);
    }
    round_trip([u8::MAX, 1]);
    round_trip([i8::MIN, -1]);
    round_trip([u16::MAX, 1]);
    round_trip([i16::MIN, -1]);
    round_trip([f16::MAX, f16::NEG_INFINITY]);
    round_trip([bf16::MIN_POSITIVE, bf16::MAX]);
    round_trip([u32::MAX, 1]);
    round_trip([i32::MIN, -1]);
    round_trip([f32::MIN_POSITIVE, f32::INFINITY]);
    round_trip([u64::MAX, 1 << 40]);
    round_trip([i64::MIN, -1]);
    round_trip([f64::MIN_POSITIVE, -0.1]);
}

#[test]
fn a_view_formats_its_space_length_and_address() {
    let mut memory = Memory::new(1 << 10);
    let view = upload(&mut memory, &[1u32, 2]);
    assert!(format!("{view:?}").starts_with("Global[2] at 0x"), "{view:?}");
    assert_eq!(download(&memory, view), [1, 2]);
}

#[test]
fn half_floats_widen_exactly_for_all_bits() {
    for bits in 0..=u16::MAX {
        let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
        let same = |ours: f32, theirs: f32| {
            ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan()
        };
        assert!(same(f16_to_f32(half), half.to_f32()), "{bits:#06x}");
        assert!(same(bf16_to_f32(brain), brain.to_f32()), "{bits:#06x}");
    }
}
