//! Statistics as `tc -s` has them, as a tree of disciplines and classes, drawn as a person would
//! draw it.
//!
//! ```text
//! htb 1: default 1:20                                   sent 12.0 MB, 8000 packets · dropped 3 · waiting 4
//! └─ 1:1 rate 10mbit ceil 10mbit
//!    ├─ 1:10 prio 0 rate 3mbit ceil 10mbit
//!    │  └─ fq_codel limit 10240p flows 1024 …
//!    └─ 1:20 prio 1 rate 7mbit ceil 10mbit
//! ```

use serde::Serialize;
use std::borrow::Cow;
use std::fmt;

use crate::ClassId;
use crate::pool::Backlog;

/// What a discipline or a class did since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counters {
    /// Packets given out.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Packets dropped here or below.
    pub dropped: u64,
    /// Times that a packet had to wait for tokens.
    pub overlimits: u64,
    /// Packets that were given out, could not be sent, and were given back.
    pub requeues: u64,
    /// Packets marked Congestion Experienced.
    pub marked: u64,
}

impl Counters {
    #[inline]
    pub(crate) fn sent(&mut self, length_bytes: u32) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(length_bytes);
    }

    /// Packets went, so many of so many bytes.
    #[inline]
    pub(crate) fn sent_together(&mut self, went: Backlog) {
        self.sent_packets += u64::from(went.packets);
        self.sent_bytes += went.bytes;
    }
}

/// A discipline or a class, and what stands under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// `htb`, `fq_codel`, `class`, `band`.
    pub kind: Cow<'static, str>,
    /// Its name, where it has one.
    pub id: ClassId,
    /// What it was set to.
    pub settings: String,
    /// What it did.
    pub counters: Counters,
    /// What waits in it.
    pub backlog: Backlog,
    /// What else it tells, by `tc`'s names.
    pub gauges: Vec<(Cow<'static, str>, i64)>,
    /// What stands under it.
    pub children: Vec<Report>,
}

impl Report {
    pub(crate) fn new(
        kind: &'static str,
        settings: String,
        counters: Counters,
        backlog: Backlog,
    ) -> Self {
        let (id, gauges, children) = (ClassId::NONE, Vec::new(), Vec::new());
        Self { kind: kind.into(), id, settings, counters, backlog, gauges, children }
    }

    pub(crate) fn gauge(self, name: &'static str, value: u64) -> Self {
        self.signed_gauge(name, value as i64)
    }

    pub(crate) fn signed_gauge(mut self, name: &'static str, value: i64) -> Self {
        self.gauges.push((name.into(), value));
        self
    }

    /// The class or discipline of that name, wherever it stands.
    pub fn find(&self, id: ClassId) -> Option<&Report> {
        if self.id == id && id != ClassId::NONE {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(id))
    }

    /// The value that `tc` gives that name.
    pub fn gauge_value(&self, name: &str) -> Option<i64> {
        self.gauges.iter().find(|(of, _)| *of == name).map(|&(_, value)| value)
    }

    /// One report of the parts that several workers have of one tree, each with its worker's
    /// number: what they did together, and what each sent.
    pub fn joined(parts: impl IntoIterator<Item = (usize, Report)>) -> Option<Report> {
        let mut parts = parts.into_iter().peekable();
        let (first, mut all) = parts.next()?;
        if parts.peek().is_none() {
            return Some(all);
        }
        let sent = |worker: usize, part: &Report| {
            (format!("worker_{worker}_packets").into(), part.counters.sent_packets as i64)
        };
        let mut by_worker = vec![sent(first, &all)];
        for (worker, part) in parts {
            by_worker.push(sent(worker, &part));
            all.add(part);
        }
        all.gauges.extend(by_worker);
        Some(all)
    }

