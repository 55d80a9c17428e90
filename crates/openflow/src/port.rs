//! Numbers of ports: real ones, and those with a meaning of their own.

/// A port of a bridge, or one of the numbers with a meaning of their own: as OpenFlow 1.0 has
/// them, 16 bits.
pub type PortNumber = u16;

/// The highest number of a real port.
pub const MAX_PORT: PortNumber = 0xfeff;
/// Where it came in.
pub const IN_PORT: PortNumber = 0xfff8;
/// To the tables, of a packet that a controller sends.
pub const TABLE: PortNumber = 0xfff9;
/// As an ordinary bridge would.
pub const NORMAL: PortNumber = 0xfffa;
/// All ports that flood.
pub const FLOOD: PortNumber = 0xfffb;
/// All ports.
pub const ALL: PortNumber = 0xfffc;
/// To the controllers.
pub const CONTROLLER: PortNumber = 0xfffd;
/// The bridge's own port.
pub const LOCAL: PortNumber = 0xfffe;
/// None, or any.
pub const NONE: PortNumber = 0xffff;

/// Numbers of 32 bits from 1.1 on: reserved ones keep their lowest 16.
pub(crate) fn from_32(number: u32) -> Option<PortNumber> {
    match number {
        0..=0xfeff | 0xffff_ff00.. => Some(number as u16),
        _ => None,
    }
}

/// The same the other way.
pub(crate) fn to_32(number: PortNumber) -> u32 {
    if number >= 0xff00 { 0xffff_0000 | u32::from(number) } else { number.into() }
}
