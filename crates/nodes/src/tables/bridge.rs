//! Bridge domains as workers see them: what a port of one may do, and who is in it.
//!
//! ```text
//!  interface row ── mode ──▶ BridgePort { bridge, flags, groups }
//!  Interfaces    ── members(bridge) ──▶ its ports, by number: where flooding goes
//! ```
//! Two ports that share a bit of `groups` do not reach each other: split horizon. Isolation is the
//! group of all isolated ports.
//!
//! Of a port in a bridge of flows the flows are asked first; what they leave to `NORMAL` goes on in
//! the bridge that is `bridge` here. That is the same one, or one behind it, which has the frames
//! of a VLAN.

use crate::tables::{Interface, Interfaces, Mode};

/// A bridge domain; also the domain of its MAC addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BridgeId(pub u16);

/// What a bridge looks at before a frame goes on: some of these, in one octet, as most bridges look
/// at nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heeds(u8);

impl Heeds {
    /// Nothing.
    pub const NOTHING: Self = Self(0);
    /// ARP requests, which it answers for stations that it knows.
    pub const ARP: Self = Self(1);
    /// Neighbour solicitations, likewise.
    pub const ND: Self = Self(2);
    /// Who listens to which groups.
    pub const GROUPS: Self = Self(4);

    /// These, where `wanted`, beside the others.
    #[must_use]
    pub fn with(self, more: Self, wanted: bool) -> Self {
        if wanted { Self(self.0 | more.0) } else { self }
    }

    /// True if one of these is among them.
    #[inline]
    pub fn has(self, some: Self) -> bool {
        self.0 & some.0 != 0
    }

    /// True if it looks at something.
    #[inline]
    pub fn any(self) -> bool {
        self.0 != 0
    }
}

/// What the spanning tree has a port do with frames, where its bridge takes part in one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spanning {
    /// It takes no part: what it may do is said elsewhere.
    None,
    /// Nothing, but for messages of the tree itself.
    Discarding,
    /// Stations behind it are learned.
    Learning,
    /// All that it may do beside.
    Forwarding,
}

/// Where what a bridge sends may come back, as by a bond whose other end knows of none: what it
/// gets by one member it sends to the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComesBack {
    /// By none of its ports.
    Nowhere,
    /// By another port: what a station says of itself here is remembered, so that it is known when
    /// it comes back there.
    Elsewhere,
    /// By this port: a station that is known behind another one is not taken over by it.
    Here,
}

/// A port of a bridge of flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowPort {
    /// That bridge.
    pub bridge: BridgeId,
    /// The port's number there.
    pub number: u16,
}

/// What an interface may do in its bridge. The bridge's own flags are already in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BridgePort {
    /// The bridge.
    pub bridge: BridgeId,
    /// Stations behind it are learned.
    pub learn: bool,
    /// Frames pass it.
    pub forward: bool,
    /// Frames to stations that are not known leave by it.
    pub flood_unknown: bool,
    /// Broadcasts and multicasts leave by it.
    pub flood_groups: bool,
    /// What its bridge looks at in passing.
    pub heeds: Heeds,
    /// A bit for each split-horizon group that it is in.
    pub groups: u64,
    /// The tunnel that it is one of several remotes of: those do not reach each other.
    pub tunnel: Option<u16>,
    /// What the spanning tree has it do. Where that is not to forward, `forward` is off.
    pub spanning: Spanning,
    /// Frames a second and worker that may be flooded from it; 0: any number.
    pub storm_pps: u32,
    /// What it is in a bridge of flows, which are asked before its frames are bridged.
    pub flow: Option<FlowPort>,
    /// Its frames come from a bridge of flows that its port is in, by `NORMAL`.
    pub is_behind: bool,
    /// Where what the bridge sends may come back.
    pub comes_back: ComesBack,
}

impl BridgePort {
    /// A port that may do everything.
    pub fn new(bridge: BridgeId) -> Self {
        Self {
            bridge,
            learn: true,
            forward: true,
            flood_unknown: true,
            flood_groups: true,
            heeds: Heeds::NOTHING,
            groups: 0,
            tunnel: None,
            spanning: Spanning::None,
            storm_pps: 0,
            flow: None,
            is_behind: false,
            comes_back: ComesBack::Nowhere,
        }
    }

    /// The same, asked about by flows of the same bridge as the port of a number.
    #[must_use]
    pub fn with_flows(self, number: u16) -> Self {
        Self { flow: Some(FlowPort { bridge: self.bridge, number }), ..self }
    }

    /// True if what comes in here may leave by `other`.
    #[inline]
    pub fn reaches(&self, other: &BridgePort) -> bool {
        let of_one_tunnel = self.tunnel.is_some() && self.tunnel == other.tunnel;
        let parted = self.groups & other.groups != 0 || of_one_tunnel;
        self.bridge == other.bridge && other.forward && !parted
    }
}

/// What an interface may do in its bridge, if it is in one.
#[inline]
pub fn bridge_port(interfaces: &Interfaces, id: u16) -> Option<BridgePort> {
    match interfaces.get(id)?.mode {
        Mode::Bridged(port) => Some(port),
        Mode::Routed | Mode::CrossConnect(_) | Mode::Member(_) => None,
    }
}

/// The ports of each bridge, by its number.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(Vec<Vec<u16>>);

impl Members {
    pub(super) fn of(rows: &[Option<Interface>]) -> Self {
        let mut members: Vec<Vec<u16>> = Vec::new();
        for (id, row) in (0..).zip(rows) {
            if let Some(Interface { mode: Mode::Bridged(port), .. }) = row {
                let bridge = usize::from(port.bridge.0);
                if members.len() <= bridge {
                    members.resize_with(bridge + 1, Vec::new);
                }
                members[bridge].push(id);
            }
        }
        Self(members)
    }
}

impl Interfaces {
    /// The ports of a bridge.
    pub fn members(&self, bridge: BridgeId) -> &[u16] {
        self.members.0.get(usize::from(bridge.0)).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_a_group_do_not_reach_each_other() {
        let free = BridgePort::new(BridgeId(1));
        let (a, b) = (BridgePort { groups: 1, ..free }, BridgePort { groups: 3, ..free });
        assert!(free.reaches(&a) && a.reaches(&free) && free.reaches(&free));
        assert!(!a.reaches(&b) && !b.reaches(&a));
        assert!(!free.reaches(&BridgePort { forward: false, ..free }));
        assert!(!free.reaches(&BridgePort::new(BridgeId(2))));
        let remote = |tunnel| BridgePort { tunnel: Some(tunnel), ..free };
        assert!(!remote(5).reaches(&remote(5)) && remote(5).reaches(&remote(6)));
        assert!(remote(5).reaches(&free));
    }
}
