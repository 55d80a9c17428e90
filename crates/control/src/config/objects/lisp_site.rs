//! `[lisp_site.NAME]`: sites that may tell this router, as their map server, where they are.

use super::lisp_check::check_endpoints;
use super::lisp_server::{Algorithm, check_key};
use super::name::name_field;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::host::Host;
use crate::config::listed::Listed;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;
use wire::lisp::MAX_INSTANCE;

name_field! {
    /// A site's name.
    SiteName = "a site name" of "lisp_site"
}

object! {
    /// A site that may tell this router, as its map server, where it is
    pub struct LispSite {
        /// The key that proves its messages
        pub key: String as "secret",
        /// How the key proves them
        pub algorithm: Algorithm as "sha256" = Algorithm::Sha256,
        /// The instance of its networks
        pub instance_id: u32 [0..=MAX_INSTANCE] = 0,
        /// Its networks of endpoints
        pub eids: Vec<Prefix> as "10.1.0.0/16" = Vec::new(),
        /// Whether it may have parts of them here and others there
        pub more_specifics: bool = false,
        /// Whether this router answers for it, though it did not ask for that
        pub proxy_reply: bool = false,
    }
    by { "instance": instance_id, "eid": eids }
}

impl Row for LispSite {
    const KIND: &'static str = "lisp_site";
    const CALLED: &'static str = "site of LISP";
}

/// Sites by name.
pub type LispSites = Table<SiteName, LispSite>;

impl Listed for LispSite {
    type Key = SiteName;
}

impl Object for LispSites {
    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        for (name, site) in self.iter() {
            let field = format!("lisp_site.{name}");
            check_key(&format!("{field}.key"), &site.key, report);
            if site.eids.is_empty() {
                let problem = Problem::new(format!("{field}.eids"), "the site has no networks");
                report.push(problem.expected("the networks that it may tell of"));
            }
            for (index, prefix) in site.eids.iter().enumerate() {
                let field = format!("{field}.eids[{index}]");
                check_endpoints(&field, *prefix, report);
                let others = self.iter().filter(|(other, _)| *other < name);
                let same = others.filter(|(_, it)| it.instance_id == site.instance_id);
                let taken = same.filter(|(_, it)| it.eids.contains(prefix));
                if let Some((other, _)) = taken.into_iter().next() {
                    let message = format!("{prefix} is a network of site {other} already");
                    report.push(Problem::new(field, message).expected("each network at one site"));
                }
            }
        }
    }
}
