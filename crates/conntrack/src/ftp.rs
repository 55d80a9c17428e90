//! What the two ends of FTP tell each other about connections to come (RFC 959 section 4.1.2,
//! RFC 2428), as one reads it who stands between them.
//!
//! ```text
//!  PORT 10,0,0,1,4,210        227 … (10,0,0,2,4,210)           over IPv4
//!  EPRT |2|2001:db8::1|1234|  229 … EXTENDED PASSIVE (|||1234|)  over IPv6
//! ```
//! A line that is not there whole is none of these: whoever splits it has no second connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

/// Octets that such a line has at most.
const LONGEST: usize = 128;

/// Where somebody waits for a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// The address, and where in the segment it is said; none is said where it is the sender's.
    pub address: Option<(IpAddr, Range<usize>)>,
    /// The port.
    pub port: u16,
}

/// What a segment says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// Where its sender waits.
    Waits(Told),
    /// That it waits, in words that nobody understands.
    Broken,
    /// Anything else.
    Other,
}

/// Reads what a client sends, or a server.
pub fn read(segment: &[u8], is_client: bool, is_ip6: bool) -> Said {
    let line = &segment[..segment.len().min(LONGEST)];
    let begins =
        |word: &[u8]| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let told = match (is_client, is_ip6) {
        (true, false) if begins(b"PORT ") => old(line, 5),
        (false, false) if begins(b"227 ") => old(line, 4),
        (true, true) if begins(b"EPRT ") => extended(line, 5),
        (false, true) if begins(b"229 ") => passive(line),
        _ => return Said::Other,
    };
    told.map_or(Said::Broken, Said::Waits)
}

/// The digits from a place on, and where they end.
fn number(line: &[u8], at: usize) -> Option<(u32, usize)> {
    let digits = line.get(at..)?.iter().take_while(|it| it.is_ascii_digit()).count();
    if !(1..=5).contains(&digits) {
        return None;
    }
    let value = line[at..at + digits].iter().fold(0, |sum, it| sum * 10 + u32::from(it - b'0'));
    Some((value, at + digits))
}

/// Where the first digit is, from a place on.
fn digit(line: &[u8], from: usize) -> Option<usize> {
    Some(from + line.get(from..)?.iter().position(u8::is_ascii_digit)?)
}

/// Six octets with commas between them.
fn old(line: &[u8], from: usize) -> Option<Told> {
    let start = digit(line, from)?;
    let (mut octets, mut at, mut end) = ([0; 6], start, start);
    for (nth, octet) in octets.iter_mut().enumerate() {
        if nth > 0 {
            at = (line.get(at) == Some(&b',')).then_some(at + 1)?;
        }
        let (value, behind) = number(line, at)?;
        *octet = u8::try_from(value).ok()?;
        at = behind;
        if nth == 3 {
            end = at;
        }
    }
    // Of a number that ends with the segment more may come.
    line.get(at)?;
    let [a, b, c, d, high, low] = octets;
    let address = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    Some(Told { address: Some((address, start..end)), port: u16::from_be_bytes([high, low]) })
}

/// `|2|address|port|`, with any delimiter.
fn extended(line: &[u8], from: usize) -> Option<Told> {
    let delimiter = *line.get(from)?;
    if line.get(from + 1..from + 3)? != [b'2', delimiter] {
        return None;
    }
    let start = from + 3;
    let length = line.get(start..)?.iter().position(|it| *it == delimiter)?;
    let text = std::str::from_utf8(&line[start..start + length]).ok()?;
    let address: Ipv6Addr = text.parse().ok()?;
    let port = port(line, start + length + 1, delimiter)?;
    Some(Told { address: Some((IpAddr::V6(address), start..start + length)), port })
}

/// `(|||port|)`, with any delimiter.
fn passive(line: &[u8]) -> Option<Told> {
    let at = line.iter().position(|it| *it == b'(')?;
    let &[one, two, three] = line.get(at + 1..)?.first_chunk()?;
    let port = (one == two && two == three).then(|| port(line, at + 4, one))??;
    Some(Told { address: None, port })
}

fn port(line: &[u8], at: usize, delimiter: u8) -> Option<u16> {
    let (port, end) = number(line, at)?;
    (line.get(end) == Some(&delimiter)).then_some(())?;
    u16::try_from(port).ok()
}

/// An address as such a line has it.
pub fn written(address: IpAddr) -> String {
    match address {
        IpAddr::V4(it) => it.octets().map(|octet| octet.to_string()).join(","),
        IpAddr::V6(it) => it.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn waits(address: Option<(&str, Range<usize>)>, port: u16) -> Said {
        let address = address.map(|(text, range)| (text.parse().unwrap(), range));
        Said::Waits(Told { address, port })
    }

    #[test]
    fn where_somebody_waits_is_read() {
        let port = read(b"PORT 10,0,0,1,4,210\r\n", true, false);
        assert_eq!(port, waits(Some(("10.0.0.1", 5..13)), 1234));
        let passive = b"227 Entering Passive Mode (10,0,0,2,4,210).\r\n";
        assert_eq!(read(passive, false, false), waits(Some(("10.0.0.2", 27..35)), 1234));
        assert_eq!(
            read(b"port 1,2,3,4,0,21\r\n", true, false),
            waits(Some(("1.2.3.4", 5..12)), 21)
        );
        let extended = read(b"EPRT |2|2001:db8::1|1234|\r\n", true, true);
        assert_eq!(extended, waits(Some(("2001:db8::1", 8..19)), 1234));
        let passive = b"229 Entering Extended Passive Mode (|||1234|)\r\n";
        assert_eq!(read(passive, false, true), waits(None, 1234));
    }

    #[test]
    fn what_is_something_else_or_cannot_be_is_told_apart() {
        for (said, is_client) in [
            (&b"USER anonymous\r\n"[..], true),
            (b"", true),
            (b"POR", true),
            (b"220 ready\r\n", false),
            // Nobody tells on the other's behalf.
            (b"227 (1,2,3,4,5,6)\r\n", true),
            (b"PORT 1,2,3,4,5,6\r\n", false),
        ] {
            assert_eq!(read(said, is_client, false), Said::Other);
        }
        for said in ["1,2,3,4,5", "1,2,3,4,5,6", "1,2,3,4,5,256\r\n", "256,2,3,4,5,6\r\n", "\r\n"] {
            let line = format!("PORT {said}");
            assert_eq!(read(line.as_bytes(), true, false), Said::Broken, "{said}");
        }
        for said in ["|1|::1|5|", "|2|::1|65536|", "|2|::g|5|", "|2|::1|5", "|2|::1", ""] {
            let line = format!("EPRT {said}");
            assert_eq!(read(line.as_bytes(), true, true), Said::Broken, "{said}");
        }
    }

    #[test]
    fn an_address_is_written_as_it_is_read() {
        assert_eq!(written("192.0.2.7".parse().unwrap()), "192,0,2,7");
        assert_eq!(written("2001:db8::7".parse().unwrap()), "2001:db8::7");
    }

    proptest! {
        #[test]
        fn any_octets_are_read(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), word in 0..5usize,
            is_client: bool, is_ip6: bool,
        ) {
            let words = [&b""[..], b"PORT ", b"227 ", b"EPRT |2|", b"229 (|||"];
            let line = [words[word], &bytes].concat();
            if let Said::Waits(Told { address: Some((_, range)), .. }) = read(&line, is_client, is_ip6) {
                prop_assert!(range.end <= line.len() && range.start < range.end);
            }
        }
    }
}
