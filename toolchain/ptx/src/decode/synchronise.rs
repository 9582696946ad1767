//! Barriers, exchanges between lanes, and asynchronous copies.

use super::memory::{AddressSpace, Order, SCOPES, SPACES};
use super::operation::{BarrierAction, MbarrierAction, Operation, Shuffle, Vote};
use super::words::Words;

/// `bar` or `barrier`.
pub(super) fn barrier(opcode: &str, words: &mut Words<'_>) -> Option<Operation> {
    if words.take("warp") {
        return words.take("sync").then_some(Operation::WarpBarrier);
    }
    if words.take("cluster") {
        let waits = words.choose(&[("arrive", false), ("wait", true)])?;
        let order = if waits {
            words.take("acquire");
            Order::Acquire
        } else {
            let orders = [("release", Order::Release), ("relaxed", Order::Relaxed)];
            words.choose(&orders).unwrap_or(Order::Release)
        };
        return Some(Operation::ClusterBarrier { waits, order, aligned: words.take("aligned") });
    }
    words.take("cta");
    let aligned = words.take("aligned") || opcode == "bar";
    let action = if words.take("red") {
        let action = words.choose(&[
            ("and", BarrierAction::And),
            ("or", BarrierAction::Or),
            ("popc", BarrierAction::Count),
        ])?;
        words.ty();
        action
    } else {
        words.choose(&[("sync", BarrierAction::Sync), ("arrive", BarrierAction::Arrive)])?
    };
    Some(Operation::Barrier { action, aligned })
}

/// `mbarrier`
pub(super) fn mbarrier(words: &mut Words<'_>) -> Option<Operation> {
    let action = match words.choose(&[
        ("init", "init"),
        ("inval", "inval"),
        ("arrive", "arrive"),
        ("arrive_drop", "arrive_drop"),
        ("test_wait", "test_wait"),
        ("try_wait", "try_wait"),
        ("complete_tx", "complete_tx"),
        ("expect_tx", "expect_tx"),
        ("pending_count", "pending_count"),
    ])? {
        "init" => MbarrierAction::Init,
        "inval" => MbarrierAction::Invalidate,
        "complete_tx" => MbarrierAction::CompleteBytes,
        // `expect_tx` alone, or as a modifier of an arrival in another order.
        "expect_tx" if words.take("arrive") => {
            MbarrierAction::Arrive { drops: false, expects_bytes: true, completes: true }
        }
        "expect_tx" => MbarrierAction::ExpectBytes,
        "pending_count" => MbarrierAction::PendingCount,
        name @ ("test_wait" | "try_wait") => {
            MbarrierAction::Test { waits: name == "try_wait", parity: words.take("parity") }
        }
        name => MbarrierAction::Arrive {
            drops: name == "arrive_drop",
            expects_bytes: words.take("expect_tx"),
            completes: !words.take("noComplete"),
        },
    };
    let default = match action {
        MbarrierAction::Test { .. } => Order::Acquire,
        MbarrierAction::Arrive { .. } => Order::Release,
        _ => Order::Relaxed,
    };
    let orders =
        [("relaxed", Order::Relaxed), ("acquire", Order::Acquire), ("release", Order::Release)];
    let operation = Operation::Mbarrier {
        action,
        order: words.choose(&orders).unwrap_or(default),
        scope: words.choose(&SCOPES),
        space: words.choose(&SPACES).unwrap_or(AddressSpace::Generic),
    };
    words.take("b64");
    Some(operation)
}

/// `shfl`
pub(super) fn shuffle(words: &mut Words<'_>) -> Option<Operation> {
    words.take("sync");
    let mode = words.choose(&[
        ("up", Shuffle::Up),
        ("down", Shuffle::Down),
        ("bfly", Shuffle::Butterfly),
        ("idx", Shuffle::Index),
    ])?;
    words.take("b32").then_some(Operation::Shuffle(mode))
}

/// `vote`
pub(super) fn vote(words: &mut Words<'_>) -> Option<Operation> {
    words.take("sync");
    let mode = words.choose(&[
        ("all", Vote::All),
        ("any", Vote::Any),
        ("uni", Vote::Uniform),
        ("ballot", Vote::Ballot),
    ])?;
    let ty = if mode == Vote::Ballot { "b32" } else { "pred" };
    words.take(ty).then_some(Operation::Vote(mode))
}

/// `match`
pub(super) fn matching(words: &mut Words<'_>) -> Option<Operation> {
    let all = words.choose(&[("all", true), ("any", false)])?;
    if !words.take("sync") {
        return None;
    }
    Some(Operation::Match { all, bytes: words.ty()?.bytes() })
}

/// `cp`
pub(super) fn copy(words: &mut Words<'_>) -> Option<Operation> {
    if !words.take("async") {
        return None;
    }
    let bulk = words.take("bulk");
    if words.take("commit_group") {
        return Some(Operation::CommitGroup { bulk });
    }
    if words.take("wait_group") || words.take("wait_all") {
        return Some(Operation::WaitGroup { bulk, read: words.take("read") });
    }
    if !bulk && words.take("mbarrier") {
        let increments = !words.take("noinc");
        let space = words.choose(&SPACES).unwrap_or(AddressSpace::Generic);
        let is_arrival = words.take("arrive") && words.take("b64");
        return is_arrival.then_some(Operation::AsyncArrive { space, increments });
    }
    let mbarrier = words.take("mbarrier::complete_tx::bytes");
    if bulk && !mbarrier && !words.take("bulk_group") {
        return None;
    }
    words.drop_hints();
    let (to, from) = (words.choose(&SPACES)?, words.choose(&SPACES)?);
    let async_copy = (AddressSpace::Shared, AddressSpace::Global);
    if bulk {
        Some(Operation::BulkCopy { to, from, mbarrier })
    } else {
        ((to, from) == async_copy).then_some(Operation::AsyncCopy)
    }
}
