//! Some packets are noted for collectors of IPFIX: `sample`, of Open vSwitch's.
//!
//! ```text
//!  29      │ probability 2 │ set 4 │ domain 4 │ point 4
//!  38, 41  │ probability 2 │ set 4 │ domain 4 │ point 4 │ port 2 │ direction 1, or 0 │ 0 …
//! ```

use super::{Code, Kind, nicira};
use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::port::{self, PortNumber};
use crate::version::Version;

/// By which of its names it was said, and is said again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Form {
    /// Without a port.
    First = 29,
    /// With one.
    Second = 38,
    /// With a direction.
    Third = 41,
}

/// What collectors are told of the way of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// What the port says: it leaves, if there is one that it did not come in by.
    Unsaid,
    /// It comes in.
    Ingress,
    /// It leaves.
    Egress,
}

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sample {
    /// So many of 65,535 packets.
    pub probability: u16,
    /// Which collectors: a number of the bridge's configuration.
    pub set: u32,
    /// The observation domain that they are told.
    pub domain: u32,
    /// The observation point.
    pub point: u32,
    /// The port where it is seen; `NONE`: where it came in.
    pub port: PortNumber,
    /// Its way there.
    pub direction: Direction,
    /// How it is said.
    pub form: Form,
}

impl Kind for Sample {
    const CODES: &'static [Code] = &[Code::Nicira(29), Code::Nicira(38), Code::Nicira(41)];

    fn decode(code: Code, body: &mut Reader<'_>, _: Version) -> Result<Self, Fault> {
        let form = match code {
            Code::Nicira(29) => Form::First,
            Code::Nicira(38) => Form::Second,
            _ => Form::Third,
        };
        let probability = body.u16()?;
        let (set, domain, point) = (body.u32()?, body.u32()?, body.u32()?);
        let (mut port, mut direction) = (port::NONE, Direction::Unsaid);
        if form != Form::First {
            port = body.u16()?;
            let said = body.u8()?;
            // The second has nothing there that anybody looks at.
            if form == Form::Third {
                if body.take(5)?.iter().any(|byte| *byte != 0) {
                    return Err(Fault::MustBeZero);
                }
                direction = match said {
                    0 => Direction::Unsaid,
                    1 => Direction::Ingress,
                    2 => Direction::Egress,
                    _ => return Err(Fault::BadArgument),
                };
            } else {
                body.skip(5)?;
            }
        }
        if !body.is_empty() {
            return Err(Fault::BadActionLength);
        }
        Ok(Self { probability, set, domain, point, port, direction, form })
    }

    fn check(&self) -> Result<(), Fault> {
        if self.probability == 0 { Err(Fault::BadArgument) } else { Ok(()) }
    }

    fn encode(&self, _: Version, out: &mut Writer) {
        let form = if self.direction != Direction::Unsaid {
            Form::Third
        } else if self.port != port::NONE {
            self.form.max(Form::Second)
        } else {
            self.form
        };
        nicira(form as u16, out, |out| {
            out.u16(self.probability);
            out.u32s(&[self.set, self.domain, self.point]);
            if form != Form::First {
                out.u16(self.port);
                out.u8(match self.direction {
                    Direction::Unsaid => 0,
                    Direction::Ingress => 1,
                    Direction::Egress => 2,
                });
                out.zeros(5);
            }
        });
    }

    fn run(&self, machine: &mut dyn Machine) {
        machine.sample(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{Action, decode_list, encode_list};

    const BODY: [u8; 14] = [0x19, 0x9a, 0, 0, 0, 7, 0, 0, 0, 9, 0xff, 0, 0, 1];
    const TOLD: &str =
        "probability=6554,collector_set_id=7,obs_domain_id=9,obs_point_id=4278190081";

    /// An action of these bytes behind its name.
    fn bytes(subtype: u16, rest: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xff, 0xff, 0, 10 + 14 + rest.len() as u8, 0, 0, 0x23, 0x20];
        bytes.extend(subtype.to_be_bytes());
        bytes.extend(BODY);
        bytes.extend(rest);
        bytes
    }

    fn read(bytes: &[u8], version: Version) -> Result<Vec<Action>, Fault> {
        decode_list(&mut Reader::new(bytes, Fault::BadLength), version)
    }

    /// As `ovs-ofctl` 3.1 writes them, in every version.
    #[test]
    fn each_form_is_read_written_and_told_as_open_vswitch_does() {
        for version in Version::ALL {
            for (subtype, rest, told) in [
                (29, &[][..], ""),
                (38, &[0, 5, 0, 0, 0, 0, 0, 0], ",sampling_port=5"),
                (41, &[0, 5, 1, 0, 0, 0, 0, 0], ",sampling_port=5,ingress"),
                (41, &[0xff, 0xfe, 2, 0, 0, 0, 0, 0], ",sampling_port=LOCAL,egress"),
                (41, &[0xff, 0xff, 0, 0, 0, 0, 0, 0], ""),
            ] {
                let bytes = bytes(subtype, rest);
                let list = read(&bytes, version).unwrap();
                assert_eq!(list[0].to_string(), format!("sample({TOLD}{told})"));
                let mut again = Vec::new();
                encode_list(&list, version, &mut again);
                assert_eq!(again, bytes);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told_as_open_vswitch_tells_it() {
        let wrong = |bytes: Vec<u8>| read(&bytes, Version::V13).unwrap_err();
        let mut never = bytes(29, &[]);
        never[10..12].fill(0);
        assert_eq!(wrong(never), Fault::BadArgument);
        let third = |direction: u8, last: u8| bytes(41, &[0, 5, direction, 0, 0, 0, 0, last]);
        assert_eq!(wrong(third(3, 0)), Fault::BadArgument);
        assert_eq!(wrong(third(1, 1)), Fault::MustBeZero);
        assert_eq!(wrong(bytes(29, &[0; 8])), Fault::BadActionLength);
        assert_eq!(wrong(bytes(38, &[])), Fault::BadActionLength);
    }
}
