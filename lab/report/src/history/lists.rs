//! Changes and anomalies as lists of a page: those that came at once together.

use std::fmt::Write;

use super::findings::Happened;
use super::line::Line;
use crate::svg::canvas::escape;

/// Items that a page tells; on the first one the others stand on the pages of their lines.
const MOST_TOLD: usize = 40;

/// What leads to the page of a line.
pub(super) type LinkOf<'a> = &'a dyn Fn(&Line<'_>) -> String;

/// The changes, the latest first.
pub(super) fn list_changes(body: &mut String, all: &[Happened<'_>], link: Option<LinkOf<'_>>) {
    let mut together: Vec<Vec<&Happened<'_>>> = Vec::new();
    for it in all {
        match together.iter_mut().find(|group| group[0].is_with(it)) {
            Some(group) => group.push(it),
            None => together.push(vec![it]),
        }
    }
    if together.is_empty() {
        return;
    }
    body.push_str("<h2>Changes, latest first</h2>\n<ul class=\"list\">\n");
    for group in together.iter().take(MOST_TOLD) {
        let first = group[0];
        let class = if first.change.better < 0.0 { "worse" } else { "better" };
        let since = first.since();
        let subject = since.commit.as_ref().filter(|it| !it.subject.is_empty());
        let subject = subject.map(|it| format!(" “{}”", escape(&it.subject)));
        let link = link.map(|link| format!(" ({})", link(first.line)));
        let _ = writeln!(
            body,
            "<li><strong class=\"{class}\">{class}</strong> <span class=\"facts\">{}</span> {}{}{}",
            escape(since.day()),
            escape(&first.place()),
            subject.unwrap_or_default(),
            link.unwrap_or_default()
        );
        let listed: String =
            group.iter().map(|it| format!("<li>{}</li>\n", escape(&it.what()))).collect();
        let _ = match group.len() {
            0..=3 => writeln!(body, "<ul>\n{listed}</ul></li>"),
            count => {
                let shares = || group.iter().map(|it| 100.0 * it.change.better.abs());
                let (least, most) =
                    (shares().fold(f64::INFINITY, f64::min), shares().fold(0.0, f64::max));
                writeln!(
                    body,
                    "<details><summary>{count} numbers, by {least:.1} to {most:.1} %</summary><ul>\n{listed}</ul></details></li>"
                )
            }
        };
    }
    body.push_str("</ul>\n");
    more(body, together.len());
}

/// The anomalies, likewise.
pub(super) fn list_anomalies(body: &mut String, lines: &[Line<'_>], link: Option<LinkOf<'_>>) {
    let mut told = Vec::new();
    for line in lines {
        for series in &line.series {
            for &at in &series.anomalies {
                let point = &series.points[at];
                let entry = line.entries[point.entry];
                let link = link.map(|link| format!(" ({})", link(line)));
                told.push((
                    entry.order(),
                    format!(
                        "<li><strong class=\"odd\">apart</strong> <span class=\"facts\">{}</span> {}, {}: {}, {:+.1} % off, at <code>{}</code> alone{}</li>",
                        escape(entry.day()),
                        escape(&point.number.name()),
                        escape(&point.number.metric),
                        escape(&point.number.words()),
                        100.0 * series.off(at),
                        escape(&entry.label()),
                        link.unwrap_or_default()
                    ),
                ));
            }
        }
    }
    if told.is_empty() {
        return;
    }
    told.sort_by(|a, b| b.0.cmp(&a.0));
    body.push_str("<h2>Anomalies</h2>\n<p class=\"facts\">Campaigns amid others that say otherwise: they count for no change.</p>\n<ul class=\"list\">\n");
    told.iter().take(MOST_TOLD).for_each(|it| {
        let _ = writeln!(body, "{}", it.1);
    });
    body.push_str("</ul>\n");
    more(body, told.len());
}

fn more(body: &mut String, all: usize) {
    if all > MOST_TOLD {
        let more = all - MOST_TOLD;
        let _ =
            writeln!(body, "<p class=\"facts\">And {more} more, on the pages of their lines.</p>");
    }
}
