//! Bytes read in order, and written.

use crate::fault::Fault;

/// What of a message is not read yet. What is too short is the fault that it was made with.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    short: Fault,
}

impl<'a> Reader<'a> {
    /// Reads these; running out is a `short`.
    pub fn new(bytes: &'a [u8], short: Fault) -> Self {
        Self { bytes, short }
    }

    /// How many are left.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// The next so many.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(self.short)?;
        self.bytes = rest;
        Ok(taken)
    }

    /// A reader of the next so many.
    pub fn part(&mut self, count: usize) -> Result<Self, Fault> {
        Ok(Self { bytes: self.take(count)?, short: self.short })
    }

    /// The same bytes with another fault for running out.
    #[must_use]
    pub fn or(self, short: Fault) -> Self {
        Self { short, ..self }
    }

    /// Passes over so many.
    pub fn skip(&mut self, count: usize) -> Result<(), Fault> {
        self.take(count).map(drop)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(self.short)?;
        self.bytes = rest;
        Ok(*taken)
    }

    /// One.
    pub fn u8(&mut self) -> Result<u8, Fault> {
        self.array().map(u8::from_be_bytes)
    }

    /// Two.
    pub fn u16(&mut self) -> Result<u16, Fault> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four.
    pub fn u32(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_be_bytes)
    }

    /// Eight.
    pub fn u64(&mut self) -> Result<u64, Fault> {
        self.array().map(u64::from_be_bytes)
    }

    /// A number of `count` bytes, 16 at most.
    pub fn number(&mut self, count: usize) -> Result<u128, Fault> {
        let bytes = self.take(count)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }

    /// A MAC address.
    pub fn mac(&mut self) -> Result<[u8; 6], Fault> {
        self.array()
    }
}

/// Bytes being written.
pub type Writer = Vec<u8>;

/// What is put into a [`Writer`].
pub(crate) trait Put {
    fn u8(&mut self, value: u8);
    fn u16(&mut self, value: u16);
    fn u32(&mut self, value: u32);
    fn u64(&mut self, value: u64);
    fn u16s(&mut self, values: &[u16]) {
        values.iter().for_each(|value| self.u16(*value));
    }
    fn u32s(&mut self, values: &[u32]) {
        values.iter().for_each(|value| self.u32(*value));
    }
    fn u64s(&mut self, values: &[u64]) {
        values.iter().for_each(|value| self.u64(*value));
    }
    /// The lowest `count` bytes of a number.
    fn number(&mut self, value: u128, count: usize);
    fn zeros(&mut self, count: usize);
    /// Zeros until what was written since `start` is whole eights.
    fn pad8(&mut self, start: usize);
    /// Text in a field of `room` bytes, the last of them 0.
    fn text(&mut self, text: &str, room: usize);
    /// Writes the length since `start` at `start + at`.
    fn set_length(&mut self, start: usize, at: usize);
}

impl Put for Writer {
    fn u8(&mut self, value: u8) {
        self.push(value);
    }

    fn u16(&mut self, value: u16) {
        self.extend(value.to_be_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.extend(value.to_be_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.extend(value.to_be_bytes());
    }

    fn number(&mut self, value: u128, count: usize) {
        self.extend(&value.to_be_bytes()[16 - count.min(16)..]);
    }

    fn zeros(&mut self, count: usize) {
        self.resize(self.len() + count, 0);
    }

    fn pad8(&mut self, start: usize) {
        self.resize(start + (self.len() - start).next_multiple_of(8), 0);
    }

    fn text(&mut self, text: &str, room: usize) {
        let end = self.len() + room;
        self.extend(text.bytes().take(room.saturating_sub(1)));
        self.resize(end, 0);
    }

    fn set_length(&mut self, start: usize, at: usize) {
        let length = (self.len() - start).min(usize::from(u16::MAX)) as u16;
        if let Some(place) = self.get_mut(start + at..start + at + 2) {
            place.copy_from_slice(&length.to_be_bytes());
        }
    }
}
