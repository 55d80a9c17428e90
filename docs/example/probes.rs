//! Probes, as they stand.

use super::answer::*;

/// A host that is asked again and again whether it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// The host.
    pub address: String,
    /// Whether it answered the last question.
    pub is_there: bool,
    /// Questions sent.
    pub sent: u64,
    /// Answers received.
    pub answered: u64,
}

impl View for Probe {
    view!("show probes", "/v1/probes", All => Vec<Self>, "Probes, and which hosts answer");
    counters!("sent", "answered");
    const METRICS: Option<Metrics<Self>> = Some((All, |probes, out| {
        out.of(probes, |probe| [("probe", &probe.name)])
            .counter("probe_sent", "Questions sent to a host.", |probe| probe.sent)
            .counter("probe_answered", "Answers received of a host.", |probe| probe.answered);
    }));

    fn table(probes: &Vec<Self>) -> Table {
        table!(probes, probe => {
            "probe": probe.name,
            "address": probe.address,
            "state": if probe.is_there { "there" } else { "gone" },
            "sent": probe.sent,
            "answered": probe.answered,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_a_line_and_its_counters_are_metrics() {
        let [name, address] = ["gateway", "192.0.2.9"].map(str::to_owned);
        let probes = vec![Probe { name, address, is_there: true, sent: 9, answered: 8 }];
        let wanted = "probe      address  state  sent  answered\n\
                      gateway  192.0.2.9  there     9         8\n";
        assert_eq!(Probe::text(&probes, Style::new(false)), wanted);
        let (_, tell) = Probe::METRICS.unwrap();
        let mut out = crate::view::Exposition::default();
        tell(&probes, &mut out);
        let text = out.finish();
        assert!(text.contains("volley_probe_answered_total{probe=\"gateway\"} 8\n"), "{text}");
    }
}
