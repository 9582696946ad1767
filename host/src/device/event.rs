//! Events, which order the work of several streams.

#[cfg(feature = "cuda")]
use super::cuda;
use super::{Device, DeviceError, emulator};
use std::{fmt, time::Instant};

/// Marks the work that had been submitted to a device's stream when the event was
/// [recorded](Device::record_event).
///
/// Other streams can [wait](Device::wait_for) for it, and so can the host. Work of two streams
/// without an event between them runs in any order, or at the same time.
///
/// ```
/// use gridsync::device::Device;
/// use gridsync::primitives::Reducer;
/// use gridsync_kernels::op::Sum;
///
/// let device = Device::emulator(); // or Device::cuda(0, &KERNELS)?
/// let other = device.new_stream()?;
/// let mut values = device.upload(&[1.0f32; 1000])?;
/// values.zero()?; // in the stream of `device`
/// let zeroed = device.record_event()?;
/// other.wait_for(&zeroed)?; // later work in `other` sees the zeros
/// let mut sum = Reducer::new(Sum::<f32>::new(), &other)?;
/// assert_eq!(sum.reduce(&values)?, 0.0);
/// # Ok::<(), gridsync::device::DeviceError>(())
/// ```
pub struct Event {
    device: Device,
    marked: Marked,
}

/// A backend's part of an event.
pub struct Marked(At);

enum At {
    /// The work was done at this time.
    Passed(Instant),
    /// Recorded at this time in a stream of an emulator.
    Emulated(Instant, emulator::Mark),
    #[cfg(feature = "cuda")]
    InStream(cuda::Mark),
}

impl Marked {
    /// All work is done by now: for a backend whose calls return when their work is done.
    #[must_use]
    pub fn passed() -> Self {
        Self(At::Passed(Instant::now()))
    }

    pub(super) fn emulated(mark: emulator::Mark) -> Self {
        Self(At::Emulated(Instant::now(), mark))
    }

    #[cfg(feature = "cuda")]
    pub(super) fn in_stream(mark: cuda::Mark) -> Self {
        Self(At::InStream(mark))
    }
}

impl Event {
    /// The moment of an emulator's stream, unless the work was done immediately.
    pub(super) fn emulated(&self) -> Option<&emulator::Mark> {
        match &self.marked.0 {
            At::Emulated(_, mark) => Some(mark),
            _ => None,
        }
    }

    /// The CUDA event, unless the work was done immediately.
    #[cfg(feature = "cuda")]
    pub(super) fn in_stream(&self) -> Option<&cuda::Mark> {
        match &self.marked.0 {
            At::InStream(mark) => Some(mark),
            At::Passed(_) | At::Emulated(..) => None,
        }
    }

    /// Whether the work is done. Does not wait.
    ///
    /// # Errors
    /// The error of the work that failed.
    pub fn is_done(&self) -> Result<bool, DeviceError> {
        match &self.marked.0 {
            At::Passed(_) => Ok(true),
            At::Emulated(_, mark) => mark.synchronize().map(|()| true),
            #[cfg(feature = "cuda")]
            At::InStream(mark) => mark.is_done(),
        }
    }

    /// Waits on the host until the work is done.
    ///
    /// # Errors
    /// The error of the work that failed.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        match &self.marked.0 {
            At::Passed(_) => Ok(()),
            At::Emulated(_, mark) => mark.synchronize(),
            #[cfg(feature = "cuda")]
            At::InStream(mark) => mark.synchronize(),
        }
    }

    /// Microseconds of device time from `earlier` to this event, with a resolution of about half a
    /// microsecond; in the emulator, host time. Negative if `earlier` happened later. Waits for
    /// both.
    ///
    /// # Errors
    /// The error of the work that failed; [`DeviceError::Unsupported`] for events of two devices.
    pub fn microseconds_since(&self, earlier: &Self) -> Result<f64, DeviceError> {
        if !self.device.shares_memory_with(&earlier.device) {
            return Err(DeviceError::Unsupported {
                what: "a measurement between events of two devices",
                device: self.device.properties().name.clone(),
                needs: "record both in streams of one device",
            });
        }
        earlier.synchronize()?;
        self.synchronize()?;
        match (&self.marked.0, &earlier.marked.0) {
            #[cfg(feature = "cuda")]
            (At::InStream(mark), At::InStream(start)) => mark.microseconds_since(start),
            #[cfg(feature = "cuda")]
            (At::InStream(_), _) | (_, At::InStream(_)) => {
                unreachable!("all events of a device are of one kind")
            }
            (At::Passed(at) | At::Emulated(at, _), At::Passed(start) | At::Emulated(start, _)) => {
                let since = at.saturating_duration_since(*start).as_secs_f64();
                Ok((since - start.saturating_duration_since(*at).as_secs_f64()) * 1e6)
            }
        }
    }
}

impl Device {
    /// Records an event that marks the work submitted to the device's stream so far.
    ///
    /// # Errors
    /// If the driver refuses; [`DeviceError::NotRecordable`] and
    /// [`DeviceError::RecordingElsewhere`] while a graph is being recorded in the stream.
    pub fn record_event(&self) -> Result<Event, DeviceError> {
        Ok(Event { marked: self.0.clone().mark()?, device: self.clone() })
    }

    /// Makes later work in the device's stream wait for the event, which may belong to another
    /// stream or another GPU. The host does not wait, except for a GPU's event in the stream of an
    /// emulator.
    ///
    /// # Errors
    /// As for [`record_event`](Self::record_event).
    pub fn wait_for(&self, event: &Event) -> Result<(), DeviceError> {
        self.0.wait_for(event)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event(in a stream of {})", self.device.properties().name)
    }
}

impl fmt::Debug for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Marked")
    }
}
