//! Bytes in the order of the network, one field behind the other.

/// See the module.
#[derive(Clone, Default, Debug)]
pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.0.extend(value.to_be_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_be_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// Writes a length, or the like, where room was left for it.
    pub(crate) fn put_u16(&mut self, at: usize, value: u16) {
        if let Some(place) = self.0.get_mut(at..at + 2) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }

    /// The same with four octets.
    pub(crate) fn put_u32(&mut self, at: usize, value: u32) {
        if let Some(place) = self.0.get_mut(at..at + 4) {
            place.copy_from_slice(&value.to_be_bytes());
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
