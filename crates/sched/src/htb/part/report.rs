//! What one worker tells of its part: the packets that it sent itself, and, of the first, what the
//! book has in its buckets. [`Report::joined`] makes one of all workers' parts.

use super::super::Htb;
use super::super::class::NIL;
use super::Part;
use crate::discipline::Discipline;
use crate::pool::Backlog;
use crate::rate::TICKS_PER_NS;
use crate::report::{Counters, Report};

/// What a class sent: by an ancestor's tokens, its own, a descendant's.
type SentBy = [Counters; 3];

impl Part {
    pub(super) fn told(&self) -> Report {
        let direct = self.direct.report().counters;
        let sent = self.sent_by();
        let mut counters = self.counters;
        add(&mut counters, &direct);
        for (place, by) in self.places.iter().zip(&sent) {
            if place.parent == NIL {
                by.iter().for_each(|one| add(&mut counters, one));
            }
        }
        let (passed, limit) = (direct.sent_packets, self.direct.limit_packets());
        let text = format!("{} direct_packets_stat {passed} direct_qlen {limit}", self.text);
        let mut report =
            Report::new("htb", text, counters, self.backlog()).gauge("direct_packets", passed);
        report.id = self.handle;
        report.children = self.told_below(NIL, &sent);
        if self.worker == 0 {
            let mut accounts = self.book.open();
            tell_buckets(accounts.tree(), &mut report);
        }
        report
    }

    /// Of each class.
    fn sent_by(&self) -> Vec<SentBy> {
        let mut all = vec![SentBy::default(); self.places.len()];
        for (leaf, by_level) in self.sent.chunks(self.levels).enumerate() {
            for (level, sent) in by_level.iter().enumerate() {
                let mut at = leaf;
                while let Some(place) = self.places.get(at) {
                    let own = usize::from(place.level);
                    add(&mut all[at][usize::from(own >= level) + usize::from(own > level)], sent);
                    at = place.parent as usize;
                }
            }
        }
        all
    }

    fn told_below(&self, parent: u32, sent: &[SentBy]) -> Vec<Report> {
        let children = (0..).zip(&self.places).filter(|(_, place)| place.parent == parent);
        children.map(|(at, _)| self.class_told(at, sent)).collect()
    }

    fn class_told(&self, at: u32, sent: &[SentBy]) -> Report {
        let place = &self.places[at as usize];
        let [borrowed, lended, below] = sent[at as usize];
        let mut counters = Counters::default();
        [borrowed, lended, below].iter().for_each(|one| add(&mut counters, one));
        let mut report = Report::new("class", place.text.clone(), counters, Backlog::default())
            .gauge("lended", lended.sent_packets)
            .gauge("borrowed", borrowed.sent_packets);
        report.id = place.id;
        report.children = match &self.leaves[at as usize].child {
            Some(child) => vec![child.report()],
            None => self.told_below(at, sent),
        };
        for child in &report.children {
            report.backlog.packets += child.backlog.packets;
            report.backlog.bytes += child.backlog.bytes;
            report.counters.dropped += child.counters.dropped;
        }
        report
    }
}

fn add(to: &mut Counters, sent: &Counters) {
    to.sent_packets += sent.sent_packets;
    to.sent_bytes += sent.sent_bytes;
}

/// Adds to each class what the book's has.
fn tell_buckets(tree: &Htb, report: &mut Report) {
    let found = tree.labels.iter().position(|label| label.id == report.id);
    if let Some(at) = found.filter(|_| report.kind == "class") {
        let (tokens, ctokens) = tree.classes[at].tokens(tree.clock.now);
        report.counters.overlimits = tree.labels[at].overlimits;
        report.gauges.push(("tokens_ns".into(), tokens / TICKS_PER_NS));
        report.gauges.push(("ctokens_ns".into(), ctokens / TICKS_PER_NS));
    }
    report.children.iter_mut().for_each(|child| tell_buckets(tree, child));
}
