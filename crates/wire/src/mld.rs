//! MLD: which groups of IPv6 hosts listen to (RFC 2710, RFC 3810), as messages of ICMPv6.
//!
//! ```text
//!  │ type │ 0 │ checksum │ time 2 │ 0 2 │ group 16 │                               version 1, 24 octets
//!  │ 130  │ 0 │ checksum │ time 2 │ 0 2 │ group 16 │ S, QRV │ QQIC │ sources 2 │ …   a question of version 2
//!  │ 143  │ 0 │ checksum │ 0 2 │ records 2 │ kind │ more │ sources 2 │ group 16 │ … │ …
//! ```

use crate::icmp6::{self, message};
use crate::listeners::{Malformed, Message, Question, Record, Records, Told};
use std::net::{IpAddr, Ipv6Addr};

/// Octets of a message of version 1.
const LEAST: usize = 24;
/// Of a question of version 2.
const QUESTION2: usize = 28;
/// Of what is in front of records.
const HEAD: usize = 8;
/// A router is here (RFC 4286).
const ROUTER: u8 = 151;

/// Whether a type of ICMPv6 is one of this protocol's, or of a router that says that it is there.
pub const fn is_of(message_type: u8) -> bool {
    use message::{MLD_DONE, MLD_QUERY, MLD_REPORT, MLD2_REPORT};
    matches!(message_type, MLD_QUERY | MLD_REPORT | MLD_DONE | MLD2_REPORT | ROUTER)
}

/// Reads a message of ICMPv6 that [`is_of`] this protocol.
pub fn parse(bytes: &[u8], source: u128, destination: u128) -> Result<Message<'_>, Malformed> {
    let header = icmp6::Header::parse(bytes, source, destination).map_err(|_| Malformed)?;
    let one = |listens| {
        let group = group(bytes)?.filter(Ipv6Addr::is_multicast).ok_or(Malformed)?;
        let record = Record { group: group.into(), listens };
        Ok(Message::Records(Records { version: 1, said: Told::One(record) }))
    };
    match header.message_type() {
        message::MLD_QUERY => question(bytes, source, header.identifier()).map(Message::Question),
        message::MLD_REPORT => one(true),
        message::MLD_DONE => one(false),
        message::MLD2_REPORT => {
            let records = bytes.get(HEAD..).ok_or(Malformed)?;
            Records::many(2, 16, header.sequence(), records).map(Message::Records)
        }
        ROUTER => Ok(Message::Router),
        _ => Ok(Message::Other),
    }
}

/// The group of a message of version 1; none of all.
fn group(bytes: &[u8]) -> Result<Option<Ipv6Addr>, Malformed> {
    let bytes = bytes.get(HEAD..LEAST).ok_or(Malformed)?;
    let group = Ipv6Addr::from(<[u8; 16]>::try_from(bytes).map_err(|_| Malformed)?);
    Ok(Some(group).filter(|group| !group.is_unspecified()))
}

/// RFC 3810 section 8.1: the length tells the version. Questions are from the link (section
/// 5.1.14).
fn question(bytes: &[u8], source: u128, code: u16) -> Result<Question, Malformed> {
    let group = group(bytes)?;
    let is_group = group.is_none_or(|group| group.is_multicast());
    if !is_group || !crate::ipv6::is_link_local(source) {
        return Err(Malformed);
    }
    let group = group.map(IpAddr::from);
    match bytes.len() {
        LEAST => Ok(Question { group, version: 1, within_ms: code.into(), suppress: false }),
        QUESTION2.. => {
            let sources = usize::from(u16::from_be_bytes([bytes[26], bytes[27]]));
            if bytes.len() < QUESTION2 + 16 * sources {
                return Err(Malformed);
            }
            let suppress = bytes[24] & 8 != 0;
            Ok(Question { group, version: 2, within_ms: time_ms(code), suppress })
        }
        _ => Err(Malformed),
    }
}

/// A time in sixteen bits (RFC 3810 section 5.1.3): half of the codes are milliseconds, the others
/// have an exponent.
///
/// ```text
///  │ 1 │ exponent (3) │ mantissa (12) │   (mantissa | 0x1000) << (exponent + 3)
/// ```
pub fn time_ms(code: u16) -> u32 {
    match code {
        ..0x8000 => code.into(),
        _ => u32::from(code & 0x0fff | 0x1000) << ((code >> 12 & 7) + 3),
    }
}

