//! The transport of results between ranks, and how all ranks agree on one.

use super::RanksError;
use super::frame::printable;
use gridsync::device::Device;

/// How results travel from rank to rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// NCCL if all ranks can use it, otherwise TCP.
    Auto,
    /// From GPU to GPU through NCCL.
    Nccl,
    /// Over TCP through rank 0.
    Tcp,
}

impl Transport {
    const ALL: [Self; 3] = [Self::Auto, Self::Nccl, Self::Tcp];

    /// The name on the command line and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Nccl => "nccl",
            Self::Tcp => "tcp",
        }
    }
}

/// The transport that a rank wants, and its GPU for NCCL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    wanted: Transport,
    /// The GPU for NCCL, as its machine and its address there; or why it has none.
    gpu: Result<(String, String), String>,
}

impl Offer {
    /// The offer of a rank that computes on `device`, or on the CPU.
    pub(super) fn of(wanted: Transport, device: Option<&Device>) -> Self {
        // A rank that wants TCP does not search for NCCL, which is slow.
        let gpu = match wanted {
            Transport::Tcp => Err("it requests the transport tcp".into()),
            _ => gpu(device),
        };
        Self { wanted, gpu }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (machine, text) = match &self.gpu {
            Ok((machine, gpu)) => (&machine[..], gpu),
            Err(why) => ("", why),
        };
        format!("{}\n{machine}\n{text}", self.wanted.name()).into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = str::from_utf8(bytes).ok()?;
        let mut lines = text.splitn(3, '\n');
        let wanted = lines.next()?;
        let wanted = Transport::ALL.into_iter().find(|transport| transport.name() == wanted)?;
        let (machine, text) = (lines.next()?, lines.next()?.to_owned());
        let gpu = if machine.is_empty() { Err(text) } else { Ok((machine.to_owned(), text)) };
        Some(Self { wanted, gpu })
    }
}

/// The GPU that NCCL can use, or why it cannot use one.
#[cfg(feature = "cuda")]
fn gpu(device: Option<&Device>) -> Result<(String, String), String> {
    let Some(device) = device else {
        return Err("it computes on the CPU, and NCCL needs a GPU".into());
    };
    let properties = device.properties();
    if properties.is_emulated() {
        return Err("it computes in the emulator, and NCCL needs a GPU".into());
    }
    libnccl::nccl().map_err(|why| why.to_string())?;
    // Each boot of a machine has a unique id, which containers on the machine also see. Without it,
    // each process counts as a machine, and NCCL itself detects shared GPUs.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let machine = match boot.trim() {
        "" => format!("process {}", std::process::id()),
        boot => boot.to_owned(),
    };
    Ok((machine, properties.pci.clone()))
}

#[cfg(not(feature = "cuda"))]
fn gpu(_: Option<&Device>) -> Result<(String, String), String> {
    Err("gridsync was built without the feature cuda".into())
}

/// Decides the transport for all ranks from their offers, in rank order. Each rank makes the same
/// decision from the same offers.
pub(super) fn decide(offers: &[Vec<u8>]) -> Result<Transport, RanksError> {
    let mut all = Vec::new();
    for (rank, bytes) in (0..).zip(offers) {
        all.push(Offer::from_bytes(bytes).ok_or_else(|| RanksError::OutOfStep {
            rank,
            sent: "other bytes".into(),
            expected: "its offer of a transport",
        })?);
    }
    let who_wants = |transport| all.iter().position(|offer| offer.wanted == transport);
    let (nccl, tcp) = (who_wants(Transport::Nccl), who_wants(Transport::Tcp));
    if let (Some(one), Some(other)) = (nccl, tcp) {
        let (one, other) = (one as u32, other as u32);
        let (of_one, of_other) = (Transport::Nccl.name(), Transport::Tcp.name());
        return Err(RanksError::Disagreement { one, of_one, other, of_other });
    }
    let is_alone = all.len() == 1 && nccl.is_none();
    if tcp.is_some() || is_alone {
        return Ok(Transport::Tcp);
    }
    match (refused(&all), nccl) {
        (None, _) => Ok(Transport::Nccl),
        (Some(_), None) => Ok(Transport::Tcp),
        (Some(error), Some(_)) => Err(error),
    }
}

/// Why NCCL cannot be used, if it cannot.
fn refused(all: &[Offer]) -> Option<RanksError> {
    let mut seen: Vec<&(String, String)> = Vec::new();
    for (rank, offer) in (0..).zip(all) {
        let gpu = match &offer.gpu {
            Ok(gpu) => gpu,
            Err(why) => return Some(RanksError::NoNccl { rank, why: printable(why) }),
        };
        if let Some(one) = seen.iter().position(|other| *other == gpu) {
            return Some(RanksError::OneGpu {
                one: one as u32,
                other: rank,
                gpu: printable(&gpu.1),
            });
        }
        seen.push(gpu);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(wanted: Transport, gpu: Option<&str>) -> Vec<u8> {
        let gpu = gpu.map(|gpu| ("machine".to_owned(), gpu.to_owned()));
        let offer = Offer { wanted, gpu: gpu.ok_or_else(|| "no NCCL: x\nnext line".to_owned()) };
        assert_eq!(Offer::from_bytes(&offer.to_bytes()).as_ref(), Some(&offer));
        offer.to_bytes()
    }

    #[test]
    fn nccl_is_used_if_all_ranks_support_it_else_tcp() {
        use Transport::{Auto, Nccl, Tcp};
        let decide = |all: &[(Transport, Option<&str>)]| {
            let offers: Vec<_> = all.iter().map(|&(wanted, gpu)| offer(wanted, gpu)).collect();
            decide(&offers).map_err(|error| error.to_string())
        };
        assert_eq!(decide(&[(Auto, Some("1")), (Auto, Some("2"))]), Ok(Nccl));
        assert_eq!(decide(&[(Auto, Some("1")), (Nccl, Some("2"))]), Ok(Nccl));
        assert_eq!(decide(&[(Auto, Some("1")), (Auto, None)]), Ok(Tcp));
        assert_eq!(decide(&[(Auto, Some("1")), (Auto, Some("1"))]), Ok(Tcp));
        assert_eq!(decide(&[(Auto, Some("1")), (Tcp, Some("2"))]), Ok(Tcp));
        assert_eq!(decide(&[(Auto, Some("1"))]), Ok(Tcp), "one rank gathers nothing");
        let said = decide(&[(Nccl, Some("1")), (Nccl, None)]).expect_err("rank 1 cannot");
        assert!(said.contains("rank 1 cannot use NCCL: no NCCL: x"), "{said}");
        let said = decide(&[(Nccl, Some("7")), (Nccl, Some("7"))]).expect_err("one GPU");
        assert!(said.contains("ranks 0 and 1") && said.contains("the transport tcp"), "{said}");
        let said = decide(&[(Tcp, None), (Nccl, Some("7"))]).expect_err("they disagree");
        assert!(said.contains("rank 1 requests the transport nccl, and rank 0 tcp"), "{said}");
    }

    #[test]
    fn control_characters_of_an_offer_are_escaped() {
        let offer = Offer { wanted: Transport::Nccl, gpu: Err("\u{1b}[2J".into()) };
        let said = decide(&[offer.to_bytes()]).expect_err("it has no GPU").to_string();
        assert!(said.contains("\\u{1b}[2J"), "{said}");
    }

    #[test]
    fn a_rank_without_a_gpu_reports_it() {
        let said = gpu(None).expect_err("there is none");
        assert!(said.contains("CPU") || said.contains("without the feature"), "{said}");
    }
}
