//! How the packets of shaped ports wait.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::answer::*;
use sched::tc::{show_classes, show_qdiscs};
use sched::{Backlog, ClassId, Counters, Report};

/// A shaped port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Qos {
    /// Its name.
    pub port: String,
    /// The discipline at the root, with what stands under it.
    pub root: QosNode,
}

impl View for Qos {
    view!("show qos", "/v1/qos", All => Vec<Self>,
        "Shaped ports: disciplines, classes and what waits in them");
    counters!("sent_packets", "sent_bytes", "dropped", "overlimits", "requeues", "marked");
    const METRICS: Option<Metrics<Self>> = Some((All, |shaped, out| {
        let nodes = shaped.iter().flat_map(|port| {
            let nodes = port.root.walk().into_iter();
            nodes.map(move |(path, node)| (&port.port, path, node))
        });
        out.of(nodes, |(port, path, _)| [("port", (*port).clone()), ("class", path.clone())])
            .counter("qos_sent_packets", "Packets sent by a class.", |row| row.2.sent_packets)
            .counter("qos_sent_bytes", "Bytes sent by a class.", |row| row.2.sent_bytes)
            .counter("qos_dropped_packets", "Packets dropped by a class.", |row| row.2.dropped)
            .counter("qos_marked_packets", "Packets marked by a class.", |row| row.2.marked)
            .counter("qos_overlimits", "Times that a class had to wait for tokens.", |row| {
                row.2.overlimits
            })
            .gauge("qos_backlog_packets", "Packets that wait.", |row| row.2.backlog_packets)
            .gauge("qos_backlog_bytes", "Bytes that wait.", |row| row.2.backlog_bytes);
    }));

    fn text(ports: &Vec<Self>, style: Style) -> String {
        if ports.is_empty() {
            return style.dim("no port is shaped\n");
        }
        let tree = |port: &Self| {
            let report = Report::from(port.root.clone());
            format!("{}\n{report}", style.bold(&format!("port {}", port.port)))
        };
        ports.iter().map(tree).collect::<Vec<_>>().join("\n")
    }
}

impl Qos {
    /// Queues and classes as `tc` shows them: of one port, or of all that are shaped.
    pub fn as_tc(shaped: Vec<Self>, port: Option<&str>, statistics: bool) -> String {
        let mut told = String::new();
        let mut tell = |name: Option<&str>, report: Option<&Report>| {
            told += &show_qdiscs(name, report, statistics);
            told += &show_classes(name, report, statistics);
        };
        match port {
            Some(port) => {
                let root = shaped.into_iter().find(|shaped| shaped.port == port);
                tell(None, root.map(|shaped| Report::from(shaped.root)).as_ref());
            }
            None => shaped.into_iter().for_each(|shaped| {
                tell(Some(&shaped.port), Some(&Report::from(shaped.root)));
            }),
        }
        told
    }
}

/// A discipline or a class, with the statistics that `tc -s` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QosNode {
    /// `htb`, `fq_codel`, `class`, `band`.
    pub kind: String,
    /// Its name, where it has one.
    pub id: Option<String>,
    /// What it was set to.
    pub settings: String,
    /// Packets sent.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets dropped here or below.
    pub dropped: u64,
    /// Times that a packet had to wait for tokens.
    pub overlimits: u64,
    /// Packets given back because they could not be sent.
    pub requeues: u64,
    /// Packets marked Congestion Experienced.
    pub marked: u64,
    /// Packets that wait.
    pub backlog_packets: u32,
    /// Their bytes.
    pub backlog_bytes: u64,
    /// What else it tells, by `tc`'s names.
    pub gauges: BTreeMap<String, i64>,
    /// What stands under it.
    #[schema(no_recursion)]
    pub children: Vec<QosNode>,
}

impl From<Report> for QosNode {
    fn from(report: Report) -> Self {
        let Report { kind, id, settings, counters, backlog, gauges, children } = report;
        Self {
            kind: kind.into_owned(),
            id: (id != ClassId::NONE).then(|| id.to_string()),
            settings,
            sent_packets: counters.sent_packets,
            sent_bytes: counters.sent_bytes,
            dropped: counters.dropped,
            overlimits: counters.overlimits,
            requeues: counters.requeues,
            marked: counters.marked,
            backlog_packets: backlog.packets,
            backlog_bytes: backlog.bytes,
            gauges: gauges.into_iter().map(|(name, value)| (name.into_owned(), value)).collect(),
            children: children.into_iter().map(Self::from).collect(),
        }
    }
}

