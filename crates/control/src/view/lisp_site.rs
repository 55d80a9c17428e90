//! What sites told this router, their map server.

use super::answer::*;

/// A network that a site told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LispRegistered {
    /// The site.
    pub site: String,
    /// The network.
    pub eid: String,
    /// Its instance.
    pub instance_id: u32,
    /// Who told of it; none: nobody has.
    pub told_by: Option<String>,
    /// Where it is reached.
    pub rlocs: Vec<String>,
    /// Whether this router answers for it.
    pub proxy_reply: bool,
    /// Seconds until it is forgotten.
    pub expires_s: Option<u64>,
}

impl View for LispRegistered {
    view!("show lisp-sites", "/v1/lisp-sites", All => Vec<Self>,
        "What sites told this router, their map server");
    const METRICS: Option<Metrics<Self>> = Some((All, |sites, out| {
        out.of(sites, |row| [("site", &row.site), ("eid", &row.eid)]).gauge(
            "lisp_site_registered",
            "Whether a network of a site is known to this map server.",
            |row| u8::from(row.told_by.is_some()),
        );
    }));

    fn table(sites: &Vec<Self>) -> Table {
        table!(sites, it => {
            "site": it.site, "eid": it.eid, "instance": it.instance_id,
            "told by": it.told_by.as_deref().unwrap_or("nobody"), "proxy": if it.proxy_reply { "yes" } else { "no" },
            "expires s": it.expires_s, "rlocs": it.rlocs,
        })
    }
}
