//! Neighbour discovery messages and options (RFC 4861, 4), inside ICMPv6.
//!
//! ```text
//!  solicitation, advertisement            option
//! ┌──────┬──────┬──────────┐              ┌──────┬──────┬─────────────────────┐
//! │ type │ code │ checksum │  0           │ type │ len  │ len·8 − 2 octets …  │   len 0 is an error
//! ├─┬─┬─┬┴──────┴──────────┤              └──────┴──────┴─────────────────────┘
//! │R│S│O│     reserved     │  4   R: router, S: solicited, O: override (advertisement only)
//! ├─┴─┴─┴──────────────────┤
//! │ target address, 16     │  8
//! └────────────────────────┘ 24: options
//! ```
//! A message is valid only with hop limit 255 (RFC 4861, 7.1); the IP header is the caller's to
//! check.

use crate::{Error, MacAddr, view::Octets};

view! {
    /// A neighbour solicitation or advertisement.
    Neighbor, NeighborMut: 24 octets {
        /// Solicitation or advertisement, of [`crate::icmp6::message`].
        message_type, set_message_type: u8 = 0;
        /// 0.
        code, set_code: u8 = 1;
        /// Over pseudo header and message.
        checksum, set_checksum: u16 = 2;
        /// Of an advertisement: see [`flag`].
        flags, set_flags: u8 = 4;
        /// The address asked for or held.
        target, set_target: u128 = 8;
    }
}

view! {
    /// A router advertisement.
    RouterAdvertisement, RouterAdvertisementMut: 16 octets {
        /// Of [`crate::icmp6::message`].
        message_type, set_message_type: u8 = 0;
        /// 0.
        code, set_code: u8 = 1;
        /// Over pseudo header and message.
        checksum, set_checksum: u16 = 2;
        /// Hop limit hosts should use; 0 says nothing.
        hop_limit, set_hop_limit: u8 = 4;
        /// See [`router_flag`].
        flags, set_flags: u8 = 5;
        /// How long to use it as default router; 0 says not at all.
        lifetime_s, set_lifetime_s: u16 = 6;
        /// How long a neighbour counts as reachable; 0 says nothing.
        reachable_ms, set_reachable_ms: u32 = 8;
        /// Time between solicitations; 0 says nothing.
        retransmit_ms, set_retransmit_ms: u32 = 12;
    }
}

view! {
    /// A redirect.
    Redirect, RedirectMut: 40 octets {
        /// Of [`crate::icmp6::message`].
        message_type, set_message_type: u8 = 0;
        /// 0.
        code, set_code: u8 = 1;
        /// Over pseudo header and message.
        checksum, set_checksum: u16 = 2;
        /// The better first hop.
        target, set_target: u128 = 8;
        /// Where the packets go to.
        destination, set_destination: u128 = 24;
    }
}

view! {
    /// A prefix information option, type and length included (RFC 4861, 4.6.2).
    PrefixInformation, PrefixInformationMut: 32 octets {
        /// [`option::PREFIX_INFORMATION`].
        kind, set_kind: u8 = 0;
        /// 4, in units of eight octets.
        length, set_length: u8 = 1;
        /// Bits of the prefix that count.
        prefix_len, set_prefix_len: u8 = 2;
        /// See [`prefix_flag`].
        flags, set_flags: u8 = 3;
        /// How long the prefix is valid.
        valid_s, set_valid_s: u32 = 4;
        /// How long addresses made from it are preferred.
        preferred_s, set_preferred_s: u32 = 8;
        /// The prefix.
        prefix, set_prefix: u128 = 16;
    }
}

/// Octets of a router solicitation before its options.
pub const ROUTER_SOLICITATION_LEN: usize = 8;
/// The hop limit that shows a message was not forwarded.
pub const HOP_LIMIT: u8 = 255;

/// Flags of a neighbour advertisement.
pub mod flag {
    /// The sender is a router.
    pub const ROUTER: u8 = 0x80;
    /// It answers a solicitation.
    pub const SOLICITED: u8 = 0x40;
    /// It replaces what is cached.
    pub const OVERRIDE: u8 = 0x20;
}

/// Flags of a router advertisement.
pub mod router_flag {
    /// Addresses come by DHCPv6.
    pub const MANAGED: u8 = 0x80;
    /// Other settings come by DHCPv6.
    pub const OTHER: u8 = 0x40;
    /// It is preferred to other routers (RFC 4191, 2.2).
    pub const PREFERRED: u8 = 0x08;
    /// Others are preferred to it; both bits of the preference.
    pub const LAST: u8 = 0x18;
}

/// Flags of a prefix information option.
pub mod prefix_flag {
    /// The prefix is on this link.
    pub const ON_LINK: u8 = 0x80;
    /// Hosts may make addresses from it.
    pub const AUTONOMOUS: u8 = 0x40;
}

