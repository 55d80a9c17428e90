//! A case: what a bridge is told, and the packets that come to it.

use openflow::message::{Bucket, FlowMod, GroupDesc, GroupKind, Kind, message};
use openflow::{PortNumber, Version};

/// Ports of the bridge, from 1 on.
pub(crate) const PORTS: PortNumber = 4;

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) version: Version,
    pub(crate) groups: Vec<(u32, GroupKind, Vec<Bucket>)>,
    pub(crate) flows: Vec<FlowMod>,
    pub(crate) packets: Vec<(PortNumber, Vec<u8>)>,
    /// Packets hang on those before: they come one behind the other, and nothing is known of any
    /// connection when the first does.
    pub(crate) is_tracked: bool,
}

/// What came of one: the same of both, or there is something to explain.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Outcome {
    /// The message's number, and what was wrong with it: type and code, as the wire has them.
    pub(crate) errors: Vec<(u32, Vec<u8>)>,
    pub(crate) packets: Vec<Fate>,
}

/// What became of a packet.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Fate {
    /// Ports of the verdict, if there is one to tell; controllers have the number that OpenFlow has
    /// for them.
    pub(crate) verdict: Option<Vec<PortNumber>>,
    /// It is one of those that the daemon does otherwise, and not well: docs/flow-switch.md has
    /// them.
    pub(crate) is_beyond: bool,
    /// What left by each port, in no order: copies of one packet may overtake each other.
    pub(crate) sent: [Vec<Vec<u8>>; PORTS as usize],
}

impl Outcome {
    /// Whether it is the daemon's.
    pub(crate) fn is(&self, theirs: &Self) -> bool {
        let same = |(mine, theirs): (&Fate, &Fate)| {
            mine.is_beyond
                || mine.sent == theirs.sent
                    && (mine.verdict == theirs.verdict || theirs.verdict.is_none())
        };
        self.errors == theirs.errors && self.packets.iter().zip(&theirs.packets).all(same)
    }
}

impl Case {
    /// What a controller says to make it so, each message with a number of its own.
    pub(crate) fn messages(&self) -> Vec<(u32, Vec<u8>)> {
        let groups = self.groups.iter().map(|(group, kind, buckets)| {
            let desc = GroupDesc { group: *group, kind: *kind, buckets };
            let mut body = Vec::new();
            desc.encode(self.version, &mut body);
            // A command where a description has its length; in 1.5 all buckets are meant.
            body[..2].fill(0);
            if self.version == Version::V15 {
                body[12..16].fill(0xff);
            }
            body
        });
        let groups = (1..).zip(groups);
        let groups =
            groups.map(|(xid, body)| (xid, message(self.version, Kind::GroupMod, xid, &body)));
        let flows = (1000..).zip(&self.flows);
        groups.chain(flows.map(|(xid, flow)| (xid, flow.encode(self.version, xid)))).collect()
    }
}

/// What a controller of 1.0 says to name tables, which came later: an extension of Open vSwitch's.
pub(crate) fn names_tables(version: Version) -> Vec<u8> {
    let body = [0, 0, 0x23, 0x20, 0, 0, 0, 15, 1, 0, 0, 0, 0, 0, 0, 0];
    match version {
        Version::V10 => message(version, Kind::Experimenter, 1, &body),
        _ => Vec::new(),
    }
}

/// What an error message says.
pub(crate) fn error_of(message: &[u8]) -> (u32, Vec<u8>) {
    let xid = u32::from_be_bytes(message[4..8].try_into().unwrap());
    // Errors of experimenters say whose they are.
    let length = if matches!(message[8..10], [0xff, 0xff] | [0xb0, 0xc2]) { 12 } else { 4 };
    (xid, message[8..8 + length].to_vec())
}
