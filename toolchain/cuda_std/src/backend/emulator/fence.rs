//! Fences.

use super::{order_of, scope_of};
use crate::memory::{Ordering, Scope};

#[track_caller]
pub(crate) fn fence(order: Ordering, scope: Scope) {
    if order != Ordering::Relaxed {
        simt::fence(scope_of(scope), order_of(order));
    }
}
