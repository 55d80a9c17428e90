//! Room in tables, told of where a controller wants it (OpenFlow 1.4, 7.4.5).
//!
//! ```text
//!  room   100 % ┐
//!           up ─┼──────────────────────╱── told: up
//!         down ─┼─────────╲─ told: down
//!             0 ┴──────────────────────────
//! ```
//! Each is told once, and then the other one is waited for.

use crate::bridge::Bridge;
use crate::connection::Event;
use openflow::message::{TableDesc, Vacancy, table_reason};

/// What is told of the room in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    down: u8,
    up: u8,
    /// It was little when this was told last.
    is_little: bool,
}

impl Watch {
    /// The reason to tell of what there is now, if there is one.
    fn judge(&mut self, now: u8) -> Option<u8> {
        if self.is_little && now > self.up {
            self.is_little = false;
            return Some(table_reason::VACANCY_UP);
        }
        if !self.is_little && now < self.down {
            self.is_little = true;
            return Some(table_reason::VACANCY_DOWN);
        }
        None
    }
}

impl Bridge {
    /// A table's settings.
    pub(crate) fn table_desc(&self, table: u8) -> TableDesc {
        let now = self.vacancy(table);
        let watch = self.vacancies.get(&table);
        let vacancy = watch.map(|watch| Vacancy { down: watch.down, up: watch.up, now });
        TableDesc { table, evicts: self.evicts(table), vacancy }
    }

    /// Has room in a table be told of, below the one share and above the other; none: not at all.
    pub(crate) fn set_vacancy(&mut self, table: u8, shares: Option<(u8, u8)>) {
        let Some((down, up)) = shares else {
            self.vacancies.remove(&table);
            return;
        };
        let is_little = self.vacancy(table) < up;
        self.vacancies.insert(table, Watch { down, up, is_little });
    }

    /// Tells of the room in a table that has other flows, or another limit.
    pub(crate) fn look_at_vacancy(&mut self, table: u8) {
        if !self.vacancies.contains_key(&table) {
            return;
        }
        let now = self.vacancy(table);
        let reason = self.vacancies.get_mut(&table).and_then(|watch| watch.judge(now));
        if let Some(reason) = reason {
            self.events.push(Event::Table(reason, self.table_desc(table)));
        }
    }

    /// The share of a table that is empty, in percent; of one without limit all is.
    fn vacancy(&self, table: u8) -> u8 {
        let (most, many) = (self.most_of(table), self.in_table(table));
        (most.saturating_sub(many) * 100).checked_div(most).unwrap_or(100) as u8
    }
}
