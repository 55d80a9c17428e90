//! The map cache of LISP: where endpoints of other sites are.

use super::answer::*;
use crate::config::objects::vrf::DEFAULT_NAME;

/// A network of endpoints of another site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LispEntry {
    /// The network.
    pub eid: String,
    /// Its instance.
    pub instance_id: u32,
    /// The port of LISP.
    pub port: String,
    /// The VRF that the endpoints are in.
    pub vrf: String,
    /// How it is known.
    pub origin: LispOrigin,
    /// What becomes of packets to it: `forward`, `native`, `ask` or `drop`.
    pub action: String,
    /// Where it is reached.
    pub rlocs: Vec<LispRloc>,
    /// Seconds until it is forgotten; none: never.
    pub expires_s: Option<u64>,
}

/// How a network is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LispOrigin {
    /// Given by the configuration.
    Static,
    /// Answered.
    Learned,
}

/// A locator of another site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LispRloc {
    /// Its address.
    pub address: String,
    /// The lowest gets the flows.
    pub priority: u8,
    /// Share of the flows among those of one priority.
    pub weight: u8,
    /// `used`, or why it is not: `standby` (others are of a lower priority), `unused` (priority
    /// 255), `unreachable` (says the site), `silent` (probes are not answered), `no route`.
    pub state: String,
}

impl View for LispEntry {
    view!("show lisp-cache", "/v1/lisp-cache", All => Vec<Self>,
        "Where endpoints of other sites are, as far as it is known");
    const METRICS: Option<Metrics<Self>> = Some((All, |entries, out| {
        if entries.is_empty() {
            return;
        }
        let count = |origin| entries.iter().filter(|it| it.origin == origin).count();
        let rows = [LispOrigin::Static, LispOrigin::Learned].map(|origin| (origin, count(origin)));
        out.of(rows, |row| [("origin", word(row.0))]).gauge(
            "lisp_cache_entries",
            "Networks of other sites that are known.",
            |row| row.1,
        );
    }));

    fn table(entries: &Vec<Self>) -> Table {
        let rlocs = |entry: &Self| {
            let each: Vec<String> = entry.rlocs.iter().map(LispRloc::text).collect();
            each.join(", ")
        };
        let expires = |entry: &Self| entry.expires_s.map_or("never".to_owned(), |s| s.to_string());
        table!(entries, entry => {
            "eid": entry.eid, "instance": entry.instance_id, "port": entry.port, "vrf": entry.vrf,
            "origin": word(entry.origin), "action": entry.action, "expires s": expires(entry),
            "rlocs": rlocs(entry),
        })
        .hide_where_all("vrf", DEFAULT_NAME)
    }
}

fn word(origin: LispOrigin) -> &'static str {
    match origin {
        LispOrigin::Static => "static",
        LispOrigin::Learned => "learned",
    }
}

impl LispRloc {
    /// As a person reads it.
    fn text(&self) -> String {
        format!("{} {}/{} {}", self.address, self.priority, self.weight, self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_line_with_its_locators() {
        let rloc = |address: &str, priority, state: &str| LispRloc {
            address: address.to_owned(),
            priority,
            weight: 50,
            state: state.to_owned(),
        };
        let entries = vec![LispEntry {
            eid: "10.2.0.0/16".to_owned(),
            instance_id: 7,
            port: "lisp0".to_owned(),
            vrf: DEFAULT_NAME.to_owned(),
            origin: LispOrigin::Learned,
            action: "forward".to_owned(),
            rlocs: vec![rloc("192.0.2.2", 1, "used"), rloc("192.0.2.3", 2, "standby")],
            expires_s: Some(90),
        }];
        let text = LispEntry::text(&entries, Style::new(false));
        assert!(text.contains("10.2.0.0/16"), "{text}");
        assert!(text.contains("192.0.2.2 1/50 used") && !text.contains("default"), "{text}");
        let (_, tell) = LispEntry::METRICS.unwrap();
        let mut out = crate::view::Exposition::default();
        tell(&entries, &mut out);
        let text = out.finish();
        assert!(text.contains("volley_lisp_cache_entries{origin=\"learned\"} 1\n"), "{text}");
    }
}