impl From<QosNode> for Report {
    fn from(node: QosNode) -> Self {
        Self {
            kind: Cow::Owned(node.kind),
            id: node.id.and_then(|id| id.parse().ok()).unwrap_or(ClassId::NONE),
            settings: node.settings,
            counters: Counters {
                sent_packets: node.sent_packets,
                sent_bytes: node.sent_bytes,
                dropped: node.dropped,
                overlimits: node.overlimits,
                requeues: node.requeues,
                marked: node.marked,
            },
            backlog: Backlog { packets: node.backlog_packets, bytes: node.backlog_bytes },
            gauges: node.gauges.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            children: node.children.into_iter().map(Self::from).collect(),
        }
    }
}

impl QosNode {
    /// Each node under here with its path, as in `htb 1:/1:10/fq_codel`: a name of its own.
    pub fn walk(&self) -> Vec<(String, &Self)> {
        let mut found = vec![(self.name(), self)];
        for (index, child) in self.children.iter().enumerate() {
            let alike = |other: &&Self| other.name() == child.name();
            let alone = self.children.iter().filter(alike).count() == 1;
            let number = if alone { String::new() } else { format!("[{index}]") };
            let below = child.walk().into_iter();
            found.extend(below.map(|(path, node)| {
                let (first, rest) = path.split_at(child.name().len());
                (format!("{}/{first}{number}{rest}", self.name()), node)
            }));
        }
        found
    }

    fn name(&self) -> String {
        let found = |id: &str| id.parse::<ClassId>().is_ok_and(|id| id.major() > 0x8000);
        match &self.id {
            Some(id) if self.kind == "class" => id.clone(),
            // Names that nobody gave come and go with others, and a path stays.
            Some(id) if !found(id) => format!("{} {id}", self.kind),
            _ => self.kind.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sched::{Config, Shape, build};
    use std::time::Duration;

    #[test]
    fn each_node_has_a_path_of_its_own_and_the_report_comes_back() {
        let report = build::<u64>(&Config::of(Shape::prio(3))).unwrap().report();
        let node = QosNode::from(report.clone());
        let mut paths: Vec<String> = node.walk().into_iter().map(|(path, _)| path).collect();
        let count = paths.len();
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), count);
        assert_eq!(Report::from(node).to_string(), report.to_string());
    }

    fn class(id: &str, sent_bytes: u64, children: Vec<QosNode>) -> QosNode {
        QosNode {
            kind: if children.is_empty() { "class" } else { "htb" }.to_owned(),
            id: Some(id.to_owned()),
            settings: String::new(),
            sent_packets: sent_bytes / 1000,
            sent_bytes,
            dropped: 0,
            overlimits: 0,
            requeues: 0,
            marked: 0,
            backlog_packets: 0,
            backlog_bytes: 0,
            gauges: BTreeMap::new(),
            children,
        }
    }

    fn port(sent: u64) -> Vec<Qos> {
        let root = class("1:", sent, vec![class("1:10", sent, Vec::new())]);
        vec![Qos { port: "p0".to_owned(), root }]
    }

    #[test]
    fn a_tree_stands_under_its_ports_name() {
        let drawn = Qos::text(&port(2000), Style::new(false));
        assert_eq!(
            drawn,
            "port p0\nhtb 1:\n│  sent 2.0 kB, 2 packets\n└─ 1:10\n      sent 2.0 kB, 2 packets\n"
        );
    }

    #[test]
    fn a_port_is_shown_as_tc_shows_it() {
        let tree = || {
            let root = build::<u64>(&Config::of(Shape::prio(2))).unwrap().report().into();
            vec![Qos { port: "p0".to_owned(), root }]
        };
        let priomap = "1 1 1 1 1 1 0 0 1 1 1 1 1 1 1 1";
        assert_eq!(
            Qos::as_tc(tree(), None, false),
            format!(
                "qdisc prio 1: dev p0 root refcnt 2 bands 2 priomap  {priomap} \n\
                 class prio 1:1 dev p0 parent 1:  \nclass prio 1:2 dev p0 parent 1:  \n"
            )
        );
        let one = Qos::as_tc(tree(), Some("p0"), true);
        assert!(one.starts_with("qdisc prio 1: root "), "{one}");
        assert!(
            one.contains(" Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0) \n"),
            "{one}"
        );
        assert_eq!(Qos::as_tc(tree(), Some("p1"), false), "qdisc noqueue 0: root refcnt 2 \n");
    }

    #[test]
    fn rates_reach_every_class() {
        let [then, now] = [2000, 10_000].map(|sent| serde_json::to_value(port(sent)).unwrap());
        let rates = crate::view::rates::<Qos>(&then, now, Duration::from_secs(2)).unwrap();
        let rates: Vec<Qos> = serde_json::from_value(rates).unwrap();
        assert_eq!(rates[0].root.sent_bytes, 4000);
        assert_eq!(rates[0].root.children[0].sent_packets, 4);
    }
}
