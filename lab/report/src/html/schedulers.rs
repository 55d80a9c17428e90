//! Rates by scheduler and endpoint.

use lab_record::axes::{Axis, Endpoint, Scheduler};

use super::section::{Page, Section, distinct, figure, metrics};
use crate::figures::bars;
use crate::summary::Row;
use crate::svg::scale::Unit;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let rows = &page.rows;
    let of_axis = |row: &Row, axis: &str| row.subject.axes.get(axis).cloned();
    let groups = distinct(rows.iter().filter_map(|row| of_axis(row, Scheduler::NAME)));
    if groups.is_empty() {
        return None;
    }
    let kind =
        |row: &Row| of_axis(row, Endpoint::NAME).unwrap_or_else(|| row.subject.device.clone());
    let kinds = distinct(rows.iter().map(kind));
    let mut body = String::new();
    for metric in metrics(rows) {
        let bar = |group: &String, name: &String| {
            let same = |row: &&Row| {
                row.label() == metric
                    && of_axis(row, Scheduler::NAME).as_ref() == Some(group)
                    && kind(row) == *name
            };
            rows.iter().find(same).map(|row| (row.value_pps, row.interval, row.is_at_least()))
        };
        let groups: Vec<bars::Group> = groups
            .iter()
            .map(|group| bars::Group {
                name: group.clone(),
                bars: kinds.iter().map(|name| bar(group, name)).collect(),
            })
            .collect();
        let svg = bars::draw(&groups, &kinds, Unit::Count, (&metric, bars::WHISKERS));
        body.push_str(&figure(&svg, &format!("{metric} by scheduler and endpoint.")));
    }
    Some(Section { title: "Schedulers", lead: String::new(), body })
}
