//! `[lisp]`: how the locators of other sites are found, and ours told (RFC 9301).
//!
//! ```text
//!  [port.lisp0] kind = "lisp"   a link to the sites of an instance, our locators
//!  [[lisp_eid]]                 our own networks there, told to each [[lisp_server]]
//!  [[lisp_map]]                 networks of other sites that need no asking; others [lisp] map_resolvers know
//!  [lisp_site.NAME]             sites that this router is the map server of
//! ```

use std::net::IpAddr;
use std::time::Duration;

use super::lisp_check;
use super::vrf::{self, VrfName};
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

object! {
    /// How the locators of other sites are found, and ours told
    pub struct Lisp {
        /// Who is asked for endpoints that the map cache does not have, one after another
        pub map_resolvers: Vec<IpAddr> as "192.0.2.53" = Vec::new(),
        /// Whether this router is the map server and resolver of the sites of `lisp_site`
        pub map_server: bool = false,
        /// The VRF of messages about endpoints; the default one when left out
        pub vrf: Option<VrfName> as "red" = None,
        /// Endpoints asked for at once, at most
        pub pending: u16 [1..=4096] = 256,
        /// Packets that wait for one endpoint, at most
        pub hold_packets: u16 [0..=64] = 4,
        /// Networks of other sites that are remembered, at most
        pub entries: u32 [1..=100_000] = 10_000,
        /// How often locators are asked whether they are reached; never when left out
        pub probe: Option<Duration> as "10s" = None,
        /// Whether other sites are told to ask again when our networks or locators change
        pub solicit: bool = true,
    }
}

/// Least time between two probes of a locator.
const LEAST_PROBE: Duration = Duration::from_secs(1);

impl Row for Lisp {
    const KIND: &'static str = "lisp";
}

impl Section for Lisp {}

impl Object for Lisp {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        vrf::check_exists("lisp.vrf", self.vrf.as_ref(), &config.vrfs, report);
        for (index, resolver) in self.map_resolvers.iter().enumerate() {
            let field = format!("lisp.map_resolvers[{index}]");
            lisp_check::check_host(&field, *resolver, report);
            if self.map_resolvers[..index].contains(resolver) {
                let problem = Problem::new(field, format!("{resolver} is listed twice"));
                report.push(problem.expected("each map resolver once"));
            }
        }
        if let Some(probe) = self.probe.filter(|probe| *probe < LEAST_PROBE) {
            let message = format!("a probe each {} ms", probe.as_millis());
            report.push(Problem::new("lisp.probe", message).expected("1s or more"));
        }
        if !self.map_server && config.lisp_sites.iter().next().is_some() {
            let problem = Problem::new("lisp.map_server", "there are sites, and no map server");
            report.push(problem.expected("map_server = true with [lisp_site]"));
        }
        lisp_check::check_ports(config, report);
    }
}
