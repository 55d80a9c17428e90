//! What flows of a router come to, in a form that costs a packet little: both addresses of the link
//! and the hop limit are written, and it leaves by a port.
//!
//! ```text
//!  │ destination │ source │ type │ … hop limit … │      new = old & keep | put
//! ```

use crate::edit::mend;
use crate::steps::Step;
use crate::tunnel::InTunnel;
use openflow::{Field, PortNumber};

/// Words of both addresses.
const WORDS: usize = 3;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rewrite {
    keep: [u32; WORDS],
    put: [u32; WORDS],
    /// What of the hop limit is kept and put, if any of it is written.
    hop_limit: Option<(u8, u8)>,
    /// The number that it has in a tunnel that lets flows say it.
    pub number: Option<u32>,
    /// Where it goes then.
    pub port: PortNumber,
}

impl Rewrite {
    /// The same as these steps, where they are no more than that.
    pub(crate) fn of(steps: &[Step]) -> Option<Self> {
        let (Step::Output(port), sets) = steps.split_last()? else { return None };
        let (number, sets) = match sets.split_last() {
            // Ends have no room here.
            Some((Step::Tunnel(InTunnel { number, remote: None, local: None }), sets)) => {
                (Some(*number), sets)
            }
            _ => (None, sets),
        };
        let (mut keep, mut put) = ([0xff; 4 * WORDS], [0; 4 * WORDS]);
        let mut hop_limit = None;
        for step in sets {
            let Step::Set(field, value, mask) = step else { return None };
            let bits = value.to_be_bytes().into_iter().zip(mask.to_be_bytes());
            let address = match field {
                Field::EthDst => 0..6,
                Field::EthSrc => 6..12,
                Field::IpTtl => {
                    let (keep, put) = hop_limit.get_or_insert((0xff, 0));
                    bits.skip(15).for_each(|bits| set(keep, put, bits));
                    continue;
                }
                _ => return None,
            };
            bits.skip(10)
                .zip(address)
                .for_each(|(bits, at)| set(&mut keep[at], &mut put[at], bits));
        }
        Some(Self { keep: words(keep), put: words(put), hop_limit, number, port: *port })
    }

    /// Writes into a frame. False, and nothing is written, where it is cut short, or has no hop
    /// limit behind its type to write.
    #[inline]
    pub fn apply(&self, frame: &mut [u8]) -> bool {
        let Some(&[.., first, second]) = frame.first_chunk::<14>() else { return false };
        if let Some((keep, put)) = self.hop_limit {
            let packet = &mut frame[14..];
            match ([first, second], packet.len()) {
                ([0x08, 0x00], 20..) => {
                    let old = packet[8];
                    packet[8] = old & keep | put;
                    // RFC 1624: minus the old word is plus its complement.
                    let change = 0xffff - (u32::from(old) << 8) + (u32::from(packet[8]) << 8);
                    _ = mend(packet, 10, change);
                }
                ([0x86, 0xdd], 40..) => packet[7] = packet[7] & keep | put,
                _ => return false,
            }
        }
        let Some(addresses) = frame.first_chunk_mut::<{ 4 * WORDS }>() else { return false };
        let mut all = words(*addresses);
        for (word, (keep, put)) in all.iter_mut().zip(self.keep.iter().zip(&self.put)) {
            *word = *word & keep | put;
        }
        for (bytes, word) in addresses.chunks_exact_mut(4).zip(all) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        true
    }
}

/// Has what is kept and put write some bits over what they wrote before.
fn set(keep: &mut u8, put: &mut u8, (value, mask): (u8, u8)) {
    *keep &= !mask;
    *put = *put & !mask | value & mask;
}

fn words(bytes: [u8; 4 * WORDS]) -> [u32; WORDS] {
    std::array::from_fn(|at| {
        let [a, b, c, d] = std::array::from_fn(|byte| bytes[4 * at + byte]);
        u32::from_ne_bytes([a, b, c, d])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::tests::frames;
    use crate::write_field;
    use proptest::prelude::*;

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let field = prop_oneof![Just(Field::EthDst), Just(Field::EthSrc), Just(Field::IpTtl)];
        let mask = prop_oneof![Just(u128::MAX), any::<u128>()];
        let set = (field, any::<u128>(), mask)
            .prop_map(|(field, value, mask)| Step::Set(field, value, mask & field.ones()));
        proptest::collection::vec(set, 0..6)
    }

    proptest! {
        #[test]
        fn it_does_what_its_steps_do(
            sets in steps(), which in 0..6usize, length in prop_oneof![Just(200), 0..80usize],
        ) {
            let mut frame = frames().swap_remove(which);
            frame.truncate(length);
            let rewrite = Rewrite::of(&[&sets[..], &[Step::Output(7)]].concat()).unwrap();
            prop_assert_eq!(rewrite.port, 7);
            let mut expected = frame.clone();
            if rewrite.apply(&mut frame) {
                for set in &sets {
                    let Step::Set(field, value, mask) = set else { unreachable!() };
                    write_field(&mut expected, *field, *value, *mask);
                }
            }
            prop_assert_eq!(frame, expected);
        }
    }

    #[test]
    fn whole_packets_are_of_its_form_unless_there_is_a_tag() {
        let sets = [Step::Set(Field::IpTtl, 9, 0xff), Step::Output(1)];
        let rewrite = Rewrite::of(&sets).unwrap();
        let written: Vec<_> = frames().iter_mut().map(|frame| rewrite.apply(frame)).collect();
        assert_eq!(written, [true, true, true, false, true, true]);
        let mut cut = frames().swap_remove(0);
        cut.truncate(33);
        assert!(!rewrite.apply(&mut cut));
    }

    #[test]
    fn steps_that_do_more_have_no_such_form() {
        let set = Step::Set(Field::EthDst, 1, 1);
        for more in
            [Step::PopVlan, Step::Output(2), Step::Queue(None), Step::Set(Field::IpDst, 1, 1)]
        {
            assert_eq!(Rewrite::of(&[set.clone(), more, Step::Output(1)]), None);
        }
        assert_eq!(Rewrite::of(std::slice::from_ref(&set)), None);
        let number = Step::Tunnel(InTunnel::numbered(5));
        assert_eq!(Rewrite::of(&[number.clone(), set.clone(), Step::Output(1)]), None);
        let end = Some([192, 0, 2, 9].into());
        for (remote, local) in [(end, None), (None, end)] {
            let led = Step::Tunnel(InTunnel { number: 5, remote, local });
            assert_eq!(Rewrite::of(&[set.clone(), led, Step::Output(1)]), None);
        }
        let numbered = Rewrite::of(&[set, number, Step::Output(1)]).unwrap();
        assert_eq!((numbered.number, numbered.port), (Some(5), 1));
        assert_eq!(Rewrite::of(&[]), None);
    }
}
