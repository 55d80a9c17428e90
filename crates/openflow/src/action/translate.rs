//! Addresses are translated, inside of `ct`.
//!
//! ```text
//!  pad 2 │ flags 2 │ what there is 2 │ addresses, first and last │ ports, first and last
//! ```

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::{Machine, Nat};
use crate::version::Version;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Translate {
    /// How.
    pub nat: Nat,
}

impl Kind for Translate {
    const CODES: &'static [Code] = &[Code::Nicira(36)];

    fn decode(_: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        body.skip(2)?;
        let (flags, there) = (body.u16()?, body.u16()?);
        let has = |bit: u16| there >> bit & 1 != 0;
        if has(1) && !has(0) || has(3) && !has(2) || has(5) && !has(4) || has(0) && has(2) {
            return Err(Fault::BadArgument);
        }
        let mut nat = Nat { flags, ..Nat::default() };
        if has(0) {
            nat.ip4 = Some((body.u32()?, if has(1) { Some(body.u32()?) } else { None }));
        }
        if has(2) {
            let first = body.number(16)?;
            nat.ip6 = Some((first, if has(3) { Some(body.number(16)?) } else { None }));
        }
        if has(4) {
            nat.ports = Some((body.u16()?, if has(5) { Some(body.u16()?) } else { None }));
        }
        Ok(Self { nat })
    }

    fn check(&self) -> Result<(), Fault> {
        let Nat { flags, ip4, ip6, ports } = self.nat;
        let has_range = ip4.is_some() || ip6.is_some() || ports.is_some();
        let is_upside_down = ip4.is_some_and(|(first, last)| last.is_some_and(|it| it < first))
            || ip6.is_some_and(|(first, last)| last.is_some_and(|it| it < first))
            || ports.is_some_and(|(first, last)| last.is_some_and(|it| it < first));
        let is_bad = flags & !0x1f != 0
            || flags & 3 == 3
            || flags & 3 == 0 && has_range
            || flags & 0x18 == 0x18
            || is_upside_down;
        if is_bad { Err(Fault::BadArgument) } else { Ok(()) }
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        let Nat { flags, ip4, ip6, ports } = self.nat;
        let bits =
            |first: bool, last: bool, at: u16| u16::from(first) << at | u16::from(last) << (at + 1);
        nicira(36, out, |out| {
            out.u16(0);
            out.u16(flags);
            let there = bits(ip4.is_some(), ip4.is_some_and(|it| it.1.is_some()), 0)
                | bits(ip6.is_some(), ip6.is_some_and(|it| it.1.is_some()), 2)
                | bits(ports.is_some(), ports.is_some_and(|it| it.1.is_some()), 4);
            out.u16(there);
            ip4.iter().flat_map(|it| [Some(it.0), it.1]).flatten().for_each(|it| out.u32(it));
            ip6.iter()
                .flat_map(|it| [Some(it.0), it.1])
                .flatten()
                .for_each(|it| out.number(it, 16));
            ports.iter().flat_map(|it| [Some(it.0), it.1]).flatten().for_each(|it| out.u16(it));
        });
    }

    /// Nothing by itself: `ct` looks at it.
    fn run(&self, _: &mut dyn Machine) {}
}
