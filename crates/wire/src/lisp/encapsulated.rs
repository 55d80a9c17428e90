//! A message in a packet of endpoints in a message: how requests travel by way of the mapping
//! system (RFC 9301, 5.8).
//!
//! ```text
//!  │ 8 │ S D │ reserved 4 octets │ IP: asked by, asked for │ UDP, to 4342 │ the request
//! ```

use std::net::IpAddr;

use super::cursor::Cursor;
use super::message::kind;
use crate::ip::{self, protocol};
use crate::udp::{self, port};
use crate::{Error, craft, ipv4, ipv6};

/// S: there is authentication between, which nobody here speaks.
const SECURED: u8 = 0x08;
/// Octets in front of the packet inside.
const HEAD_BYTES: usize = 4;

/// A message in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encapsulated<'a> {
    /// Who it says that it is from.
    pub source: IpAddr,
    /// The port that an answer goes to.
    pub source_port: u16,
    /// The message.
    pub message: &'a [u8],
}

impl<'a> Encapsulated<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = Cursor(bytes);
        let [first, ..] = cursor.u32("LISP encapsulated message")?.to_be_bytes();
        if first & SECURED != 0 {
            return Err(Error::field("LISP encapsulated message", first, "no authentication"));
        }
        let packet = cursor.0;
        let (source, protocol, inside) = match ip::version(packet) {
            4 => {
                let packet = ipv4::Packet::parse(packet)?;
                (packet.header.source_addr().into(), packet.header.protocol(), packet.payload)
            }
            _ => {
                let packet = ipv6::Packet::parse(packet)?;
                (packet.header.source_addr().into(), packet.header.next_header(), packet.payload)
            }
        };
        if protocol != protocol::UDP {
            return Err(Error::field("protocol of a LISP message", protocol, "17, UDP"));
        }
        let datagram = udp::Datagram::parse(inside)?;
        let to = datagram.header.destination_port();
        if to != port::LISP_CONTROL {
            return Err(Error::field("port of a LISP message", to, "4342"));
        }
        Ok(Self { source, source_port: datagram.header.source_port(), message: datagram.payload })
    }
}

/// The octets of a message in a packet from one address to another of its family; between two of
/// different ones the packet is from nobody.
pub fn encapsulate(source: IpAddr, source_port: u16, to: IpAddr, message: &[u8]) -> Vec<u8> {
    let packet = match to {
        IpAddr::V4(to) => {
            let source = if let IpAddr::V4(source) = source { source } else { 0.into() };
            let packet = craft::ipv4(source, to).udp(source_port, port::LISP_CONTROL);
            packet.payload(message).build()
        }
        IpAddr::V6(to) => {
            let source = if let IpAddr::V6(source) = source { source } else { 0.into() };
            let packet = craft::ipv6(source, to).udp(source_port, port::LISP_CONTROL);
            packet.payload(message).build()
        }
    };
    let mut out = vec![0; HEAD_BYTES];
    out[0] = kind::ENCAPSULATED << 4;
    out.extend(packet);
    out
}