    /// Adds another part's to its own.
    fn add(&mut self, part: Report) {
        let (own, other) = (&mut self.counters, part.counters);
        own.sent_packets += other.sent_packets;
        own.sent_bytes += other.sent_bytes;
        own.dropped += other.dropped;
        own.overlimits += other.overlimits;
        own.requeues += other.requeues;
        own.marked += other.marked;
        self.backlog.packets += part.backlog.packets;
        self.backlog.bytes += part.backlog.bytes;
        for (name, value) in part.gauges {
            let Some((_, own)) = self.gauges.iter_mut().find(|(had, _)| *had == name) else {
                continue;
            };
            // The settings of `htb` tell one of the counts, as those of `tc` do.
            if name == "direct_packets" {
                let told = |count: i64| format!("direct_packets_stat {count}");
                self.settings = self.settings.replacen(&told(*own), &told(*own + value), 1);
            }
            // The longest is no sum.
            *own = if name.starts_with("max") || name.starts_with("longest") {
                (*own).max(value)
            } else {
                *own + value
            };
        }
        self.children.iter_mut().zip(part.children).for_each(|(own, other)| own.add(other));
    }

    fn title(&self) -> String {
        let mut words = Vec::new();
        if !matches!(&*self.kind, "class" | "band") {
            words.push(self.kind.to_string());
        }
        if self.id != ClassId::NONE {
            words.push(self.id.to_string());
        }
        if !self.settings.is_empty() {
            words.push(self.settings.clone());
        }
        words.join(" ")
    }

    fn doings(&self) -> String {
        let Counters { sent_packets, sent_bytes, dropped, overlimits, requeues, marked } =
            self.counters;
        let mut text = format!("sent {}, {sent_packets} packets", bytes(sent_bytes));
        let said = [
            ("dropped", dropped),
            ("overlimits", overlimits),
            ("requeues", requeues),
            ("marked", marked),
        ];
        for (name, count) in said.into_iter().filter(|&(_, count)| count > 0) {
            text += &format!(" · {name} {count}");
        }
        if self.backlog.packets > 0 {
            let Backlog { packets, bytes: waiting } = self.backlog;
            text += &format!(" · waiting {packets} packets, {}", bytes(waiting));
        }
        text
    }

    fn draw(&self, f: &mut fmt::Formatter<'_>, first: &str, rest: &str) -> fmt::Result {
        writeln!(f, "{first}{}", self.title())?;
        let rail = if self.children.is_empty() { "   " } else { "│  " };
        writeln!(f, "{rest}{rail}{}", self.doings())?;
        let told: Vec<String> = self
            .gauges
            .iter()
            .filter(|(_, value)| *value != 0)
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        if !told.is_empty() {
            writeln!(f, "{rest}{rail}{}", told.join(" · "))?;
        }
        for (at, child) in self.children.iter().enumerate() {
            let last = at + 1 == self.children.len();
            let (branch, below) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            child.draw(f, &format!("{rest}{branch}"), &format!("{rest}{below}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw(f, "", "")
    }
}

/// Bytes for reading, in powers of ten.
fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_drawn_with_its_branches() {
        let leaf = |id: &str| {
            let mut leaf = Report::new(
                "class",
                "rate 1mbit".to_string(),
                Counters::default(),
                Backlog { packets: 2, bytes: 3000 },
            );
            leaf.id = id.parse().unwrap();
            leaf.signed_gauge("tokens", -5)
        };
        let mut top = Report::new("htb", String::new(), Counters::default(), Backlog::default());
        top.id = "1:".parse().unwrap();
        top.counters.sent(1500);
        top.children = vec![leaf("1:10"), leaf("1:20")];
        let drawn = "\
htb 1:
│  sent 1.5 kB, 1 packets
├─ 1:10 rate 1mbit
│     sent 0 B, 0 packets · waiting 2 packets, 3.0 kB
│     tokens -5
└─ 1:20 rate 1mbit
      sent 0 B, 0 packets · waiting 2 packets, 3.0 kB
      tokens -5
";
        assert_eq!(top.to_string(), drawn);
        assert_eq!(top.find("1:20".parse().unwrap()).unwrap().gauge_value("tokens"), Some(-5));
    }
}
