//! `pcap`: files of packets.

use std::path::PathBuf;

use super::kind::Kind;
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::report::{Problem, Report};

object! {
    /// Capture files
    pub struct Pcap {
        /// Packets to receive
        pub rx: Option<PathBuf> as "in.pcap" = None,
        /// Where sent packets go
        pub tx: Option<PathBuf> as "out.pcap" = None,
        /// How often `rx` is replayed
        pub repeat: Repeat = Repeat::Once,
    }
}

word_field! {
    /// How often a capture file is replayed.
    Repeat {
        /// To its end.
        Once = "once",
        /// From the start again, for ever.
        Forever = "forever",
    }
}

impl Kind for Pcap {
    fn claim(&self) -> Option<String> {
        self.tx.as_ref().map(|path| format!("file {}", path.display()))
    }

    fn most_rx_queues(&self) -> Option<u16> {
        Some(1)
    }

    fn check(&self, port: &str, report: &mut Report) {
        if self.rx.is_none() && self.tx.is_none() {
            let message = "a pcap port without any file";
            report.push(Problem::new(port, message).expected("`rx`, `tx` or both"));
        }
    }
}
