//! Options of hop-by-hop and destination headers, of which the router knows none that it must act
//! on: what becomes of a packet, the option's own number says (RFC 8200 section 4.2).
//!
//! ```text
//!  | type: act 2, change 1, number 5 | length | data ... |     act: 0 skip · 1 drop · 2 tell · 3 tell
//!                                                                 unless to a group
//! ```

use wire::ipv6::extension::{Options, UnknownAction};

/// Why options stop a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionFault {
    /// An option is cut short.
    Malformed,
    /// An unknown one that asks for this.
    Discard,
    /// An unknown one that asks for its sender to be told where in the packet it stands.
    Tell(usize),
}

/// Looks at `header`, a hop-by-hop or destination header that stands at `at` in a packet to a
/// group or not.
pub fn check_options(header: &[u8], at: usize, to_group: bool) -> Result<(), OptionFault> {
    /// Octets before the options: next header and length.
    const FIXED: usize = 2;
    let options = header.get(FIXED..).ok_or(OptionFault::Malformed)?;
    for option in Options::new(options) {
        let option = option.map_err(|_| OptionFault::Malformed)?;
        match option.unknown_action() {
            UnknownAction::Skip => {}
            UnknownAction::Drop => return Err(OptionFault::Discard),
            UnknownAction::DropAndTellUnlessMulticast if to_group => {
                return Err(OptionFault::Discard);
            }
            UnknownAction::DropAndTell | UnknownAction::DropAndTellUnlessMulticast => {
                return Err(OptionFault::Tell(at + FIXED + option.offset));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(options: &[u8], to_group: bool) -> Result<(), OptionFault> {
        check_options(&[&[58, 0], options].concat(), 40, to_group)
    }

    #[test]
    fn an_unknown_option_says_itself_what_becomes_of_the_packet() {
        assert_eq!(checked(&[5, 2, 0, 0, 0x3e, 0], false), Ok(()));
        assert_eq!(checked(&[1, 0, 0x7e, 0], false), Err(OptionFault::Discard));
        for to_group in [false, true] {
            assert_eq!(checked(&[0, 0x80, 0], to_group), Err(OptionFault::Tell(43)));
        }
        assert_eq!(checked(&[0xc0, 0], false), Err(OptionFault::Tell(42)));
        assert_eq!(checked(&[0xc0, 0], true), Err(OptionFault::Discard));
    }

    #[test]
    fn an_option_cut_short_stops_the_packet() {
        assert_eq!(checked(&[0, 0, 5], false), Err(OptionFault::Malformed));
        assert_eq!(checked(&[5, 9, 0], false), Err(OptionFault::Malformed));
    }
}
