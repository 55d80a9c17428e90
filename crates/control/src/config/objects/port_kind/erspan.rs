//! `erspan`: where a mirror's copies go to an analyser far away, over IPv4 or IPv6
//! (draft-foschiano-erspan-03).

use super::super::tunnel_outer::{OuterDscp, OuterTtl};
use super::ends::Ends;
use super::kind::Kind;
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::objects::policer::Dscp;
use crate::config::report::{Problem, Report};

word_field! {
    /// What the headers of copies tell.
    Version {
        /// Session, index and VLAN: GRE's type 0x88be.
        Two = "II",
        /// Session, VLAN, direction and time: GRE's type 0x22eb.
        Three = "III",
    }
}

/// The longest session there is a place for.
const MAX_SESSION: u16 = 1023;
/// The same of an index, and of a hardware number.
const MAX_INDEX: u32 = 0xf_ffff;
const MAX_HARDWARE: u32 = 63;

object! {
    /// Where a mirror's copies go to an analyser far away; it carries nothing else
    pub struct Erspan {
        /// The session that copies say
        pub session: u16 as "5" [0..=MAX_SESSION],
        /// What their headers tell beside it
        pub version: Version as "II" = Version::Two,
        /// Index that they say, of any meaning; a hardware number up to 63 with type III
        pub index: u32 [0..=MAX_INDEX] = 0,
        /// Class of service of its packets: that of what is inside (`inherit`), or one for all
        pub dscp: OuterDscp = OuterDscp::Is(Dscp(0)),
        /// TTL of its packets: that of what is inside (`inherit`), or one for all
        pub ttl: OuterTtl = OuterTtl::Is(64),
        /// Where it begins and ends
        pub ends: Ends,
    }
}

impl Erspan {
    /// Octets between the outer IP header and the frame: GRE's, with a sequence number, and its
    /// own.
    pub(crate) fn header_bytes(&self) -> usize {
        match self.version {
            Version::Two => 16,
            Version::Three => 20,
        }
    }
}

impl Kind for Erspan {
    fn is_virtual(&self) -> bool {
        true
    }

    fn ends(&self) -> Option<&Ends> {
        Some(&self.ends)
    }

    fn is_for_copies(&self) -> bool {
        true
    }

    fn check(&self, port: &str, report: &mut Report) {
        if self.version == Version::Three && self.index > MAX_HARDWARE {
            let message = format!("hardware number {} with type III", self.index);
            let problem = Problem::new(format!("{port}.index"), message);
            report.push(problem.expected(format!("0 to {MAX_HARDWARE}, or version = \"II\"")));
        }
    }
}
