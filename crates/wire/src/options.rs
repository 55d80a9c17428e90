//! The kind-length-value options that end IPv4 (RFC 791, 3.1) and TCP (RFC 9293, 3.1) headers
//! alike.
//!
//! ```text
//! ┌──────┐   ┌──────┐   ┌──────┬──────┬─────────────┐
//! │ 0 end│   │ 1 nop│   │ kind │ len  │ len−2 octets│   len counts kind and len too
//! └──────┘   └──────┘   └──────┴──────┴─────────────┘
//! ```

/// Kind: no more options.
pub const END: u8 = 0;
/// Kind: a filler of one octet.
pub const NOP: u8 = 1;

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Which option.
    pub kind: u8,
    /// What it carries, without kind and length.
    pub data: &'a [u8],
    /// Octets from the start of the options to its kind.
    pub offset: usize,
}

/// The option at this offset is cut short or lies about its length; nothing after it can be
/// trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOption {
    /// Octets from the start of the options.
    pub offset: usize,
}

/// Walks options: fillers are skipped, the end kind ends it, a bad option is told once and ends it.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Options<'a> {
    /// Over the octets between the fixed header and the payload.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<Entry<'a>, BadOption>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.bytes.get(self.offset) == Some(&NOP) {
            self.offset += 1;
        }
        let offset = self.offset;
        let rest = self.bytes.get(offset..)?;
        let (&kind, after) = rest.split_first()?;
        if kind == END {
            self.offset = self.bytes.len();
            return None;
        }
        let len = usize::from(after.first().copied().unwrap_or(0));
        // A length below 2 would not move the walk on: that range is empty backwards, hence no
        // data.
        match rest.get(2..len) {
            Some(data) => {
                self.offset += len;
                Some(Ok(Entry { kind, data, offset }))
            }
            None => {
                self.offset = self.bytes.len();
                Some(Err(BadOption { offset }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fillers_are_skipped_and_the_end_ends() {
        let found: Vec<_> = Options::new(&[1, 1, 7, 3, 9, 1, 0, 7, 3]).collect();
        assert_eq!(found, [Ok(Entry { kind: 7, data: &[9], offset: 2 })]);
    }

    #[test]
    fn a_length_that_lies_is_told_once() {
        for bad in [&[7u8][..], &[7, 0], &[7, 1], &[7, 3], &[7, 255, 0]] {
            let found: Vec<_> = Options::new(bad).collect();
            assert_eq!(found, [Err(BadOption { offset: 0 })], "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn a_walk_of_any_bytes_ends_and_moves_forward(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut at = None;
            for option in Options::new(&bytes) {
                let offset = option.map_or_else(|bad| bad.offset, |good| good.offset);
                prop_assert!(at < Some(offset) && offset < bytes.len());
                at = Some(offset);
            }
        }
    }
}
