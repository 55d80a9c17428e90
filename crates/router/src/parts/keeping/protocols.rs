//! Sources of routes by the numbers that state has for them: other ones are another version's.

use fib::rib::Protocol;

/// Zebra's.
pub(crate) const FPM: u8 = 6;

const NUMBERS: [(Protocol, u8); 6] = [
    (Protocol::Ebgp, 1),
    (Protocol::Ospf, 2),
    (Protocol::Isis, 3),
    (Protocol::Rip, 4),
    (Protocol::Ibgp, 5),
    (Protocol::Fpm, FPM),
];

/// Its number; none if its routes are not kept.
pub(crate) fn number_of(protocol: Protocol) -> Option<u8> {
    NUMBERS.iter().find(|(known, _)| *known == protocol).map(|(_, number)| *number)
}

/// Whose number it is.
pub(crate) fn protocol_of(number: u8) -> Option<Protocol> {
    NUMBERS.iter().find(|(_, known)| *known == number).map(|(protocol, _)| *protocol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_brings_routes_has_a_number() {
        for protocol in Protocol::DYNAMIC.into_iter().chain([Protocol::Fpm]) {
            assert!(protocol.is_brought());
            assert_eq!(number_of(protocol).and_then(protocol_of), Some(protocol));
        }
        assert_eq!((number_of(Protocol::Static), protocol_of(0)), (None, None));
    }
}
