//! What is known of a packet that came out of a tunnel, beside the packet, and what flows say of
//! one that goes into one.
//!
//! ```text
//!  comes: tun_id │ tun_src: the other end │ tun_dst: our end         all zero of one that came by none
//!  goes:  tun_id │ tun_dst: the other end │ tun_src: our end         of tunnels that let flows say it
//! ```

use crate::key::Key;
use crate::plain::Plain;
use openflow::Field;
use std::net::{IpAddr, Ipv4Addr};

/// Words of a key that tell of a tunnel.
const WORDS: std::ops::Range<usize> = 1..8;

/// The ends of a tunnel.
pub(crate) const ENDS: [Field; 4] =
    [Field::TunSrc, Field::TunDst, Field::TunIp6Src, Field::TunIp6Dst];

/// A tunnel whose packets a bridge's port receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CameBy {
    /// The number that its packets have (VXLAN's or Geneve's network, GRE's key; 0: none); none
    /// where each packet tells its own.
    pub number: Option<u32>,
    /// The other end; none where each packet tells its own.
    pub source: Option<IpAddr>,
    /// Our end; none where each packet tells its own.
    pub destination: Option<IpAddr>,
}

/// What a packet in a tunnel says of itself where the tunnel does not say it of all, and what flows
/// say of it there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct InTunnel {
    /// Its number (VXLAN's or Geneve's network, GRE's key; 0: none).
    pub number: u32,
    /// The other end, unspecified where nobody said it; none where that is the tunnel's.
    pub remote: Option<IpAddr>,
    /// Our end, unspecified where nobody said it; none where the tunnel, or the way, has it.
    pub local: Option<IpAddr>,
}

/// What a port asks flows about a packet that leaves by it, being a tunnel that does not say it of
/// all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Asks {
    /// Nothing.
    #[default]
    Nothing,
    /// Its number.
    Number,
    /// The other end, and the number.
    Remote,
    /// Both ends, and the number.
    Ends,
}

impl InTunnel {
    /// What is said of packets that nobody said anything of.
    pub const UNSAID: Self = Self {
        number: 0,
        remote: Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        local: Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
    };

    /// One with a number, between the tunnel's own ends.
    pub fn numbered(number: u32) -> Self {
        Self { number, ..Self::default() }
    }
}

impl CameBy {
    /// Whether each packet tells something of its own.
    pub fn is_told_by_packets(&self) -> bool {
        self.number.is_none() || self.source.is_none() || self.destination.is_none()
    }

    /// Makes a key that of a packet that came by it; `own`: what the packet says where the tunnel
    /// does not.
    pub fn tell(&self, own: InTunnel, key: &mut Key) {
        key.words[WORDS].fill(0);
        let mut set = |field: Field, value: u128| key.set(field, value, field.ones());
        set(Field::TunId, self.number.unwrap_or(own.number).into());
        for (end, old, new) in [
            (self.source.or(own.remote), Field::TunSrc, Field::TunIp6Src),
            (self.destination.or(own.local), Field::TunDst, Field::TunIp6Dst),
        ] {
            match end {
                Some(IpAddr::V4(end)) => set(old, u32::from(end).into()),
                Some(IpAddr::V6(end)) => set(new, end.into()),
                None => {}
            }
        }
    }
}

impl Key {
    /// Makes it that of a packet that came by no tunnel.
    pub fn forget_tunnel(&mut self) {
        self.words[WORDS].fill(0);
    }
}

impl Plain {
    /// The same out of a tunnel whose packets say of themselves what they have not in common; none
    /// where that is too long: an end is one of IPv6.
    #[inline]
    pub fn told(self, own: InTunnel) -> Option<Self> {
        let bits = |end: Option<IpAddr>| match end {
            None => Some(0),
            Some(IpAddr::V4(end)) => Some(u64::from(u32::from(end))),
            Some(IpAddr::V6(_)) => None,
        };
        let (remote, local) = (bits(own.remote)?, bits(own.local)?);
        Some(self.with([local, u64::from(own.number) | remote << 32]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::tests::udp;

    #[test]
    fn a_key_tells_number_and_ends_and_forgets_them() {
        let mut key = Key::default();
        key.set(Field::TunIp6Src, 9, u128::MAX);
        let [source, destination] = [[192, 0, 2, 9], [192, 0, 2, 1]].map(IpAddr::from);
        let own = InTunnel { number: 5, remote: Some(destination), local: Some(source) };
        let destination = Some(destination);
        CameBy { number: Some(7), source: Some(source), destination }.tell(own, &mut key);
        let fields = [Field::TunId, Field::TunSrc, Field::TunDst, Field::TunIp6Src];
        assert_eq!(fields.map(|it| key.get(it)), [7, 0xc000_0209, 0xc000_0201, 0]);
        let [source, destination]: [IpAddr; 2] =
            ["2001:db8::9", "2001:db8::1"].map(|it| it.parse().unwrap());
        let fields = [Field::TunId, Field::TunSrc, Field::TunIp6Src, Field::TunIp6Dst];
        let high = 0x2001_0db8 << 96;
        let ends = [Some(source), Some(destination)];
        for (of_all, own) in [(ends, [None; 2]), ([None; 2], ends)] {
            let own = InTunnel { number: 5, remote: own[0], local: own[1] };
            CameBy { number: None, source: of_all[0], destination: of_all[1] }.tell(own, &mut key);
            assert_eq!(fields.map(|it| key.get(it)), [5, 0, high | 9, high | 1]);
        }
        key.forget_tunnel();
        assert_eq!(key, Key::default());
    }

    #[test]
    fn packets_of_two_numbers_or_ends_are_two() {
        let plain = Plain::of(&udp(1, 1), 1).unwrap();
        let told = |number, remote, local| plain.told(InTunnel { number, remote, local });
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(|it| Some(IpAddr::from(it)));
        let all = [
            told(1, None, None),
            told(2, None, None),
            told(1, one, None),
            told(1, other, None),
            told(1, None, one),
            told(1, other, one),
        ];
        let all = all.map(Option::unwrap);
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| one != other && one.hash() != other.hash()));
        }
        assert_eq!(told(0, None, None), Some(plain));
        let long = Some("2001:db8::9".parse().unwrap());
        assert_eq!([told(1, long, None), told(1, None, long)], [None; 2]);
    }
}
