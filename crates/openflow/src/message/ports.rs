//! Ports: what they are, what they counted, and their settings.

use super::{Kind, message};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::port::{self, PortNumber};
use crate::version::Version;

/// Settings of ports.
pub mod config {
    /// Administratively down.
    pub const PORT_DOWN: u32 = 1;
    /// What it receives is dropped.
    pub const NO_RECV: u32 = 1 << 2;
    /// Floods leave it out. 1.0 alone knows it.
    pub const NO_FLOOD: u32 = 1 << 4;
    /// Nothing is sent to it.
    pub const NO_FWD: u32 = 1 << 5;
    /// Its packets go to no controller.
    pub const NO_PACKET_IN: u32 = 1 << 6;
    /// All that are there in 1.0, and later.
    pub(crate) const OLD: u32 = 0x7f;
    /// See above.
    pub(crate) const NEW: u32 = PORT_DOWN | NO_RECV | NO_FWD | NO_PACKET_IN;
}

/// States of ports.
pub mod state {
    /// There is no link.
    pub const LINK_DOWN: u32 = 1;
    /// It can be sent to.
    pub const LIVE: u32 = 1 << 2;
}

/// A port.
#[derive(Clone, Debug)]
pub struct PortDesc {
    /// Its number.
    pub number: PortNumber,
    /// Its address.
    pub mac: [u8; 6],
    /// Its name.
    pub name: String,
    /// See [`config`].
    pub config: u32,
    /// See [`state`].
    pub state: u32,
    /// Its speed in kbit/s, if that is known.
    pub speed_kbps: u32,
}

/// Bits for speeds: of a port's features.
fn speed_bit(kbps: u32) -> u32 {
    match kbps {
        10_000 => 1 << 1,
        100_000 => 1 << 3,
        1_000_000 => 1 << 5,
        10_000_000 => 1 << 6,
        _ => 0,
    }
}

impl PortDesc {
    /// Writes it.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        let start = out.len();
        let current = speed_bit(self.speed_kbps);
        match version {
            Version::V10 => {
                out.u16(self.number);
                out.extend(self.mac);
                out.text(&self.name, 16);
                out.u32(self.config & config::OLD);
                out.u32(self.state & state::LINK_DOWN);
                out.u32s(&[current, 0, 0, 0]);
                return;
            }
            Version::V13 => {
                out.u32(port::to_32(self.number));
                out.u32(0);
            }
            _ => {
                out.u32(port::to_32(self.number));
                out.u16(0);
                out.u16(0);
            }
        }
        out.extend(self.mac);
        out.zeros(2);
        out.text(&self.name, 16);
        out.u32(self.config & config::NEW);
        out.u32(self.state);
        if version >= Version::V14 {
            out.u16(0);
            out.u16(32);
            out.u32(0);
        }
        out.u32s(&[current, 0, 0, 0, self.speed_kbps, self.speed_kbps]);
        if version >= Version::V14 {
            out.set_length(start, 4);
        }
    }
}

/// A port came (0), went (1) or changed (2).
pub fn port_status(version: Version, reason: u8, port: &PortDesc) -> Vec<u8> {
    let mut body = Writer::new();
    body.u8(reason);
    body.zeros(7);
    port.encode(version, &mut body);
    message(version, Kind::PortStatus, 0, &body)
}

/// What a port counted; of what is not known all bits are set.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub struct PortStats {
    pub number: PortNumber,
    pub rx_packets: u64,
    pub tx_packets: u64,
    pub rx_bytes: u64,
    pub tx_bytes: u64,
    pub rx_dropped: u64,
    pub tx_dropped: u64,
    pub rx_errors: u64,
    pub tx_errors: u64,
    pub age: std::time::Duration,
}

impl PortStats {
    /// Writes it.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        let start = out.len();
        let eight = [
            self.rx_packets,
            self.tx_packets,
            self.rx_bytes,
            self.tx_bytes,
            self.rx_dropped,
            self.tx_dropped,
            self.rx_errors,
            self.tx_errors,
        ];
        // Frame errors, overruns, checksums, collisions.
        let four = [u64::MAX; 4];
        match version {
            Version::V10 => {
                out.u16(self.number);
                out.zeros(6);
            }
            Version::V13 => {
                out.u32(port::to_32(self.number));
                out.u32(0);
            }
            _ => {
                out.zeros(4);
                out.u32(port::to_32(self.number));
                super::flow_stats::put_duration(self.age, out);
                out.u64s(&eight);
                out.u16(0);
                out.u16(40);
                out.u32(0);
                out.u64s(&four);
                out.set_length(start, 0);
                return;
            }
        }
        eight.into_iter().chain(four).for_each(|it| out.u64(it));
        if version == Version::V13 {
            super::flow_stats::put_duration(self.age, out);
        }
    }
}

/// What a queue of a port counted.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the standard's own names")]
pub struct QueueStats {
    pub port: PortNumber,
    pub queue: u32,
    pub tx_packets: u64,
    pub tx_bytes: u64,
    pub tx_errors: u64,
    pub age: std::time::Duration,
}

impl QueueStats {
    /// Writes it.
    pub fn encode(&self, version: Version, out: &mut Writer) {
        match version {
            Version::V10 => {
                out.u16(self.port);
                out.u16(0);
                out.u32(self.queue);
            }
            _ => {
                if version >= Version::V14 {
                    out.u16(48);
                    out.zeros(6);
                }
                out.u32(port::to_32(self.port));
                out.u32(self.queue);
            }
        }
        out.u64s(&[self.tx_bytes, self.tx_packets, self.tx_errors]);
        if version > Version::V10 {
            super::flow_stats::put_duration(self.age, out);
        }
    }
}

/// Other settings of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortMod {
    /// Which.
    pub number: PortNumber,
    /// Its address, for proof.
    pub mac: [u8; 6],
    /// The settings, see [`config`].
    pub config: u32,
    /// Which of them change.
    pub mask: u32,
}

impl PortMod {
    pub(super) fn decode(version: Version, body: &mut Reader<'_>) -> Result<Self, Fault> {
        if version == Version::V10 {
            let (number, mac) = (body.u16()?, body.mac()?);
            let (config, mask) = (body.u32()?, body.u32()?);
            body.skip(8)?;
            return Ok(Self { number, mac, config, mask: mask & config::OLD });
        }
        let number = port::from_32(body.u32()?).ok_or(Fault::PortModBadPort)?;
        body.skip(4)?;
        let mac = body.mac()?;
        body.skip(2)?;
        let (config, mask) = (body.u32()?, body.u32()?);
        // What it advertises is the driver's.
        body.skip(if version == Version::V13 { 8 } else { body.len() })?;
        Ok(Self { number, mac, config, mask: mask & config::NEW })
    }
}
