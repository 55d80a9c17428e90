//! How DPDK's environment is told of the ends of a job.

use crate::dut::device::Job;
use crate::link::{DeviceEnd, LinkKind};

/// What tells DPDK of a job's ends, and where packets live: cards reach for them, so that they are
/// on huge pages then, and at physical addresses where there is no IOMMU, which DPDK finds out.
pub(super) fn devices(job: &Job) -> String {
    let cards = job.ends.iter().any(|end| matches!(end, DeviceEnd::Pci(_)));
    let memory =
        if cards { "--in-memory" } else { "--no-huge --no-shconf --no-pci --iova-mode=va" };
    let mut words = memory.to_owned();
    for (side, end) in job.ends.iter().enumerate() {
        words += &match end {
            DeviceEnd::Pci(address) => format!(" -a {address}"),
            _ => format!(" --vdev '{}'", vdev(side, end, job.link)),
        };
    }
    words
}

/// An end of a link as DPDK names it: a device that it makes itself, or a card.
pub(super) fn vdev(side: usize, end: &DeviceEnd, link: LinkKind) -> String {
    match (end, link) {
        (DeviceEnd::Kernel(name), LinkKind::VethXdp) => format!("net_af_xdp{side},iface={name}"),
        (DeviceEnd::Kernel(name), _) => {
            format!("net_af_packet{side},iface={name},blocksz=8192,framesz=2048,framecnt=4096")
        }
        (DeviceEnd::Memif(socket), _) => {
            format!("net_memif{side},role=server,socket={},socket-abstract=no", socket.display())
        }
        (DeviceEnd::Vhost(socket), _) => {
            format!("net_vhost{side},iface={},queues=1", socket.display())
        }
        (DeviceEnd::Pcap { rx, tx }, _) => {
            format!("net_pcap{side},rx_pcap={},tx_pcap={}", rx.display(), tx.display())
        }
        (DeviceEnd::Pci(address), _) => address.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::{job, over_cards, over_files};
    use crate::scenario::FunctionKind;

    #[test]
    fn dpdk_is_told_of_cards_and_of_files() {
        assert_eq!(
            devices(&over_cards(job(FunctionKind::CrossConnect, 1))),
            "--in-memory -a 0000:02:00.0 -a 0000:02:00.1"
        );
        assert_eq!(
            devices(&over_files(job(FunctionKind::CrossConnect, 1))),
            "--no-huge --no-shconf --no-pci --iova-mode=va --vdev 'net_pcap0,rx_pcap=/tmp/in0.pcap,tx_pcap=/tmp/out0.pcap' \
             --vdev 'net_pcap1,rx_pcap=/tmp/in1.pcap,tx_pcap=/tmp/out1.pcap'"
        );
    }
}
