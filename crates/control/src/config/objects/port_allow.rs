//! `[port.NAME] allow`: whose packets a port receives at all.
//!
//! ```toml
//! allow = { from = ["192.0.2.0/24", "2001:db8::/32"] }   # sources by network
//! allow = { vrf = "customers", non_ip = false }          # or those that a VRF has routes to; nothing but IP
//! ```

use super::Config;
use super::vrf::{self, VrfName};
use crate::config::edit::Words;
use crate::config::prefix::Prefix;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::write::Fields;

/// Whose packets a port receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// Those from these networks.
    pub from: Vec<Prefix>,
    /// Those from where this VRF has routes to.
    pub vrf: Option<VrfName>,
    /// Whether what is no IP packet is received, ARP with it.
    pub non_ip: bool,
}

impl Allow {
    pub(super) fn read(table: &mut TableReader<'_>) -> Self {
        Self {
            from: table.list("from"),
            vrf: table.optional("vrf"),
            non_ip: table.or("non_ip", true),
        }
    }

    pub(super) fn fields(&self) -> Fields {
        Fields::new().list("from", &self.from).maybe("vrf", &self.vrf).unless(
            "non_ip",
            &self.non_ip,
            &true,
        )
    }

    pub(super) fn check(&self, field: &str, config: &Config, report: &mut Report) {
        if self.from.is_empty() && self.vrf.is_none() {
            let problem = Problem::new(field, "it lets nobody in");
            report.push(problem.expected("networks in `from`, a `vrf`, or both"));
        }
        vrf::check_exists(&format!("{field}.vrf"), self.vrf.as_ref(), &config.vrfs, report);
    }

    /// `from NETWORK`, as often as there are, `vrf NAME` and `ip_only`; or `off`.
    pub(super) fn of_words(words: &mut Words<'_>) -> Result<Option<Self>, Problem> {
        if words.take("off") {
            return Ok(None);
        }
        let mut allow = Self { from: Vec::new(), vrf: None, non_ip: true };
        loop {
            if words.take("from") {
                allow.from.push(words.next("a network")?);
            } else if words.take("vrf") {
                allow.vrf = Some(words.next("the name of a VRF")?);
            } else if words.take("ip_only") {
                allow.non_ip = false;
            } else if allow.from.is_empty() && allow.vrf.is_none() {
                return Err(words.unexpected(&["from", "vrf", "off"]));
            } else {
                return Ok(Some(allow));
            }
        }
    }
}
