//! Which places remotes have that tunnels learn: anybody who can send us packets may say that he is
//! one, so that nobody has more than a share, and those who have stations stay.
//!
//! ```text
//!  all ≤ 512 ─ heard by one underlay port ≤ 256 ─ of one tunnel ≤ 192 ─ of one /24 or /64 ≤ 64
//! ```
//! So whoever fills the places of one port leaves those of others, and whoever fills a tunnel's
//! leaves some to another. Where one of these is full, the remote of it that has been without a
//! station for longest makes room, if that is [`SPARE`] or more; else the newcomer has none. What
//! the configuration names is none of these.

use nodes::tables::MOST_INTERFACES;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How long a remote must have been without a station to give way: two looks for stations.
pub(super) const SPARE: Duration = Duration::from_secs(20);

/// A learned remote, or one that is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Learned {
    /// The interface of its tunnel.
    pub(super) tunnel: u16,
    /// The interface that it was heard by.
    pub(super) underlay: u16,
    pub(super) address: IpAddr,
    /// When it last had a station.
    pub(super) seen: Instant,
}

/// What may be full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    Network,
    Tunnel,
    Underlay,
    All,
}

impl Bound {
    const ALL: [Self; 4] = [Self::Network, Self::Tunnel, Self::Underlay, Self::All];

    /// The most learned remotes.
    pub(super) fn most(self) -> usize {
        match self {
            Self::Network => 64,
            Self::Tunnel => 192,
            Self::Underlay => 256,
            Self::All => MOST_INTERFACES / 2,
        }
    }

    /// As an event says it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Tunnel => "tunnel",
            Self::Underlay => "underlay port",
            Self::All => "all tunnels",
        }
    }

    fn holds(self, new: &Learned, known: &Learned) -> bool {
        let same_tunnel = known.tunnel == new.tunnel;
        let same_underlay = known.underlay == new.underlay;
        match self {
            Self::Network => {
                same_tunnel && same_underlay && network(known.address) == network(new.address)
            }
            Self::Tunnel => same_tunnel && same_underlay,
            Self::Underlay => same_underlay,
            Self::All => true,
        }
    }
}

fn network(address: IpAddr) -> (bool, u64) {
    match address {
        IpAddr::V4(address) => (false, u64::from(u32::from(address) >> 8)),
        IpAddr::V6(address) => (true, (u128::from(address) >> 64) as u64),
    }
}

/// Those of `known` that make room for a new one, or what is full. `free`: interfaces that nobody
/// has.
pub(super) fn room(known: &[Learned], new: &Learned, free: usize) -> Result<Vec<Learned>, Bound> {
    let mut left = known.to_vec();
    let mut gone = Vec::new();
    for bound in Bound::ALL {
        let inside = left.iter().filter(|it| bound.holds(new, it)).count();
        let is_full = inside >= bound.most() || bound == Bound::All && free == 0 && gone.is_empty();
        if !is_full {
            continue;
        }
        let oldest = left.iter().filter(|it| bound.holds(new, it)).min_by_key(|it| it.seen);
        let spare = oldest.filter(|it| new.seen.duration_since(it.seen) >= SPARE).copied();
        let spare = spare.ok_or(bound)?;
        left.retain(|it| *it != spare);
        gone.push(spare);
    }
    Ok(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn learned(tunnel: u16, underlay: u16, address: u32, seen: Instant) -> Learned {
        let address = Ipv4Addr::from(address).into();
        Learned { tunnel, underlay, address, seen }
    }

    /// So many, each of another network.
    fn some(tunnel: u16, underlay: u16, count: u32, seen: Instant) -> Vec<Learned> {
        let first = 0x0a00_0000 + (u32::from(tunnel) << 20);
        (0..count).map(|it| learned(tunnel, underlay, first + (it << 8), seen)).collect()
    }

    const NETWORK: u32 = 0xc633_6400;

    #[test]
    fn a_network_has_its_share_and_leaves_others_theirs() {
        let now = Instant::now();
        let known: Vec<_> = (0..64).map(|it| learned(1, 0, NETWORK + it, now)).collect();
        assert_eq!(room(&known, &learned(1, 0, NETWORK + 99, now), 9), Err(Bound::Network));
        for other in [
            learned(1, 0, NETWORK + 256, now),
            learned(2, 0, NETWORK + 99, now),
            learned(1, 7, NETWORK + 99, now),
        ] {
            assert_eq!(room(&known, &other, 9), Ok(vec![]));
        }
    }

    #[test]
    fn one_underlay_port_leaves_others_half_whatever_the_tunnel() {
        let now = Instant::now();
        let known = [some(1, 0, 128, now), some(2, 0, 128, now)].concat();
        assert_eq!(room(&known, &learned(3, 0, NETWORK, now), 9), Err(Bound::Underlay));
        assert_eq!(room(&known, &learned(1, 5, NETWORK, now), 9), Ok(vec![]));
        let known = some(1, 0, 192, now);
        assert_eq!(room(&known, &learned(1, 0, NETWORK, now), 9), Err(Bound::Tunnel));
        for other in [learned(1, 5, NETWORK, now), learned(2, 0, NETWORK, now)] {
            assert_eq!(room(&known, &other, 9), Ok(vec![]));
        }
        let known = [some(1, 0, 256, now), some(2, 5, 256, now)].concat();
        assert_eq!(room(&known, &learned(3, 6, NETWORK, now), 9), Err(Bound::All));
    }

    #[test]
    fn who_has_had_no_station_for_longest_makes_room_and_who_has_one_stays() {
        let start = Instant::now();
        let later = start + SPARE;
        let mut known = some(1, 0, 192, later);
        let new = learned(1, 0, NETWORK, later);
        assert_eq!(room(&known, &new, 9), Err(Bound::Tunnel));
        known[7].seen = start;
        known[9].seen = start + Duration::from_secs(1);
        assert_eq!(room(&known, &new, 9), Ok(vec![known[7]]));
        known[7].seen = start + Duration::from_secs(1);
        assert_eq!(room(&known, &new, 9), Err(Bound::Tunnel), "a second too early");
    }

    #[test]
    fn without_a_free_interface_one_must_go() {
        let start = Instant::now();
        let known = some(1, 0, 3, start);
        assert_eq!(room(&known, &learned(2, 9, NETWORK, start), 0), Err(Bound::All));
        let new = learned(2, 9, NETWORK, start + SPARE);
        assert_eq!(room(&known, &new, 0).map(|gone| gone.len()), Ok(1));
    }
}
