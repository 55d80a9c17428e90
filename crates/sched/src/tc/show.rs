//! What `tc qdisc show` and `tc class show` would print of a scheduler.
//!
//! ```text
//!   qdisc htb 1: root refcnt 2 r2q 10 default 0x20 direct_packets_stat 0 direct_qlen 1000
//!   qdisc fq_codel 8001: parent 1:20 limit 10240p flows 1024 …
//!   class htb 1:20 parent 1:1 leaf 8001: prio 0 rate 17Mbit ceil 19Mbit burst …
//! ```

use std::fmt::Write;

use crate::ClassId;
use crate::pool::Backlog;
use crate::report::{Counters, Report};

/// The queues of a port, of a scheduler or of none; with what they did, if asked for.
pub fn show_qdiscs(port: Option<&str>, scheduler: Option<&Report>, statistics: bool) -> String {
    let mut out = Lines { text: String::new(), port: dev(port), statistics };
    match scheduler {
        Some(root) => out.qdisc(root, "root refcnt 2"),
        None => _ = writeln!(out.text, "qdisc noqueue 0:{} root refcnt 2 ", out.port),
    }
    out.text
}

/// The classes of a port's scheduler.
pub fn show_classes(port: Option<&str>, scheduler: Option<&Report>, statistics: bool) -> String {
    let mut out = Lines { text: String::new(), port: dev(port), statistics };
    if let Some(root) = scheduler {
        out.classes_of(root);
    }
    out.text
}

fn dev(port: Option<&str>) -> String {
    port.map_or(String::new(), |port| format!(" dev {port}"))
}

struct Lines {
    text: String,
    port: String,
    statistics: bool,
}

impl Lines {
    fn qdisc(&mut self, qdisc: &Report, place: &str) {
        let Report { kind, id, settings, .. } = qdisc;
        let named = writeln!(self.text, "qdisc {kind} {id}{} {place} {settings} ", self.port);
        // Writing to a text cannot fail.
        let Ok(()) = named else { return };
        self.statistics(qdisc);
        self.qdiscs_below(qdisc, *id);
    }

    /// Those with a name, each at the class that it stands in.
    fn qdiscs_below(&mut self, above: &Report, place: ClassId) {
        let place = if above.kind == "tbf" { ClassId::new(place.major(), 1) } else { place };
        for child in &above.children {
            if is_class(child) {
                self.qdiscs_below(child, child.id);
            } else if child.id != ClassId::NONE {
                self.qdisc(child, &format!("parent {place}"));
            }
        }
    }

    fn classes_of(&mut self, qdisc: &Report) {
        let root = || Report { kind: "class".into(), ..Report::clone(qdisc) };
        match &*qdisc.kind {
            // Its classes stand under one that has its own name.
            "hfsc" => {
                let of_its_own = Report { settings: String::new(), ..root() };
                self.class("hfsc", &of_its_own, "root", None);
            }
            "tbf" => {
                let id = ClassId::new(qdisc.id.major(), 1);
                let only = Report { id, settings: String::new(), ..root() };
                self.class("tbf", &only, &format!("parent {}", qdisc.id), qdisc.children.first());
            }
            _ => {}
        }
        let top = if qdisc.kind == "htb" { "root".into() } else { format!("parent {}", qdisc.id) };
        self.classes_below(&qdisc.kind, qdisc, &top);
        self.classes_of_leaves(qdisc);
    }

    fn classes_below(&mut self, kind: &str, above: &Report, place: &str) {
        // The bands of `pfifo_fast` are no classes, and have no number of its own.
        for class in above.children.iter().filter(|child| is_class(child) && child.id.major() != 0)
        {
            let leaf = class.children.iter().find(|child| !is_class(child));
            self.class(kind, class, place, leaf);
            self.classes_below(kind, class, &format!("parent {}", class.id));
        }
    }

    /// The classes of disciplines that stand in classes.
    fn classes_of_leaves(&mut self, above: &Report) {
        for child in &above.children {
            if is_class(child) {
                self.classes_of_leaves(child);
            } else if child.id != ClassId::NONE {
                self.classes_of(child);
            }
        }
    }

    fn class(&mut self, kind: &str, class: &Report, place: &str, leaf: Option<&Report>) {
        let leaf = leaf.filter(|leaf| leaf.id != ClassId::NONE);
        let leaf = leaf.map_or(String::new(), |leaf| format!("leaf {} ", leaf.id));
        let Report { id, settings, .. } = class;
        let told = writeln!(self.text, "class {kind} {id}{} {place} {leaf}{settings} ", self.port);
        let Ok(()) = told else { return };
        self.statistics(class);
    }

    fn statistics(&mut self, of: &Report) {
        if !self.statistics {
            return;
        }
        let Counters { sent_packets, sent_bytes, dropped, overlimits, requeues, .. } = of.counters;
        let Backlog { packets, bytes } = of.backlog;
        self.text += &format!(
            " Sent {sent_bytes} bytes {sent_packets} pkt (dropped {dropped}, overlimits {overlimits} \
             requeues {requeues}) \n backlog {bytes}b {packets}p requeues {requeues}\n"
        );
        for (name, value) in &of.gauges {
            self.text += &format!("  {name} {value}\n");
        }
    }
}

fn is_class(report: &Report) -> bool {
    matches!(&*report.kind, "class" | "band")
}
