//! Reading messages field by field.

use crate::Error;

/// What of a message is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next octets.
    pub(super) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Error> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or(Error::short(what, count, self.0.len()))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Error> {
        let (taken, rest) =
            self.0.split_first_chunk().ok_or(Error::short(what, N, self.0.len()))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, Error> {
        self.array(what).map(u8::from_be_bytes)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, Error> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Error> {
        self.array(what).map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, Error> {
        self.array(what).map(u64::from_be_bytes)
    }

    pub(super) fn u128(&mut self, what: &'static str) -> Result<u128, Error> {
        self.array(what).map(u128::from_be_bytes)
    }
}
