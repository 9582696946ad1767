//! Loads and stores, single and in 16 bytes, in both spaces.

use crate::{does, in_each_order_and_scope};
use cuda_std::memory::CacheHint::*;
use cuda_std::memory::{Global, dynamic_shared};

does! {
    copy_u16(from: Global<u16>, to: Global<u16>) { to.write(0, from.read(0)); }
    copy_f32(from: Global<f32>, to: Global<f32>) { to.write(0, from.read(0)); }
    copy_u64(from: Global<u64>, to: Global<u64>) { to.write(0, from.read(0)); }
    copy_shared_u16(to: Global<u16>, value: u16) {
        dynamic_shared().write(0, value);
        to.write(0, dynamic_shared().read(1));
    }
    copy_shared_f32(to: Global<f32>, value: f32) {
        dynamic_shared().write(0, value);
        to.write(0, dynamic_shared().read(1));
    }
    copy_shared_u64(to: Global<u64>, value: u64) {
        dynamic_shared().write(0, value);
        to.write(0, dynamic_shared().read(1));
    }

    volatile_global(at: Global<u32>) { at.write_volatile(0, at.read_volatile(0)); }
    volatile_shared() {
        let at = dynamic_shared::<u64>();
        at.write_volatile(0, at.read_volatile(0));
    }

    loads_global(at: Global<u32>) {
        in_each_order_and_scope!(order scope in [Relaxed Acquire SeqCst] => {
            at.load(0, order, scope);
        });
    }
    loads_shared() {
        let at = dynamic_shared::<u64>();
        in_each_order_and_scope!(order scope in [Relaxed Acquire SeqCst] => {
            at.load(0, order, scope);
        });
    }
    stores_global(at: Global<u32>, value: u32) {
        in_each_order_and_scope!(order scope in [Relaxed Release SeqCst] => {
            at.store(0, value, order, scope);
        });
    }
    stores_shared(value: u64) {
        let at = dynamic_shared::<u64>();
        in_each_order_and_scope!(order scope in [Relaxed Release SeqCst] => {
            at.store(0, value, order, scope);
        });
    }

    copy_pack_default(from: Global<f32>, to: Global<f32>) {
        to.write_pack(0, from.read_pack(0, Default), Default);
    }
    copy_pack_l2_only(from: Global<u16>, to: Global<u16>) {
        to.write_pack(0, from.read_pack(0, L2Only), L2Only);
    }
    copy_pack_streaming(from: Global<u64>, to: Global<u64>) {
        to.write_pack(0, from.read_pack(0, Streaming), Streaming);
    }
    copy_pack_read_only(from: Global<f64>, to: Global<f64>) {
        to.write_pack(0, from.read_pack(0, ReadOnly), ReadOnly);
    }
    pack_shared(from: Global<f32>, to: Global<f32>) {
        let at = dynamic_shared::<f32>();
        for (i, hint) in [Default, L2Only, Streaming, ReadOnly].into_iter().enumerate() {
            at.write_pack(8 * i, from.read_pack(0, Default), hint);
            to.write_pack(4 * i, at.read_pack(8 * i + 4, hint), Default);
        }
    }
}
