//! The short way of IP packets that nothing is to be said about: a vector of which each is for us,
//! is good, has hops left and leaves as it is by a next hop that is known, is forwarded at once.
//!
//! ```text
//!                    all of them    ┌──────────────── express ────────────────┐
//!  (an entrance) ─▶ ip_express ─────┤ header, checks, lookup, hops, new header ├─▶ interface_output
//!                       │           └─────────────────────────────────────────┘
//!                       ├─ of both families ─▶ ip4_express, ip6_express ─▶  the same, or
//!                       └─ else ─▶ ethernet_input ─▶ ip4_input ─▶ ip4_lookup ─▶ ip4_rewrite ─▶  ″
//! ```
//! Where one of them is not such, none is changed, and all take the ordinary way, which alone knows
//! what becomes of each: nothing is decided here that is not decided there, and both do the same to
//! a packet, octet for octet (`tests/graph/express.rs`). After a vector that was looked at in vain
//! some take the ordinary way unseen, the more the more often that happens.
//!
//! Nothing is forwarded here while packets are captured on this worker, or chosen to be traced, or
//! led by a policy.

use super::ByPolicy;
use super::express::{Express, Ip4, Ip6, Tried};
use crate::tables::Setup;
use graph::{Context, Exits, Node};
use packet::Frame;
use wire::ethernet::{self, ethertype};

/// See the module.
pub struct IpExpress {
    ip4: Express<Ip4>,
    ip6: Express<Ip6>,
    /// The last vector was of both families, or of others.
    expects_mix: bool,
    policy: ByPolicy,
}

graph::exits! {
    /// The way of a vector, or of a packet among others.
    pub enum Exit {
        /// All are forwarded.
        Output => node "interface-output",
        /// To be looked at one by one.
        Ordinary => node "ethernet-input",
        /// IPv4, among others.
        Ip4 => node "ip4-express",
        /// IPv6, among others.
        Ip6 => node "ip6-express",
    }
}

impl Node for IpExpress {
    const NAME: &'static str = "ip-express";
    const ABOUT: &'static str = "forwards whole vectors of plain IP packets";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            ip4: Express::new(setup),
            ip6: Express::new(setup),
            expects_mix: false,
            policy: ByPolicy::new(setup),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        if context.is_observed || frame.is_traced() || self.policy.is_on() {
            return exits.all(Exit::Ordinary);
        }
        let tried = match self.expects_mix {
            true => Tried::Mixed,
            false => self.forward(frame, &mut exits.bytes().0, context),
        };
        match tried {
            Tried::Done => exits.all(Exit::Output),
            Tried::Mixed => self.part(frame, exits),
            Tried::InVain => exits.all(Exit::Ordinary),
        }
    }
}

impl IpExpress {
    #[inline(always)]
    fn forward(&mut self, frame: &mut Frame, kinds: &mut [u8], context: &Context<'_>) -> Tried {
        let first = ethernet::Header::new(frame.view(0).header()).map(|it| it.ethertype());
        match first {
            Some(ethertype::IPV4) => self.ip4.forward(frame, kinds, context),
            Some(ethertype::IPV6) => self.ip6.forward(frame, kinds, context),
            _ if frame.len() > 1 => Tried::Mixed,
            _ => Tried::InVain,
        }
    }

    /// Parts the families.
    #[inline(never)]
    fn part(&mut self, frame: &Frame, exits: &mut Exits<'_, Exit>) {
        /// From here on eight octets are in a link header; the last two are the ethertype.
        const AT: usize = ethernet::Header::LEN - 8;
        let (mut first, mut differ) = (None, false);
        let are_whole = frame.each_word(AT, |slot, word| {
            let ethertype = word as u16;
            differ |= *first.get_or_insert(ethertype) != ethertype;
            exits.set(
                slot,
                match ethertype {
                    ethertype::IPV4 => Exit::Ip4,
                    ethertype::IPV6 => Exit::Ip6,
                    _ => Exit::Ordinary,
                },
            );
        });
        self.expects_mix = are_whole && differ;
        if !are_whole {
            exits.all(Exit::Ordinary);
        }
    }
}
