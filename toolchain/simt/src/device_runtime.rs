//! The in-thread functions of kernels that launch kernels.
//!
//! As in [`crate::thread`], they record their caller's location and panic outside an emulated
//! thread.

use std::sync::Arc;

use crate::children::{Child, Queue, Refusal};
use crate::dim::Spot;
use crate::fault::Fault;
use crate::fiber::Request;
use crate::here::{Here, with};
use crate::race::MAX_THREADS;
use crate::search::Object;

/// Launches a grid from a kernel. A scheduling point.
///
/// The grid runs after the calling grid has run all its threads, as its queue allows. If several
/// may run, the seed of the schedule chooses one. The host's launch returns when all have ended.
///
/// # Errors
/// A [`Refusal`]; nothing is launched in that case.
///
/// It is [`Fault::Trap`] if the stream does not belong to the calling block, if the calling grid is
/// cooperative, which hardware does not allow (`cuLaunchCooperativeKernel`), if another grid
/// already overlaps it, which the emulator does not support, or if race detection is on and the new
/// grid is too large for it.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn launch_child(queue: Queue, child: Child) -> Result<(), Refusal> {
    with("launch_child", |here, spot| {
        if here.stop(Request::Step, spot).is_none() {
            return Ok(());
        }
        if here.grid().cooperative {
            trap(here, spot, "a cooperative grid cannot launch kernels: launch it as a plain one");
        }
        if here.world.is_overlapped_now(here.position.grid as usize) {
            trap(
                here,
                spot,
                "a grid that a dependent grid overlaps cannot launch kernels in the emulator: launch                  them before `launch_dependents`",
            );
        }
        if !child.fits() {
            return Err(Refusal::Configuration);
        }
        let (kernel, threads) = (child.kernel, child.grid.count() * child.block.count());
        if here.world.races.is_some() && threads > MAX_THREADS {
            let limit = MAX_THREADS;
            let fault = Fault::TooLargeForRaces { kernel: Arc::from(kernel), threads, limit };
            trap(here, spot, &fault.to_string());
        }
        touch(here);
        let block = here.position.block_number();
        here.world.children.launch(queue, block, child, spot.place).unwrap_or_else(|| {
            trap(here, spot, &format!("{queue:?} is not a stream of this block"));
        })
    })
}

/// A new stream of the calling block, for [`Queue::Stream`].
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn create_stream() -> u32 {
    with("create_stream", |here, _| here.world.children.create_stream(here.position.block_number()))
}

/// A new event of the calling block. Until it is recorded, waiting for it has no effect.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn create_event() -> u32 {
    with("create_event", |here, _| here.world.children.create_event(here.position.block_number()))
}

/// Makes the event stand for what has been launched into the stream so far. A scheduling point.
///
/// It is [`Fault::Trap`] if the calling block has no such event or stream.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn record_event(event: u32, queue: Queue) {
    with("record_event", |here, spot| {
        if here.stop(Request::Step, spot).is_none() {
            return;
        }
        touch(here);
        let block = here.position.block_number();
        if here.world.children.record(event, queue, block).is_none() {
            trap(here, spot, &format!("event {event} cannot be recorded in {queue:?}"));
        }
    });
}

/// Makes all later launches into the stream wait for what the event stands for now. A scheduling
/// point.
///
/// It is [`Fault::Trap`] if the calling block has no such event or stream.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn wait_event(queue: Queue, event: u32) {
    with("wait_event", |here, spot| {
        if here.stop(Request::Step, spot).is_none() {
            return;
        }
        touch(here);
        let block = here.position.block_number();
        if here.world.children.wait(queue, event, block).is_none() {
            trap(here, spot, &format!("{queue:?} cannot wait for event {event}"));
        }
    });
}

/// The multiprocessors of the emulated device.
///
/// # Panics
/// Outside an emulated thread.
#[track_caller]
pub fn multiprocessors() -> u32 {
    with("multiprocessors", |here, _| here.grid().multiprocessors)
}

/// Reports to a search that the order of calls matters.
fn touch(here: &Here<'_>) {
    if let Some(guide) = &here.world.guide {
        guide.touch(Object::CHILDREN);
    }
}

fn trap(here: &Here<'_>, spot: Spot, message: &str) -> ! {
    here.fail(Fault::Trap { site: here.site(spot), message: message.to_owned() })
}
