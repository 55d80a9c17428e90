//! IGMP: which groups of IPv4 hosts listen to (RFC 1112, RFC 2236, RFC 3376), and routers that say
//! that they are there (RFC 4286).
//!
//! ```text
//!  │ type │ time │ checksum │ group 4 │                                     versions 1 and 2, 8 octets
//!  │ 0x11 │ time │ checksum │ group 4 │ S, QRV │ QQIC │ sources 2 │ …        a question of version 3
//!  │ 0x22 │  0   │ checksum │ 0 2 │ records 2 │ kind │ more │ sources 2 │ group 4 │ … │ …
//! ```

use crate::checksum;
use crate::listeners::{Malformed, Message, Question, Record, Records, Told};
use std::net::{IpAddr, Ipv4Addr};

/// Types of messages.
pub mod message {
    /// Who listens?
    pub const QUESTION: u8 = 0x11;
    /// I listen, version 1.
    pub const REPORT1: u8 = 0x12;
    /// I listen, version 2.
    pub const REPORT2: u8 = 0x16;
    /// I no longer do.
    pub const LEAVE: u8 = 0x17;
    /// What I listen to, version 3.
    pub const REPORT3: u8 = 0x22;
    /// A router is here (RFC 4286).
    pub const ROUTER: u8 = 0x30;
}

/// Octets of a message of the first two versions.
const LEAST: usize = 8;
/// Of a question of the third.
const QUESTION3: usize = 12;
/// Where routers that forward groups listen to reports of version 3.
pub const REPORTS_TO: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 22);
/// All hosts.
pub const ALL_HOSTS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);

/// Reads a message: the whole content of an IPv4 packet.
pub fn parse(bytes: &[u8]) -> Result<Message<'_>, Malformed> {
    let head = bytes.first_chunk::<LEAST>().ok_or(Malformed)?;
    if !checksum::is_valid(bytes) {
        return Err(Malformed);
    }
    let group = Ipv4Addr::new(head[4], head[5], head[6], head[7]);
    let one = |version, listens| {
        let record = Record { group: group.into(), listens };
        let records = Records { version, said: Told::One(record) };
        group.is_multicast().then_some(Message::Records(records)).ok_or(Malformed)
    };
    match head[0] {
        message::QUESTION => question(bytes, head[1], group).map(Message::Question),
        message::REPORT1 => one(1, true),
        message::REPORT2 => one(2, true),
        message::LEAVE => one(2, false),
        message::REPORT3 => {
            let count = u16::from_be_bytes([head[6], head[7]]);
            Records::many(3, 4, count, &bytes[LEAST..]).map(Message::Records)
        }
        message::ROUTER => Ok(Message::Router),
        _ => Ok(Message::Other),
    }
}

/// RFC 3376 section 7.1: the length tells the version.
fn question(bytes: &[u8], code: u8, group: Ipv4Addr) -> Result<Question, Malformed> {
    let group = match group {
        Ipv4Addr::UNSPECIFIED => None,
        group if group.is_multicast() => Some(IpAddr::from(group)),
        _ => return Err(Malformed),
    };
    let (version, within_ms, suppress) = match (bytes.len(), code) {
        (LEAST, 0) => (1, 10_000, false),
        (LEAST, tenths) => (2, u32::from(tenths) * 100, false),
        (QUESTION3.., _) => {
            let sources = usize::from(u16::from_be_bytes([bytes[10], bytes[11]]));
            if bytes.len() < QUESTION3 + 4 * sources {
                return Err(Malformed);
            }
            (3, time(code) * 100, bytes[8] & 8 != 0)
        }
        _ => return Err(Malformed),
    };
    Ok(Question { group, version, within_ms, suppress })
}

/// A time in eight bits (RFC 3376 section 4.1.1): small ones are themselves, the others have an
/// exponent.
///
/// ```text
///  │ 1 │ exponent (3) │ mantissa (4) │   (mantissa | 0x10) << (exponent + 3)
/// ```
pub fn time(code: u8) -> u32 {
    match code {
        ..0x80 => code.into(),
        _ => u32::from(code & 0x0f | 0x10) << ((code >> 4 & 7) + 3),
    }
}

/// The code of the longest time that is no longer than `units`.
pub fn time_code(units: u32) -> u8 {
    (0..=u8::MAX).rev().find(|code| time(*code) <= units).unwrap_or(0)
}

