//! Access lists.

use super::answer::*;

/// An access list, with what it decided. A rule that a change leaves as it is goes on counting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Acl {
    /// Its name.
    pub name: String,
    /// The ports that hold what they receive to it.
    pub ports_in: Vec<String>,
    /// The ports that hold what they send to it.
    pub ports_out: Vec<String>,
    /// The ports that route what they receive by it.
    pub ports_policy: Vec<String>,
    /// What becomes of packets that no rule fits: `permit` or `deny`.
    pub default: String,
    /// Its rules; the first that fits decides.
    pub rules: Vec<AclRule>,
    /// Packets that no rule fitted.
    pub other_packets: u64,
    /// Their bytes.
    pub other_bytes: u64,
    /// Packets that passed before rules were asked: they answer what a rule with `reflect` let
    /// begin.
    #[serde(default)]
    pub answer_packets: u64,
    /// Their bytes.
    #[serde(default)]
    pub answer_bytes: u64,
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
    view!("show acl", "/v1/acls", All => Vec<Self>,
        "Access lists, and what their rules decided since they were last changed");
    counters!("packets", "bytes", "other_packets", "other_bytes", "answer_packets", "answer_bytes");

    fn table(acls: &Vec<Self>) -> Table {
        let rows = acls.iter().flat_map(|acl| {
            let rules = acl.rules.iter().enumerate();
            let rules =
                rules.map(|(at, rule)| (at.to_string(), &rule.rule[..], rule.packets, rule.bytes));
            let other = ("other".to_owned(), &acl.default[..], acl.other_packets, acl.other_bytes);
            let (packets, bytes) = (acl.answer_packets, acl.answer_bytes);
            let unasked = "permit, of connections that a port keeps";
            let answers = (packets > 0).then(|| ("answers".to_owned(), unasked, packets, bytes));
            rules.chain([other]).chain(answers).map(move |row| (&acl.name, row))
        });
        table!(rows, (list, (number, rule, packets, bytes)) => {
            "list": list, "number": number, "rule": rule, "packets": packets, "bytes": bytes,
        })
    }
}
