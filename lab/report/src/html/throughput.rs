//! Rates by device and case.

use std::fmt::Write;

use super::host;
use super::section::{Page, Section, distinct, figure, metrics};
use crate::figures::throughput;
use crate::summary::Row;
use crate::svg::canvas::escape;
use crate::words::{limit, rate, verdict};

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let Page { results, rows } = page;
    if rows.is_empty() {
        return None;
    }
    let (names, metrics) = (distinct(rows.iter().map(Row::name)), metrics(rows));
    let dot = |row: &Row| throughput::Dot {
        row: place(&names, &row.name()),
        metric: place(&metrics, &row.label()),
        value_pps: row.value_pps,
        interval: row.interval,
        at_least: row.is_at_least(),
    };
    let dots: Vec<_> = rows.iter().map(dot).collect();
    let mut body = if names.len() <= 40 {
        let caption = match dots.iter().any(|dot| dot.at_least) {
            true => {
                "Throughput by device and case. ≥, hollow: not the device but the generator or the \
                 host limited it; it may do more."
            }
            false => "Throughput by device and case.",
        };
        figure(&throughput::draw(&names, &metrics, &dots), caption)
    } else {
        String::new()
    };
    body.push_str("<table>\n<tr><th>device</th><th>case</th><th></th><th class=\"n\">lower bound</th><th class=\"n\">conditional</th><th class=\"n\">upper bound</th>\
                   <th class=\"n\">of the first</th><th class=\"n\">lies in</th><th class=\"n\">sd</th><th class=\"n\">runs</th><th>limited by</th></tr>\n");
    for row in rows {
        let interval = format!("{} ({})", row.interval_in_words(rate), row.spread());
        let conditional = row.conditional_pps.map_or_else(|| "–".into(), rate);
        let upper = if row.upper_pps > row.value_pps { rate(row.upper_pps) } else { "–".into() };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{conditional}</td><td class=\"n\">{upper}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{interval}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            escape(&row.subject.device),
            escape(&row.subject.case()),
            // A name of two words stays on one line.
            escape(&row.label()).replace(' ', "\u{a0}"),
            rate_of(row),
            of_the_first(row, rows),
            spread(row),
            row.runs,
            row.limiter.name()
        );
        if let Some(found) = &row.limit {
            let class = if row.is_at_least() { "verdict" } else { "facts" };
            let phrase = escape(&limit(found));
            let _ = writeln!(
                body,
                "<tr><td></td><td colspan=\"10\" class=\"{class}\">upper bound: {phrase}</td></tr>"
            );
        }
        for found in &row.verdicts {
            let phrase = escape(&verdict(found));
            let _ = writeln!(
                body,
                "<tr><td></td><td colspan=\"10\" class=\"verdict\">{phrase}</td></tr>"
            );
        }
    }
    body.push_str("</table>\n");
    let lead = host::fitness(results).unwrap_or_default();
    Some(Section { title: "Throughput", lead, body })
}

/// A row's rate, and whether it may be more.
fn rate_of(row: &Row) -> String {
    format!("{}{}", if row.is_at_least() { "≥\u{a0}" } else { "" }, rate(row.value_pps))
}

/// The standard deviation over restarts, as a share; one run has none.
fn spread(row: &Row) -> String {
    match row.runs {
        0 | 1 => "–".into(),
        _ => format!("{:.2} %", 100.0 * row.sd_pps / row.value_pps.max(1e-9)),
    }
}

/// What a rate is of that of the first device which was measured in the same case; nothing of two
/// lower bounds.
fn of_the_first(row: &Row, rows: &[Row]) -> String {
    let ratio =
        rows.iter().find(|other| row.is_comparable_to(other)).and_then(|first| row.ratio_to(first));
    ratio.map_or_else(|| "–".into(), |(sign, ratio)| format!("{sign}{ratio:.2}"))
}

/// Where a name stands in a list that holds it.
fn place(names: &[String], name: &str) -> usize {
    names.iter().position(|it| it == name).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{AnswerRecord, Blame, Limit, Limiter, Results, Subject};

    #[test]
    fn what_the_generator_limited_is_at_least_and_no_ratio_of_such_is_told() {
        let answer = |device: &str, by, low_pps| AnswerRecord {
            subject: Subject { device: device.into(), ..Subject::default() },
            metric: "NDR".into(),
            low_pps,
            high_pps: low_pps,
            limit: Some(Limit { by, blame: Blame { device: 0, generator: 77, host: 0 } }),
            ..AnswerRecord::default()
        };
        let body = |first, second| {
            let answers = vec![answer("one", first, 1e6), answer("two", second, 2e6)];
            section(&Page::of(&Results { answers, ..Results::default() })).unwrap().body
        };
        let (device, generator) = (Limiter::Device, Limiter::Generator);
        let both = body(generator, generator);
        assert!(both.contains("≥\u{a0}1.000 Mpps") && both.contains("≥\u{a0}2.000 Mpps"), "{both}");
        assert!(both.contains("77 unsent by the generator") && !both.contains(">2.00<"), "{both}");
        assert!(body(device, generator).contains(">≥2.00<"));
        assert!(body(generator, device).contains(">≤2.00<"));
        let own = body(device, device);
        assert!(own.contains(">2.00<") && own.contains("<td>device</td>") && !own.contains('≥'));
    }
}
