//! Read-modify-write operations: each on each type in each space, and each ordering in each scope.

use crate::{does, in_each_order_and_scope};
use cuda_std::memory::Ordering::{AcqRel, Relaxed};
use cuda_std::memory::Scope::{Block, Device};
use cuda_std::memory::{Global, Shared, dynamic_shared};

macro_rules! float_operations {
    ($at:expr, $value:expr, $new:expr) => {
        $at.fetch_add(0, $value, Relaxed, Device);
        $at.exchange(0, $value, Relaxed, Device);
        $at.compare_exchange(0, $value, $new, Relaxed, Device);
        $at.add(0, $value, Relaxed, Device);
    };
}

macro_rules! int_operations {
    ($at:expr, $value:expr, $new:expr) => {
        float_operations!($at, $value, $new);
        $at.fetch_min(0, $value, Relaxed, Device);
        $at.fetch_max(0, $value, Relaxed, Device);
        $at.fetch_and(0, $value, Relaxed, Device);
        $at.fetch_or(0, $value, Relaxed, Device);
        $at.fetch_xor(0, $value, Relaxed, Device);
    };
}

macro_rules! operations {
    ($($operations:ident $ty:ty: $global:ident $shared:ident;)*) => {$(
        does! {
            $global(at: Global<$ty>, value: $ty, new: $ty) { $operations!(at, value, new); }
            $shared(value: $ty, new: $ty) {
                let at: Shared<$ty> = dynamic_shared();
                $operations!(at, value, new);
            }
        }
    )*};
}
operations! {
    int_operations u32: atomics_global_u32 atomics_shared_u32;
    int_operations i32: atomics_global_i32 atomics_shared_i32;
    int_operations u64: atomics_global_u64 atomics_shared_u64;
    int_operations i64: atomics_global_i64 atomics_shared_i64;
    float_operations f32: atomics_global_f32 atomics_shared_f32;
    float_operations f64: atomics_global_f64 atomics_shared_f64;
}

does! {
    sub_u32(at: Global<u32>) { at.fetch_sub(0, 3, Relaxed, Device); }
    sub_i64_shared() { dynamic_shared::<i64>().fetch_sub(0, -3, AcqRel, Block); }

    orders_of_add_global(at: Global<u32>, value: u32) {
        in_each_order_and_scope!(order scope in [Relaxed Acquire Release AcqRel SeqCst] => {
            at.fetch_add(0, value, order, scope);
        });
    }
    orders_of_add_shared(value: u32) {
        let at = dynamic_shared::<u32>();
        in_each_order_and_scope!(order scope in [Relaxed Acquire Release AcqRel SeqCst] => {
            at.fetch_add(0, value, order, scope);
        });
    }
    orders_of_cas_global(at: Global<u64>, value: u64, new: u64) {
        in_each_order_and_scope!(order scope in [Relaxed Acquire Release AcqRel SeqCst] => {
            at.compare_exchange(0, value, new, order, scope);
        });
    }
    orders_of_cas_shared(value: u64, new: u64) {
        let at = dynamic_shared::<u64>();
        in_each_order_and_scope!(order scope in [Relaxed Acquire Release AcqRel SeqCst] => {
            at.compare_exchange(0, value, new, order, scope);
        });
    }
    orders_of_inc_global(at: Global<u32>, limit: u32) {
        in_each_order_and_scope!(order scope in [Relaxed Acquire Release AcqRel SeqCst] => {
            at.fetch_inc(0, limit, order, scope);
        });
    }
    orders_of_inc_shared(limit: u32) {
        let at = dynamic_shared::<u32>();
        in_each_order_and_scope!(order scope in [Relaxed Acquire Release AcqRel SeqCst] => {
            at.fetch_inc(0, limit, order, scope);
        });
    }
    orders_of_red_global(at: Global<u64>, value: u64) {
        in_each_order_and_scope!(order scope in [Relaxed Release] => {
            at.add(0, value, order, scope);
        });
    }
    orders_of_red_shared(value: u64) {
        let at = dynamic_shared::<u64>();
        in_each_order_and_scope!(order scope in [Relaxed Release] => {
            at.add(0, value, order, scope);
        });
    }
}
