//! Access lists.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::answer::{All, View};
use super::table::{Style, table};

/// An access list, with what it decided. A rule that a change leaves as it is goes on counting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Acl {
    /// Its name.
    pub name: String,
    /// The ports that hold what they receive to it.
    pub ports_in: Vec<String>,
    /// The ports that hold what they send to it.
    pub ports_out: Vec<String>,
    /// What becomes of packets that no rule fits: `permit` or `deny`.
    pub default: String,
    /// Its rules; the first that fits decides.
    pub rules: Vec<AclRule>,
    /// Packets that no rule fitted.
    pub other_packets: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// Bytes that workers' tables of it take.
    pub memory_bytes: usize,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AclRule {
    /// The rule as it is configured.
    pub rule: String,
    /// Packets that it decided about.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl View for Acl {
    type Reply = Vec<Self>;
    type Filter = All;
    const COMMAND: &'static str = "show acl";
    const PATH: &'static str = "/v1/acls";
    const ABOUT: &'static str =
        "Access lists, and what their rules decided since they were last changed";
    const COUNTERS: &'static [&'static str] = &["packets", "bytes", "other_packets", "other_bytes"];

    fn text(acls: &Vec<Self>, style: Style) -> String {
        let rows = acls.iter().flat_map(|acl| {
            let rules = acl.rules.iter().enumerate();
            let rules =
                rules.map(|(at, rule)| (at.to_string(), &rule.rule, rule.packets, rule.bytes));
            let other = ("other".to_owned(), &acl.default, acl.other_packets, acl.other_bytes);
            rules.chain([other]).map(move |row| (&acl.name, row))
        });
        let table = table!(rows, (list, (number, rule, packets, bytes)) => {
            "list": list,
            "number": number,
            "rule": rule,
            "packets": packets,
            "bytes": bytes,
        });
        table.render(style)
    }
}