/// What is behind the ICMPv6 header, its checksum and the time of a question of version 2: about a
/// group or all, asked again after seconds.
pub fn question_content(group: Option<Ipv6Addr>, robustness: u8, every_s: u32) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[..16].copy_from_slice(&group.unwrap_or(Ipv6Addr::UNSPECIFIED).octets());
    bytes[16] = robustness & 7;
    bytes[17] = crate::igmp::time_code(every_s);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checksum, ip::protocol};

    const LINK: u128 = 0xfe80 << 112 | 1;
    const TO: u128 = 0xff02 << 112 | 0x16;
    const GROUP: u128 = 0xff0e << 112 | 0x77;

    fn summed(head: [u8; 8], rest: &[&[u8]]) -> Vec<u8> {
        let mut bytes = [&head[..], &rest.concat()].concat();
        let pseudo = checksum::pseudo6(LINK, TO, protocol::ICMP6, bytes.len() as u32);
        let sum = pseudo.bytes(&bytes).checksum().to_be_bytes();
        bytes[2..4].copy_from_slice(&sum);
        bytes
    }

    #[test]
    fn the_length_of_a_question_tells_its_version() {
        let one = summed([130, 0, 0, 0, 0x03, 0xe8, 0, 0], &[&[0; 16]]);
        let Ok(Message::Question(it)) = parse(&one, LINK, TO) else { panic!("not read") };
        assert_eq!(it, Question { group: None, version: 1, within_ms: 1000, suppress: false });
        let group = GROUP.to_be_bytes();
        let two = summed([130, 0, 0, 0, 0x80, 0, 0, 0], &[&group, &[8, 0, 0, 0]]);
        let Ok(Message::Question(it)) = parse(&two, LINK, TO) else { panic!("not read") };
        let group = Some(IpAddr::from(Ipv6Addr::from(GROUP)));
        assert_eq!(it, Question { group, version: 2, within_ms: 0x8000, suppress: true });
        assert_eq!(parse(&two, LINK + 1, TO), Err(Malformed));
        assert_eq!(parse(&one[..23], LINK, TO), Err(Malformed));
        let lies = summed([130, 0, 0, 0, 0, 1, 0, 0], &[&[0; 16], &[0, 0, 0, 1]]);
        assert_eq!(parse(&lies, LINK, TO), Err(Malformed));
    }

    #[test]
    fn reports_say_who_listens() {
        let listens = |bytes: &[u8]| match parse(bytes, LINK, TO) {
            Ok(Message::Records(records)) => records.iter().map(|it| it.listens).collect(),
            _ => Vec::new(),
        };
        let group = GROUP.to_be_bytes();
        assert_eq!(listens(&summed([131, 0, 0, 0, 0, 0, 0, 0], &[&group])), [true]);
        assert_eq!(listens(&summed([132, 0, 0, 0, 0, 0, 0, 0], &[&group])), [false]);
        let many = [&[4, 0, 0, 0], &group[..], &[3, 0, 0, 0], &group];
        assert_eq!(listens(&summed([143, 0, 0, 0, 0, 0, 0, 2], &many)), [true, false]);
        let short = summed([143, 0, 0, 0, 0, 0, 0, 3], &many);
        assert_eq!(parse(&short, LINK, TO), Err(Malformed));
        let host = summed([131, 0, 0, 0, 0, 0, 0, 0], &[&LINK.to_be_bytes()]);
        assert_eq!(parse(&host, LINK, TO), Err(Malformed));
    }

    #[test]
    fn what_is_written_is_read() {
        let content = question_content(Some(GROUP.into()), 2, 125);
        let bytes = summed([130, 0, 0, 0, 0x03, 0xe8, 0, 0], &[&content]);
        let Ok(Message::Question(it)) = parse(&bytes, LINK, TO) else { panic!("not read") };
        assert_eq!((it.version, it.within_ms), (2, 1000));
        assert_eq!(it.group, Some(IpAddr::from(Ipv6Addr::from(GROUP))));
    }
}
