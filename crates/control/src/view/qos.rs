//! How the packets of shaped ports wait.

use std::borrow::Cow;
use std::collections::BTreeMap;

use sched::{Backlog, ClassId, Counters, Report};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A shaped port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Qos {
    /// Its name.
    pub port: String,
    /// The discipline at the root, with what stands under it.
    pub root: QosNode,
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
        match &self.id {
            Some(id) if self.kind == "class" => id.clone(),
            Some(id) => format!("{} {id}", self.kind),
            None => self.kind.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sched::{Config, Shape, build};

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
}
