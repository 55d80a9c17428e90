//! What IPv6 headers of a vector say that is checked, word by word, so that what is asked of all is
//! asked of many at once.

use packet::{VECTOR, vectorized};
use wire::ip::protocol;
use wire::ipv6;

/// The first word, the second, and the first of the source address.
const WORDS: usize = 3;

/// See the module.
pub(super) struct Ip6Headers {
    words: [[u32; VECTOR]; WORDS],
    totals: [u32; VECTOR],
}

impl Ip6Headers {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { words: [[0; VECTOR]; WORDS], totals: [0; VECTOR] }
    }

    /// Takes the header of the packet in `slot`.
    #[inline(always)]
    pub(super) fn put(&mut self, slot: usize, header: &[u8; ipv6::Header::LEN]) {
        for (words, bytes) in self.words.iter_mut().zip(header.as_chunks::<4>().0) {
            words[slot % VECTOR] = u32::from_ne_bytes(*bytes);
        }
    }

    /// Whether all of the packets, which have these `lengths` with a link header of `link` octets,
    /// are such as `ip6-input` lets through to the lookup at first sight, and may be forwarded: a
    /// hop is taken from each.
    #[inline]
    pub(super) fn are_good(&mut self, link: u32, lengths: &[u32]) -> bool {
        vectorized(|| good(&mut self.words, link, lengths, &mut self.totals))
    }

    /// How long they say that they are, the link header included: what is behind that is padding.
    pub(super) fn totals(&self) -> &[u32; VECTOR] {
        &self.totals
    }

    /// Length, next header and hops of the packet in `slot`, as they lie in its header.
    #[inline(always)]
    pub(super) fn second_word(&self, slot: usize) -> [u8; 4] {
        self.words[1][slot % VECTOR].to_ne_bytes()
    }
}

/// What is checked, without branches. Writes the packets' total lengths, and one hop less.
#[inline(always)]
fn good(
    words: &mut [[u32; VECTOR]; WORDS],
    link: u32,
    lengths: &[u32],
    totals: &mut [u32; VECTOR],
) -> bool {
    let count = lengths.len().min(VECTOR);
    let [first, second, source] = words.each_mut().map(|words| &mut words[..count]);
    let totals = &mut totals[..count];
    let mut wrong = 0;
    for slot in 0..count {
        let (head, network) = (u32::from_be(second[slot]), u32::from_be(source[slot]) >> 24);
        let total = (head >> 16) + ipv6::Header::LEN as u32 + link;
        totals[slot] = total;
        wrong |= u32::from(u32::from_be(first[slot]) >> 28 != 6);
        wrong |= u32::from(total > lengths[slot]);
        wrong |= u32::from(head >> 8 & 0xff == u32::from(protocol::HOP_BY_HOP));
        wrong |= u32::from(head & 0xff <= 1);
        wrong |= u32::from(!is_plain_source(network as u8));
        second[slot] = head.wrapping_sub(1).to_be();
    }
    wrong == 0
}

/// The first octet of what nearly every source is in: global unicast (2000::/3), unique local
/// (fc00::/7).
#[inline(always)]
pub(super) fn is_plain_source(first: u8) -> bool {
    (first & 0xe0 == 0x20) | (first & 0xfe == 0xfc)
}
