//! Methods to run a graph of kernels.

use gridsync::device::Way;

/// How a kernel launches the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FromDevice {
    /// Into one device stream.
    OneStream,
    /// Into several device streams, with an event for each.
    Streams,
    /// Level by level: the nodes of a level in any order, the next level by a tail launch.
    Phases,
}

/// A method to run a graph of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// A launch for each node, combined in this way.
    Launches(Way),
    /// A launch for each node, all in one stream. Each starts while the previous one runs, and
    /// waits for its end on the device.
    Overlapping,
    /// The same in a CUDA graph.
    OverlappingGraph,
    /// A kernel launches the nodes.
    FromDevice(FromDevice),
    /// One kernel, with a grid barrier after each level of the graph.
    Levels,
    /// One kernel whose tasks wait for each other edge by edge.
    Edges,
    /// The same, but consecutive nodes of a chain run in different blocks.
    Turns,
    /// One kernel whose tasks send each element as a word to the tasks that wait for it.
    Words,
    /// The same, but consecutive nodes of a chain run in different blocks.
    WordTurns,
}

impl Method {
    /// All methods, in the order of the tables.
    pub const ALL: [Self; 14] = [
        Self::Launches(Way::OneStream),
        Self::Launches(Way::Streams),
        Self::Overlapping,
        Self::Launches(Way::Built),
        Self::Launches(Way::Captured),
        Self::OverlappingGraph,
        Self::FromDevice(FromDevice::OneStream),
        Self::FromDevice(FromDevice::Streams),
        Self::FromDevice(FromDevice::Phases),
        Self::Levels,
        Self::Edges,
        Self::Turns,
        Self::Words,
        Self::WordTurns,
    ];

    /// Name, for output and for `--by`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Launches(Way::OneStream) => "one-stream",
            Self::Launches(Way::Streams) => "streams",
            Self::Launches(Way::Built) => "graph",
            Self::Launches(Way::Captured) => "captured-graph",
            Self::Overlapping => "overlapping",
            Self::OverlappingGraph => "overlapping-graph",
            Self::FromDevice(FromDevice::OneStream) => "device-stream",
            Self::FromDevice(FromDevice::Streams) => "device-streams",
            Self::FromDevice(FromDevice::Phases) => "device-phases",
            Self::Levels => "kernel-levels",
            Self::Edges => "kernel-edges",
            Self::Turns => "kernel-turns",
            Self::Words => "kernel-words",
            Self::WordTurns => "kernel-word-turns",
        }
    }

    /// Short description.
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Self::Launches(Way::OneStream) => "a launch for each node, one stream",
            Self::Launches(Way::Streams) => "a launch for each node, streams and events",
            Self::Launches(Way::Built) => "a CUDA graph, built node by node",
            Self::Launches(Way::Captured) => "a CUDA graph, captured from streams and events",
            Self::Overlapping => "one stream, programmatic dependent launch",
            Self::OverlappingGraph => "a CUDA graph of programmatic dependent launches",
            Self::FromDevice(FromDevice::OneStream) => "launched by a kernel, one stream",
            Self::FromDevice(FromDevice::Streams) => "launched by a kernel, streams and events",
            Self::FromDevice(FromDevice::Phases) => {
                "launched by a kernel, each level a tail launch"
            }
            Self::Levels => "one kernel, a grid barrier after each level",
            Self::Edges => "one kernel, an edge for each dependency",
            Self::Turns => "the same, dealt to the blocks in turns",
            Self::Words => "one kernel, each element a word with its number of launch",
            Self::WordTurns => "the same, dealt to the blocks in turns",
        }
    }

    /// The CUDA C++ peer's name for it, if the peer has it for chains.
    #[must_use]
    pub const fn in_cpp(self) -> Option<&'static str> {
        match self {
            Self::Launches(Way::OneStream) => Some("one-stream"),
            Self::Launches(Way::Built | Way::Captured) => Some("graph"),
            Self::Overlapping => Some("overlapping"),
            Self::OverlappingGraph => Some("overlapping-graph"),
            Self::FromDevice(FromDevice::OneStream) => Some("device-stream"),
            Self::FromDevice(FromDevice::Phases) => Some("device-tail"),
            _ => None,
        }
    }

    /// Whether one kernel runs all nodes.
    #[must_use]
    pub const fn is_one_kernel(self) -> bool {
        matches!(self, Self::Levels | Self::Edges | Self::Turns | Self::Words | Self::WordTurns)
    }
}
