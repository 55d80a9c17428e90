//! How many packets a queue holds: what is wanted, brought into the driver's limits.

use crate::ffi;

/// What a driver says of its queues' sizes.
pub(crate) struct Descriptors {
    least: u16,
    most: u16,
    multiple: u16,
    preferred: u16,
}

/// Of drivers that have no wish of their own.
const DESCRIPTORS: u16 = 1024;

impl Descriptors {
    pub(crate) fn rx(raw: &ffi::PortFacts) -> Self {
        Self {
            least: raw.min_rx_descriptors,
            most: raw.max_rx_descriptors,
            multiple: raw.rx_descriptors_multiple,
            preferred: raw.preferred_rx_descriptors,
        }
    }

    pub(crate) fn tx(raw: &ffi::PortFacts) -> Self {
        Self {
            least: raw.min_tx_descriptors,
            most: raw.max_tx_descriptors,
            multiple: raw.tx_descriptors_multiple,
            preferred: raw.preferred_tx_descriptors,
        }
    }

    pub(crate) fn choose(&self, wanted: Option<u16>) -> u16 {
        let preferred = if self.preferred == 0 { DESCRIPTORS } else { self.preferred };
        let multiple = self.multiple.max(1);
        let most = if self.most == 0 { u16::MAX } else { self.most };
        let most = (most / multiple * multiple).max(self.least);
        let wanted = wanted.unwrap_or(preferred).max(self.least).max(1);
        wanted.checked_next_multiple_of(multiple).unwrap_or(most).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_sizes_obey_the_driver() {
        let limits = Descriptors { least: 64, most: 4096, multiple: 32, preferred: 0 };
        assert_eq!(limits.choose(None), 1024);
        assert_eq!(limits.choose(Some(1)), 64);
        assert_eq!(limits.choose(Some(100)), 128);
        assert_eq!(limits.choose(Some(60_000)), 4096);
        let silent = Descriptors { least: 0, most: 0, multiple: 0, preferred: 256 };
        assert_eq!(silent.choose(None), 256);
        assert_eq!(silent.choose(Some(0)), 1);
    }
}
