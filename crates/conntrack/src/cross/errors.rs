//! Which message of ICMP says on the other side what one says here (RFC 7915 sections 4.2 and 5.2).

use super::Uncrossable;
use super::Uncrossable::Unsupported;
use wire::icmp4::message as four;
use wire::icmp6::message as six;
use wire::ipv6::MIN_MTU;

/// A message: type, code, and octets 4 to 7.
pub(super) type Message = (u8, u8, u32);

/// By how much the headers differ in length.
const DIFFERENCE: u32 = 20;

/// MTUs that links have (RFC 1191 section 7.1), for routers that tell none.
const PLATEAUS: [u32; 10] = [65_535, 32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 508, 296];

/// What a message of IPv6 is in IPv4.
pub(super) fn of6((kind, code, rest): Message) -> Result<Message, Uncrossable> {
    Ok(match (kind, code) {
        (six::UNREACHABLE, 0 | 2 | 3) => (four::UNREACHABLE, 1, 0),
        (six::UNREACHABLE, 1) => (four::UNREACHABLE, 10, 0),
        (six::UNREACHABLE, 4) => (four::UNREACHABLE, 3, 0),
        (six::PACKET_TOO_BIG, _) => {
            (four::UNREACHABLE, 4, rest.saturating_sub(DIFFERENCE).min(u16::MAX.into()))
        }
        (six::TIME_EXCEEDED, 0 | 1) => (four::TIME_EXCEEDED, code, 0),
        (six::PARAMETER_PROBLEM, 0) => {
            let at = match rest {
                0 | 1 => rest,
                4 | 5 => 2,
                6 => 9,
                7 => 8,
                8..24 => 12,
                24..40 => 16,
                _ => return Err(Unsupported),
            };
            (four::PARAMETER_PROBLEM, 0, at << 24)
        }
        (six::PARAMETER_PROBLEM, 1) => (four::UNREACHABLE, 2, 0),
        _ => return Err(Unsupported),
    })
}

/// What a message of IPv4 is in IPv6, that tells of a packet of so many octets.
pub(super) fn of4((kind, code, rest): Message, told: u16) -> Result<Message, Uncrossable> {
    const NEXT_HEADER_AT: u32 = 6;
    Ok(match (kind, code) {
        (four::UNREACHABLE, 2) => (six::PARAMETER_PROBLEM, 1, NEXT_HEADER_AT),
        (four::UNREACHABLE, 3) => (six::UNREACHABLE, 4, 0),
        (four::UNREACHABLE, 4) => {
            let mtu = match rest & 0xffff {
                0 => PLATEAUS.into_iter().find(|mtu| *mtu < u32::from(told)).unwrap_or(0),
                mtu => mtu,
            };
            (six::PACKET_TOO_BIG, 0, (mtu + DIFFERENCE).max(MIN_MTU as u32))
        }
        (four::UNREACHABLE, 0 | 1 | 5..=8 | 11 | 12) => (six::UNREACHABLE, 0, 0),
        (four::UNREACHABLE, 9 | 10 | 13 | 15) => (six::UNREACHABLE, 1, 0),
        (four::TIME_EXCEEDED, 0 | 1) => (six::TIME_EXCEEDED, code, 0),
        (four::PARAMETER_PROBLEM, 0 | 2) => {
            let at = match rest >> 24 {
                at @ (0 | 1) => at,
                2 | 3 => 4,
                8 => 7,
                9 => 6,
                12..16 => 8,
                16..20 => 24,
                _ => return Err(Unsupported),
            };
            (six::PARAMETER_PROBLEM, 0, at)
        }
        _ => return Err(Unsupported),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_rfc() {
        // RFC 7915 section 5.2, and back, section 4.2, where that is not the same.
        for (six, four, again) in [
            ((1, 0, 0), (3, 1, 0), None),
            ((1, 1, 0), (3, 10, 0), None),
            ((1, 2, 0), (3, 1, 0), Some((1, 0, 0))),
            ((1, 3, 0), (3, 1, 0), Some((1, 0, 0))),
            ((1, 4, 0), (3, 3, 0), None),
            ((2, 0, 1500), (3, 4, 1480), None),
            ((2, 0, 1 << 20), (3, 4, 65_535), Some((2, 0, 65_555))),
            ((2, 0, 10), (3, 4, 0), Some((2, 0, 1280))),
            ((3, 0, 0), (11, 0, 0), None),
            ((3, 1, 0), (11, 1, 0), None),
            ((4, 0, 0), (12, 0, 0), None),
            ((4, 0, 5), (12, 0, 2 << 24), Some((4, 0, 4))),
            ((4, 0, 6), (12, 0, 9 << 24), None),
            ((4, 0, 7), (12, 0, 8 << 24), None),
            ((4, 0, 20), (12, 0, 12 << 24), Some((4, 0, 8))),
            ((4, 0, 39), (12, 0, 16 << 24), Some((4, 0, 24))),
            ((4, 1, 6), (3, 2, 0), None),
        ] {
            assert_eq!(of6(six), Ok(four), "{six:?}");
            assert_eq!(of4(four, 100), Ok(again.unwrap_or(six)), "{four:?}");
        }
        for unsaid in [(1, 5, 0), (3, 2, 0), (4, 0, 2), (4, 0, 40), (4, 2, 0), (100, 0, 0)] {
            assert_eq!(of6(unsaid), Err(Unsupported), "{unsaid:?}");
        }
        for unsaid in [(3, 14, 0), (3, 16, 0), (4, 0, 0), (5, 0, 0), (12, 1, 0), (12, 0, 4 << 24)] {
            assert_eq!(of4(unsaid, 100), Err(Unsupported), "{unsaid:?}");
        }
    }

    #[test]
    fn a_router_that_tells_no_mtu_is_taken_to_mean_the_next_usual_one() {
        for (told, mtu) in [(1500, 1512), (1492, 1280), (20_000, 17_934), (100, 1280)] {
            assert_eq!(of4((3, 4, 0), told), Ok((2, 0, mtu)), "{told}");
        }
    }
}
