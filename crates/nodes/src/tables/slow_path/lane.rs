//! Who waits how long: each punt has a lane, and in it a share that is its interface's.

use super::{
    ArpHeard, BetterWay, ListenersWanted, NdHeard, NdSaid, Punt, RouterWanted, StationMoved,
};
use crate::tables::MOST_INTERFACES;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};

/// What is told apart between workers and the control thread, in the order in which it is heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// Who has an address: what somebody waits for.
    Answers,
    /// What need not be heard: it is said again.
    Notices,
    /// Packets, each in a buffer.
    Packets,
}

impl Lane {
    /// All, the first heard first.
    pub const ALL: [Self; 3] = [Self::Answers, Self::Notices, Self::Packets];

    /// Shares that fit the lane while all are full. Packets hold buffers.
    pub(super) fn shares(self) -> usize {
        match self {
            Self::Answers | Self::Notices => 16,
            Self::Packets => 4,
        }
    }
}

impl Punt {
    /// The lane it takes.
    pub fn lane(&self) -> Lane {
        match self {
            Self::Unresolved(_)
            | Self::Piece(_)
            | Self::BetterWay6(_)
            | Self::FlowTold(_)
            | Self::GroupsSaid(_)
            | Self::EidWanted(_)
            | Self::LispSaid(_) => Lane::Packets,
            Self::Arp(heard) if heard.is_reply && !heard.is_gratuitous => Lane::Answers,
            Self::Nd(NdHeard { said: NdSaid::Advertised { solicited: true, .. }, .. }) => {
                Lane::Answers
            }
            Self::Arp(_)
            | Self::Nd(_)
            | Self::Moved(_)
            | Self::Binding(_)
            | Self::RemoteHeard(_)
            | Self::BetterWay(_)
            | Self::Lacp(_)
            | Self::Bpdu(_)
            | Self::ListenersWanted(_)
            | Self::RouterWanted(_)
            | Self::Echo(_) => Lane::Notices,
        }
    }

    /// Whose share of the lane it takes: an interface's (or bridge's), and which of its [`KINDS`].
    fn share(&self) -> (u16, usize) {
        let family = |address: &IpAddr| usize::from(address.is_ipv6());
        match self {
            Self::Unresolved(it) => (it.interface, family(&it.next_hop)),
            Self::RemoteHeard(it) => (it.underlay, family(&it.remote)),
            Self::Arp(ArpHeard { interface, .. })
            | Self::BetterWay(BetterWay { interface, .. })
            | Self::Moved(StationMoved { to: interface, .. }) => (*interface, 0),
            Self::ListenersWanted(ListenersWanted { interface, .. })
            | Self::Nd(NdHeard { interface, .. })
            | Self::RouterWanted(RouterWanted { interface, .. }) => (*interface, 1),
            Self::FlowTold(it) => (it.interface, 3),
            Self::GroupsSaid(it) => (it.interface, 2),
            Self::Piece(it) => (it.packet.rx(), 2),
            Self::Lacp(it) => (it.interface, 2),
            Self::Bpdu(it) => (it.interface, 2),
            Self::Binding(it) => (it.bridge.0, 2),
            Self::Echo(it) => (it.interface, 3),
            // Apart from those that wait for a neighbour.
            Self::BetterWay6(it) => (it.interface, 3),
            Self::EidWanted(it) => (it.interface, family(&it.endpoint)),
            Self::LispSaid(it) => (it.interface, 2),
        }
    }
}

/// Shares of an interface in a lane: of IPv4, of IPv6, of what is of neither, and of answers to
/// echo requests of ours.
const KINDS: usize = 4;

/// How many punts of each share wait.
pub(super) struct Waiting {
    most: u32,
    shares: Vec<AtomicU32>,
}

impl Waiting {
    /// None yet, of at most so many each.
    pub(super) fn new(most: usize) -> Self {
        let shares = (0..MOST_INTERFACES * KINDS).map(|_| AtomicU32::new(0)).collect();
        Self { most: most as u32, shares }
    }

    fn of(&self, punt: &Punt) -> &AtomicU32 {
        let (interface, kind) = punt.share();
        &self.shares[(usize::from(interface) * KINDS + kind) % self.shares.len()]
    }

    /// Whether there is room for one more of its share.
    pub(super) fn enter(&self, punt: &Punt) -> bool {
        let share = self.of(punt);
        let enters = share.fetch_add(1, Ordering::Relaxed) < self.most;
        if !enters {
            share.fetch_sub(1, Ordering::Relaxed);
        }
        enters
    }

    /// One of its share is gone.
    pub(super) fn leave(&self, punt: &Punt) {
        self.of(punt).fetch_sub(1, Ordering::Relaxed);
    }
}
