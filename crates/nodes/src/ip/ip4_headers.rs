//! The IPv4 headers of a vector, word by word, so that what is asked of all is asked of many at
//! once.

use packet::{VECTOR, vectorized};
use wire::{checksum, ipv4};

/// Words of 4 bytes in a header without options.
const WORDS: usize = ipv4::Header::LEN / 4;

/// Version 4 and five header words: what nearly every packet has.
pub(super) const PLAIN: u8 = 0x45;

/// See the module.
pub(super) struct Ip4Headers {
    words: [[u32; VECTOR]; WORDS],
    totals: [u32; VECTOR],
}

impl Ip4Headers {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { words: [[0; VECTOR]; WORDS], totals: [0; VECTOR] }
    }

    /// Takes the header of the packet in `slot`.
    #[inline(always)]
    pub(super) fn put(&mut self, slot: usize, header: &[u8; ipv4::Header::LEN]) {
        for (words, bytes) in self.words.iter_mut().zip(header.as_chunks::<4>().0) {
            words[slot % VECTOR] = u32::from_ne_bytes(*bytes);
        }
    }

    /// Whether all of the packets, which have these `lengths` with a link header of `link` octets,
    /// are such as `ip4-input` lets through to the lookup.
    #[inline]
    pub(super) fn are_good(&mut self, link: u32, lengths: &[u32], class_e: bool) -> bool {
        match class_e {
            false => vectorized(|| good::<false>(&self.words, link, lengths, &mut self.totals)),
            true => vectorized(|| good::<true>(&self.words, link, lengths, &mut self.totals)),
        }
    }

    /// How long they say that they are, the link header included: what is behind that is padding.
    pub(super) fn totals(&self) -> &[u32; VECTOR] {
        &self.totals
    }

    /// Where the first so many packets go to.
    #[inline]
    pub(super) fn destinations(&self, into: &mut [u32]) {
        let words = &self.words[4];
        vectorized(|| into.iter_mut().zip(words).for_each(|(to, word)| *to = u32::from_be(*word)));
    }

    /// Takes a hop from each of the first `count`; false if one had none left.
    #[inline]
    pub(super) fn count_down(&mut self, count: usize) -> bool {
        let words = &mut self.words[2][..count.min(VECTOR)];
        vectorized(|| {
            let mut is_last = 0;
            for word in words {
                is_last |= u32::from(*word & 0xff <= 1);
                let sum = checksum::after_ttl_decrement(((*word >> 16) as u16).swap_bytes());
                *word = (*word & 0xffff).wrapping_sub(1) | u32::from(sum.swap_bytes()) << 16;
            }
            is_last == 0
        })
    }

    /// Hops, protocol and checksum of the packet in `slot`, as they lie in its header.
    #[inline(always)]
    pub(super) fn third_word(&self, slot: usize) -> [u8; 4] {
        self.words[2][slot % VECTOR].to_ne_bytes()
    }
}

/// What `ip4-input` checks, without branches. Writes the packets' total lengths.
#[inline(always)]
fn good<const CLASS_E: bool>(
    words: &[[u32; VECTOR]; WORDS],
    link: u32,
    lengths: &[u32],
    totals: &mut [u32; VECTOR],
) -> bool {
    let count = lengths.len().min(VECTOR);
    let [first, second, third, source, last] = words.each_ref().map(|words| &words[..count]);
    let totals = &mut totals[..count];
    let mut wrong = 0;
    for slot in 0..count {
        let all = [first[slot], second[slot], third[slot], source[slot], last[slot]];
        let halves: u32 = all.iter().map(|word| (word & 0xffff) + (word >> 16)).sum();
        let folded = (halves & 0xffff) + (halves >> 16);
        let sum = (folded & 0xffff) + (folded >> 16);
        let head = u32::from_be(first[slot]);
        let total = head & 0xffff;
        totals[slot] = total + link;
        let network = u32::from_be(source[slot]) >> 24;
        wrong |= (sum ^ 0xffff) | (head >> 24 ^ u32::from(PLAIN));
        wrong |= u32::from(total < ipv4::Header::LEN as u32);
        wrong |= u32::from(total + link > lengths[slot]);
        wrong |= u32::from(network == 0) | u32::from(network == 127);
        wrong |= match CLASS_E {
            false => u32::from(network >= 224),
            true => u32::from(network & 0xf0 == 224) | u32::from(source[slot] == u32::MAX),
        };
    }
    wrong == 0
}
