//! Bridges that know who listens to groups.

use super::answer::*;

/// What a bridge knows of the groups of one family.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Snooping {
    /// The bridge.
    pub bridge: String,
    /// `igmp` or `mld`.
    pub protocol: String,
    /// Whether groups go to their listeners alone: somebody asks, and hosts had time to answer.
    pub active: bool,
    /// Whether the bridge asks itself, now.
    pub asks: bool,
    /// Who else asks; none: nobody.
    pub querier: Option<String>,
    /// The port that this is behind.
    pub querier_port: Option<String>,
    /// Ports behind which routers are that forward groups.
    pub routers: Vec<String>,
    /// Groups that somebody listens to.
    pub groups: usize,
    /// Most groups that are learned.
    pub groups_limit: u32,
    /// Messages of hosts that listen, or no longer.
    pub reports: u64,
    /// Questions heard.
    pub questions: u64,
    /// Questions sent, by each port.
    pub asked: u64,
    /// Groups, and ports of groups, that there was no room for.
    pub refused: u64,
}

impl View for Snooping {
    view!("show snooping", "/v1/snooping", All => Vec<Self>,
        "Bridges that know who listens to groups (IGMP, MLD), and who asks there");
    counters!("reports", "questions", "asked", "refused");
    const METRICS: Option<Metrics<Self>> = Some((All, |bridges, out| {
        out.of(bridges, |it| [("bridge", &it.bridge), ("protocol", &it.protocol)])
            .gauge(
                "snooping_active",
                "Whether a bridge's groups go to their listeners alone.",
                |it| u8::from(it.active),
            )
            .gauge("snooping_groups", "Groups that somebody listens to.", |it| it.groups)
            .gauge("snooping_routers", "Ports behind which routers are.", |it| it.routers.len())
            .counter("snooping_reports", "Messages of hosts that listen, or no longer.", |it| {
                it.reports
            })
            .counter("snooping_questions", "Questions for listeners heard.", |it| it.questions)
            .counter("snooping_asked", "Questions for listeners sent.", |it| it.asked)
            .counter("snooping_refused", "Groups and their ports without room.", |it| it.refused);
    }));

    fn table(bridges: &Vec<Self>) -> Table {
        let querier = |it: &Self| match (&it.querier, &it.querier_port, it.asks) {
            (Some(address), Some(port), _) => format!("{address} behind {port}"),
            (_, _, true) => "the bridge".to_owned(),
            _ => "nobody".to_owned(),
        };
        table!(bridges, it => {
            "bridge": it.bridge, "protocol": it.protocol,
            "groups go to": if it.active { "listeners" } else { "all" }, "asks": querier(it),
            "routers": it.routers, "groups": it.groups, "most": it.groups_limit,
            "reports": it.reports, "questions": it.questions, "asked": it.asked,
            "refused": it.refused,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_told_by_name() {
        let one = Snooping { bridge: "lan".into(), protocol: "igmp".into(), ..Snooping::default() };
        let other = Snooping {
            active: true,
            querier: Some("10.0.0.1".into()),
            querier_port: Some("p1".into()),
            refused: 3,
            ..one.clone()
        };
        let own = Snooping { asks: true, ..one.clone() };
        let text = Snooping::text(&vec![one, other.clone(), own], Style::new(false));
        for words in ["all           nobody", "listeners     10.0.0.1 behind p1", "the bridge"] {
            assert!(text.contains(words), "{text}");
        }
        let (_, tell) = Snooping::METRICS.unwrap();
        let mut out = crate::view::Exposition::default();
        tell(&vec![other], &mut out);
        let text = out.finish();
        let refused = "volley_snooping_refused_total{bridge=\"lan\",protocol=\"igmp\"} 3\n";
        assert!(text.contains(refused), "{text}");
    }
}