/// A question of version 3, checksum and all: about a group or all, answered within tenths of a
/// second, asked again after seconds.
pub fn write_question(
    group: Option<Ipv4Addr>,
    tenths: u32,
    robustness: u8,
    every_s: u32,
) -> [u8; 12] {
    let [a, b, c, d] = group.unwrap_or(Ipv4Addr::UNSPECIFIED).octets();
    let (time, every) = (time_code(tenths).max(1), time_code(every_s));
    let mut bytes = [message::QUESTION, time, 0, 0, a, b, c, d, robustness & 7, every, 0, 0];
    let sum = checksum::of(&bytes).to_be_bytes();
    bytes[2..4].copy_from_slice(&sum);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summed(bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let sum = checksum::of(&bytes).to_be_bytes();
        bytes[2..4].copy_from_slice(&sum);
        bytes
    }

    fn question_of(bytes: &[u8]) -> Question {
        match parse(&summed(bytes)) {
            Ok(Message::Question(question)) => question,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_length_of_a_question_tells_its_version() {
        let all =
            |version, within_ms| Question { group: None, version, within_ms, suppress: false };
        assert_eq!(question_of(&[0x11, 0, 0, 0, 0, 0, 0, 0]), all(1, 10_000));
        assert_eq!(question_of(&[0x11, 100, 0, 0, 0, 0, 0, 0]), all(2, 10_000));
        let three = question_of(&[0x11, 0x8a, 0, 0, 239, 0, 0, 9, 8, 0, 0, 0]);
        let group = Some(IpAddr::from([239, 0, 0, 9]));
        assert_eq!(three, Question { group, version: 3, within_ms: 20_800, suppress: true });
        for wrong in [
            &[0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &[0x11, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1][..],
            &[0x11, 1, 0, 0, 10, 0, 0, 1][..],
        ] {
            assert_eq!(parse(&summed(wrong)), Err(Malformed), "{wrong:?}");
        }
    }

    #[test]
    fn records_say_who_listens() {
        let report = summed(&[
            0x22, 0, 0, 0, 0, 0, 0, 5, // five records
            4, 0, 0, 0, 239, 0, 0, 1, // excludes nobody
            3, 1, 0, 0, 239, 0, 0, 2, 9, 9, 9, 9, // includes nobody; more behind it
            1, 0, 0, 1, 239, 0, 0, 3, 10, 0, 0, 1, // includes one
            6, 0, 0, 1, 239, 0, 0, 4, 10, 0, 0, 1, // blocks one
            99, 0, 0, 0, 239, 0, 0, 5,    // nobody knows
            0xaa, // beyond the records
        ]);
        let Ok(Message::Records(records)) = parse(&report) else { panic!("not read") };
        let all: Vec<_> = records.iter().map(|it| (it.group.to_string(), it.listens)).collect();
        let expected = [("239.0.0.1", true), ("239.0.0.2", false), ("239.0.0.3", true)];
        assert_eq!(all, expected.map(|(group, listens)| (group.to_owned(), listens)));
        assert_eq!(records.version, 3);
    }

    #[test]
    fn what_is_short_or_not_of_a_group_is_malformed() {
        for wrong in [
            &[0x16, 0, 0, 0, 10, 0, 0, 1][..],
            &[0x17, 0, 0, 0, 0, 0, 0, 0][..],
            &[0x22, 0, 0, 0, 0, 0, 0, 1][..],
            &[0x22, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 1, 239, 0, 0, 1][..],
            &[0x22, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 10, 0, 0, 1][..],
            &[0x22, 0, 0, 0, 0, 0, 0xff, 0xff, 4, 0, 0, 0, 239, 0, 0, 1][..],
        ] {
            assert_eq!(parse(&summed(wrong)), Err(Malformed), "{wrong:?}");
        }
        let mut spoiled = summed(&[0x16, 0, 0, 0, 239, 0, 0, 1]);
        assert!(parse(&spoiled).is_ok());
        spoiled[7] = 2;
        assert_eq!(parse(&spoiled), Err(Malformed));
        assert_eq!(parse(&summed(&[0x13, 0, 0, 0, 0, 0, 0, 0])), Ok(Message::Other));
    }

    #[test]
    fn what_is_written_is_read() {
        let asked = write_question(Some(Ipv4Addr::new(239, 1, 2, 3)), 10, 2, 125);
        let Ok(Message::Question(question)) = parse(&asked) else { panic!("not read") };
        assert_eq!((question.version, question.within_ms), (3, 1000));
        assert_eq!(question.group, Some(IpAddr::from([239, 1, 2, 3])));
        assert_eq!((asked[8], asked[9]), (2, 125));
        assert_eq!(
            (time_code(0), time_code(127), time_code(129), time_code(u32::MAX)),
            (0, 127, 128, 255)
        );
    }
}
