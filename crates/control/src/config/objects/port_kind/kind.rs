//! What a kind of port says of itself, beside its fields.

use super::super::vrf::VrfName;
use super::ends::Ends;
use crate::config::report::Report;

/// MTU of a port that does not say.
pub(crate) const DEFAULT_MTU: u16 = 1_500;

/// A kind says what differs from the usual alone: a device of its own, for one port.
pub(crate) trait Kind {
    /// Whether no device belongs to it: it stands on other ports.
    fn is_virtual(&self) -> bool {
        false
    }

    /// Whether its frames may have tags, though no device belongs to it: VLANs can stand on it.
    fn is_trunk(&self) -> bool {
        false
    }

    /// What no two ports can share, as a person calls it.
    fn claim(&self) -> Option<String> {
        None
    }

    /// Finds what is wrong with it; `port` is how problems call the port.
    fn check(&self, _port: &str, _report: &mut Report) {}

    /// How many receive queues it can have, if that is known.
    fn most_rx_queues(&self) -> Option<u16> {
        None
    }

    /// Packet buffers that each of its queues takes for packets to come, as far as that is known
    /// before its device is open.
    fn buffers_a_queue(&self) -> u32 {
        0
    }

    /// Whether the other end may be a host that leaves work to a card.
    fn peer_offloads(&self) -> bool {
        true
    }

    /// The ends of a tunnel.
    fn ends(&self) -> Option<&Ends> {
        None
    }

    /// The VRF that packets around those that it carries are in.
    fn underlay_vrf(&self) -> Option<&VrfName> {
        self.ends().and_then(|ends| ends.underlay_vrf.as_ref())
    }

    /// Whether packets that it receives are routed though it has no address.
    fn routes(&self) -> bool {
        false
    }

    /// Whether it carries packets that are in no frames: there are no stations on it, only the
    /// other end.
    fn is_point_to_point(&self) -> bool {
        false
    }

    /// Whether flows say the number that a tunnel's packets have.
    fn is_numbered_by_flows(&self) -> bool {
        false
    }

    /// Whether mirrors' copies leave by it, and nothing else does.
    fn is_for_copies(&self) -> bool {
        false
    }

    /// The longest packet of a port that does not say.
    fn default_mtu(&self) -> u16 {
        DEFAULT_MTU
    }
}
