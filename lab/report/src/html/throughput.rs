//! Rates by device and case.

use std::fmt::Write;

use super::section::{Page, Section, distinct, figure, metrics};
use crate::figures::throughput;
use crate::quantities;
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
                "Throughput by device and case: lower bounds, whiskers their 95 % interval over restarts, of under three \
                 the bracket. ≥, hollow: not the device but the generator or the \
                 host limited it; it may do more."
            }
            false => {
                "Throughput by device and case: lower bounds, whiskers their 95 % interval over restarts, of under three \
                 the bracket."
            }
        };
        figure(&throughput::draw(&names, &metrics, &dots), caption)
    } else {
        String::new()
    };
    // What is said of every interval is said once, above them.
    let spread_of_all =
        rows.first().map(Row::spread).filter(|it| rows.iter().all(|row| row.spread() == *it));
    let lies_in =
        spread_of_all.map_or_else(|| "lies in".to_owned(), |it| format!("lies in ({it})"));
    let _ = writeln!(
        body,
        "<table>\n<tr><th>device</th><th>case</th><th></th><th class=\"n\">lower bound</th><th class=\"n\">conditional</th><th class=\"n\">upper bound</th>\
                   <th class=\"n\">of the first</th><th class=\"n\">{lies_in}</th><th class=\"n\">sd</th><th class=\"n\">runs</th><th>limited by</th></tr>"
    );
    let costs = quantities::costs(results);
    // Rows of one device and case have much in common: it is told once.
    let mut told_of: Vec<(&lab_record::Subject, String)> = Vec::new();
    for row in rows {
        let mut is_news = |told: &str| {
            let news = (&row.subject, told.to_owned());
            let known = told_of.contains(&news);
            told_of.push(news);
            !known
        };
        let mut interval = row.interval_in_words(rate);
        if spread_of_all.is_none() {
            interval += &format!(" ({})", row.spread());
        }
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
            if is_news(&phrase) {
                let _ = writeln!(
                    body,
                    "<tr><td></td><td colspan=\"10\" class=\"{class}\">upper bound: {phrase}</td></tr>"
                );
            }
        }
        if let Some(told) = cost_instead(row, rows, &costs).filter(|told| is_news(told)) {
            let told = escape(&told);
            let _ = writeln!(body, "<tr><td></td><td colspan=\"10\">{told}</td></tr>");
        }
        for found in &row.verdicts {
            let phrase = escape(&verdict(found));
            if is_news(&phrase) {
                let _ = writeln!(
                    body,
                    "<tr><td></td><td colspan=\"10\" class=\"verdict\">{phrase}</td></tr>"
                );
            }
        }
    }
    body.push_str("</table>\n");
    Some(Section { title: "Throughput", lead: String::new(), body })
}

/// Of a rate that is a lower bound, what is compared instead: the cost of a packet, and what it is
/// of that of the first device in the same case.
fn cost_instead(row: &Row, rows: &[Row], costs: &[quantities::Row]) -> Option<String> {
    let of = |row: &Row| costs.iter().find(|cost| cost.subject == row.subject);
    let own = of(row).filter(|_| row.is_at_least())?;
    let first = rows.iter().find(|other| row.is_comparable_to(other));
    let first = first.filter(|other| other.subject.device != row.subject.device).and_then(of);
    let ratio = first.map(|first| format!(", {:.2} of the first", own.median / first.median));
    let note = own.note.as_ref().map(|note| format!(": {note}"));
    Some(format!(
        "Its cost is compared instead: {}{}{}",
        quantities::told(own.median, own.unit),
        ratio.unwrap_or_default(),
        note.unwrap_or_default()
    ))
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
    use lab_record::{AnswerRecord, Blame, Limit, Limiter, QuantityRecord, Results, Subject, Unit};

    #[test]
    fn a_device_that_the_generator_limited_is_told_by_its_cost() {
        let subject = |device: &str| Subject { device: device.into(), ..Subject::default() };
        let answer = |device: &str, by| AnswerRecord {
            subject: subject(device),
            metric: "NDR".into(),
            low_pps: 1e6,
            high_pps: 1e6,
            limit: Some(Limit { by, ..Limit::LARGEST_LOAD }),
            ..AnswerRecord::default()
        };
        let cost = |device: &str, cycles| QuantityRecord {
            subject: subject(device),
            metric: quantities::COST.into(),
            unit: Unit::Cycles,
            values: vec![cycles],
            note: Some("vectors of 255.0 packets".into()),
        };
        let body = |by| {
            let answers = vec![answer("one", by), answer("two", by)];
            let quantities = vec![cost("one", 200.0), cost("two", 300.0)];
            section(&Page::of(&Results { answers, quantities, ..Results::default() })).unwrap().body
        };
        let told = "300.0 cycles a packet, 1.50 of the first: vectors of 255.0 packets";
        let bound = body(Limiter::Generator);
        assert!(
            bound.contains(told) && bound.contains("compared instead: 200.0 cycles"),
            "{bound}"
        );
        assert!(!body(Limiter::Device).contains("cost"));
    }

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
