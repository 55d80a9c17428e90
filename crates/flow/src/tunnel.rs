//! What is known of a packet that came out of a tunnel, beside the packet.
//!
//! ```text
//!  tun_id │ tun_src: the other end │ tun_dst: our end         all zero of one that came by none
//! ```

use crate::key::Key;
use crate::plain::Plain;
use openflow::Field;
use std::net::IpAddr;

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
    /// The other end.
    pub source: IpAddr,
    /// Our end.
    pub destination: IpAddr,
}

impl CameBy {
    /// Makes a key that of a packet that came by it; `own`: the packet's number, where the tunnel
    /// has none.
    pub fn tell(&self, own: u32, key: &mut Key) {
        key.words[WORDS].fill(0);
        let mut set = |field: Field, value: u128| key.set(field, value, field.ones());
        set(Field::TunId, self.number.unwrap_or(own).into());
        for (end, old, new) in [
            (self.source, Field::TunSrc, Field::TunIp6Src),
            (self.destination, Field::TunDst, Field::TunIp6Dst),
        ] {
            match end {
                IpAddr::V4(end) => set(old, u32::from(end).into()),
                IpAddr::V6(end) => set(new, end.into()),
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
    /// The same out of a tunnel whose packets tell their number.
    #[inline]
    pub fn numbered(mut self, number: u32) -> Self {
        // Nothing is there of a packet that has not begun again.
        *self.last_mut() = number.into();
        self
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
        CameBy { number: Some(7), source, destination }.tell(5, &mut key);
        let fields = [Field::TunId, Field::TunSrc, Field::TunDst, Field::TunIp6Src];
        assert_eq!(fields.map(|it| key.get(it)), [7, 0xc000_0209, 0xc000_0201, 0]);
        let [source, destination]: [IpAddr; 2] =
            ["2001:db8::9", "2001:db8::1"].map(|it| it.parse().unwrap());
        CameBy { number: None, source, destination }.tell(5, &mut key);
        let fields = [Field::TunId, Field::TunSrc, Field::TunIp6Src, Field::TunIp6Dst];
        let high = 0x2001_0db8 << 96;
        assert_eq!(fields.map(|it| key.get(it)), [5, 0, high | 9, high | 1]);
        key.forget_tunnel();
        assert_eq!(key, Key::default());
    }

    #[test]
    fn packets_of_two_numbers_are_two() {
        let plain = Plain::of(&udp(1, 1), 1).unwrap();
        let [one, other] = [1, 2].map(|number| plain.numbered(number));
        assert!(one != other && one.hash() != other.hash() && plain.numbered(0) == plain);
    }
}
