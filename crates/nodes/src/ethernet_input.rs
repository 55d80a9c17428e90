//! Reads the Ethernet header: is the frame for us, and which protocol is inside?
//!
//! ```text
//!  ethernet_input ─▶ whoever attached itself to the ethertype (key: the ethertype)
//! ```
//! IEEE 802.3: 14 bytes; a frame for another station's MAC is not for a routed interface.

use crate::plumbing::{Interface, Interfaces, Setup};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::ethernet::{self, ethertype};

/// See the module.
pub struct EthernetInput {
    interfaces: Published<Interfaces>,
    /// The exit of each attached ethertype. Few: looked through in order, IPv4 first.
    by_ethertype: Vec<(u16, ExitIndex)>,
}

graph::exits! {
    /// What becomes of a frame that no protocol gets.
    pub enum Exit {
        /// Shorter than an Ethernet header.
        Runt => drop,
        /// To another station's MAC address.
        NotForUs => drop,
        /// A protocol that the router does not speak.
        UnknownEthertype => drop,
        /// A VLAN tag, and no interface for it.
        UnknownVlan => drop,
        /// An IEEE 802.3 length where the ethertype should be: an LLC frame.
        LlcFrame => drop,
    }
}

impl Node for EthernetInput {
    const NAME: &'static str = "ethernet-input";
    const ABOUT: &'static str = "reads the Ethernet header of frames for us";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { interfaces: setup.shared.interfaces.clone(), by_ethertype: Vec::new() }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.by_ethertype.push((key as u16, exit));
        self.by_ethertype.sort_by_key(|&(ethertype, _)| ethertype);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut rx = frame.rx()[0];
        let mut our_mac = mac_word(interfaces.get(rx));
        exits.each(frame, |packet| {
            if packet.rx() != rx {
                rx = packet.rx();
                our_mac = mac_word(interfaces.get(rx));
            }
            self.classify(packet, our_mac)
        });
    }
}

impl EthernetInput {
    #[inline(always)]
    fn classify(&self, packet: &mut PacketView<'_>, our_mac: u64) -> ExitIndex {
        let Some(header) = packet.header().first_chunk::<{ ethernet::Header::LEN }>() else {
            return Exit::Runt.into();
        };
        let to = destination_word(header);
        // The group bit is the lowest of the first byte (IEEE 802.3 section 3.2.3).
        if to != our_mac && header[0] & 1 == 0 {
            return Exit::NotForUs.into();
        }
        let ethertype = u16::from_be_bytes([header[12], header[13]]);
        packet.advance(ethernet::Header::LEN);
        match self.by_ethertype.iter().find(|&&(known, _)| known == ethertype) {
            Some(&(_, exit)) => exit,
            None => unknown(ethertype).into(),
        }
    }
}

#[cold]
fn unknown(ethertype: u16) -> Exit {
    match ethertype {
        ethertype::VLAN | ethertype::QINQ | ethertype::QINQ_OLD => Exit::UnknownVlan,
        length if length < ethertype::FIRST => Exit::LlcFrame,
        _ => Exit::UnknownEthertype,
    }
}

/// The destination MAC as one word, in the machine's own byte order: only compared.
#[inline(always)]
fn destination_word(header: &[u8; 14]) -> u64 {
    let [a, b, c, d, e, f, ..] = *header;
    u64::from_ne_bytes([a, b, c, d, e, f, 0, 0])
}

/// The interface's own MAC in the same form; of no interface, one that no frame can match.
fn mac_word(interface: Option<&Interface>) -> u64 {
    let Some(interface) = interface else { return u64::MAX };
    let [a, b, c, d, e, f] = interface.mac;
    u64::from_ne_bytes([a, b, c, d, e, f, 0, 0])
}