/// Option types.
pub mod option {
    /// Link address of the sender.
    pub const SOURCE_LINK_ADDRESS: u8 = 1;
    /// Link address of the target.
    pub const TARGET_LINK_ADDRESS: u8 = 2;
    /// A prefix of the link.
    pub const PREFIX_INFORMATION: u8 = 3;
    /// The packet that caused a redirect.
    pub const REDIRECTED_HEADER: u8 = 4;
    /// The MTU of the link.
    pub const MTU: u8 = 5;
    /// Name servers (RFC 8106).
    pub const DNS_SERVERS: u8 = 25;
    /// Domains in which short names are looked for (RFC 8106).
    pub const DNS_SEARCH: u8 = 31;
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// One of [`option`].
    pub kind: u8,
    /// The whole option, type and length included.
    pub bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The MAC address of a link address option.
    pub fn mac(&self) -> Option<MacAddr> {
        let is_address =
            matches!(self.kind, option::SOURCE_LINK_ADDRESS | option::TARGET_LINK_ADDRESS);
        (is_address && self.bytes.len() == 8).then(|| MacAddr::read(self.bytes, 2))
    }

    /// The MTU of an MTU option.
    pub fn mtu(&self) -> Option<u32> {
        (self.kind == option::MTU && self.bytes.len() == 8).then(|| u32::read(self.bytes, 4))
    }

    /// The prefix of a prefix information option.
    pub fn prefix(&self) -> Option<PrefixInformation<'a>> {
        let is_prefix =
            self.kind == option::PREFIX_INFORMATION && self.bytes.len() == PrefixInformation::LEN;
        is_prefix.then(|| PrefixInformation::new(self.bytes)).flatten()
    }
}

/// Walks options. An error ends it, and the whole message must then be dropped (RFC 4861, 4.6).
#[derive(Clone, Debug)]
pub struct Options<'a>(&'a [u8]);

impl<'a> Options<'a> {
    /// Over the octets after a message's fixed part.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<Entry<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let &[kind, ref after @ ..] = self.0 else { return None };
        let len = usize::from(after.first().copied().unwrap_or(0)) * 8;
        let (bytes, rest) = match self.0.split_at_checked(len) {
            Some(split) if len > 0 => split,
            _ => {
                let have = std::mem::take(&mut self.0).len();
                return Some(Err(Error::short("ND option", len.max(8), have)));
            }
        };
        self.0 = rest;
        Some(Ok(Entry { kind, bytes }))
    }
}

/// The link address that the options give under `kind`; an error if any option is malformed.
pub fn link_address(options: &[u8], kind: u8) -> Result<Option<MacAddr>, Error> {
    let mut found = None;
    for entry in Options::new(options) {
        let entry = entry?;
        if entry.kind == kind && found.is_none() {
            found = entry.mac();
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{craft, icmp6, icmp6::message};

    const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 7]);

    #[test]
    fn a_solicitation_carries_target_and_link_address() {
        let packet = craft::ipv6(1, 2).neighbor_solicitation(0xbeef, HOST).build();
        assert_eq!(packet[7], HOP_LIMIT);
        assert!(icmp6::Header::parse(&packet[40..], 1, 2).is_ok());
        let message = Neighbor::new(&packet[40..]).unwrap();
        assert_eq!(message.message_type(), message::NEIGHBOR_SOLICITATION);
        assert_eq!((message.target(), message.flags()), (0xbeef, 0));
        let found = link_address(&packet[64..], option::SOURCE_LINK_ADDRESS).unwrap();
        assert_eq!(found, Some(HOST));
        assert_eq!(link_address(&packet[64..], option::TARGET_LINK_ADDRESS).unwrap(), None);
    }

    #[test]
    fn an_advertisement_carries_its_flags() {
        let flags = flag::ROUTER | flag::OVERRIDE;
        let packet = craft::ipv6(1, 2).neighbor_advertisement(0xbeef, HOST, flags).build();
        let message = Neighbor::new(&packet[40..]).unwrap();
        assert_eq!((message.message_type(), message.flags()), (136, 0xa0));
        assert!(link_address(&packet[64..], option::TARGET_LINK_ADDRESS).unwrap().is_some());
    }

    #[test]
    fn a_router_advertisement_carries_prefix_and_mtu() {
        let mut prefix = [0; 30];
        prefix[0] = 64;
        prefix[1] = prefix_flag::ON_LINK | prefix_flag::AUTONOMOUS;
        prefix[14..16].copy_from_slice(&[0x20, 0x01]);
        let packet = craft::ipv6(1, 2)
            .router_advertisement(1800)
            .nd_option(option::PREFIX_INFORMATION, &prefix)
            .nd_option(option::MTU, &[0, 0, 0, 0, 0x05, 0xdc])
            .build();
        let message = RouterAdvertisement::new(&packet[40..]).unwrap();
        assert_eq!((message.lifetime_s(), message.hop_limit()), (1800, 64));
        let options: Vec<_> = Options::new(&packet[56..]).map(Result::unwrap).collect();
        let prefix = options[0].prefix().unwrap();
        assert_eq!((prefix.prefix_len(), prefix.prefix()), (64, 0x2001 << 112));
        assert_eq!(options[1].mtu(), Some(1500));
    }

    #[test]
    fn an_option_of_length_zero_or_past_the_end_spoils_the_message() {
        for bad in [&[1u8][..], &[1, 0, 0, 0, 0, 0, 0, 0], &[1, 2, 0, 0, 0, 0, 0, 0]] {
            assert!(link_address(bad, 1).is_err(), "{bad:?} was taken");
        }
    }

    proptest! {
        #[test]
        fn options_of_any_bytes_end(bytes in prop::collection::vec(0u8..6, 0..100)) {
            prop_assert!(Options::new(&bytes).count() <= 100 / 8 + 1);
        }
    }
}
