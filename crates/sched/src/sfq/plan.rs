//! What `sfq` can be set to, and how it is made.

use super::{Sfq, SfqSettings};
use crate::kind::Kind;
use crate::plan::Plan;
use crate::settings::settings;
use crate::units::{Size, Time};
use crate::{ClassId, Error};

settings! {
    /// What `sfq` can be set to.
    pub struct SfqShape: "sfq" {
        /// Its name, as in `1:`; one is found if not given.
        handle: maybe ClassId, its_name();
        /// The most packets that wait.
        limit: usual u32 = 127, within(1, 1 << 24, "1 to 2^24");
        /// The most packets of one flow.
        depth: usual u32 = 127, within(1, 65_535, "1 to 65535");
        /// The most flows at a time.
        flows: usual u32 = 128, within(1, 65_408, "1 to 65408");
        /// Hash buckets.
        divisor: usual u32 = 1024, within(1, 65_536, "1 to 65536");
        /// What a flow may send in its turn; the MTU if not given.
        quantum: maybe Size, within(1, 1 << 20, "1 byte to 1 MiB");
        /// How often flows are hashed anew; 0 is never.
        perturb: usual Time = Time(0), tc_seconds();
        /// Drop a longest queue's oldest packet, not its youngest.
        head_drop: usual bool = false, tc(&["headdrop"]);
    }
}

impl Plan for SfqShape {
    fn handle(&self) -> Option<ClassId> {
        self.handle
    }

    fn limit_packets(&self) -> u64 {
        u64::from(self.limit)
    }

    fn state_bytes(&self) -> u64 {
        36 * u64::from(self.flows) + 2 * u64::from(self.divisor) + 8 * u64::from(self.depth)
    }

    fn build(&self, mtu_bytes: u32) -> Result<Kind, Error> {
        Ok(Kind::Sfq(Box::new(Sfq::new(SfqSettings {
            limit: self.limit,
            depth: self.depth,
            flows: self.flows,
            divisor: self.divisor,
            quantum_bytes: self.quantum.map_or(mtu_bytes, |quantum| quantum.0 as u32),
            perturb_ns: self.perturb.0,
            head_drop: self.head_drop,
        }))))
    }
}
