//! The page of a line, and its numbers as a table for other programs.

use std::fmt::Write;

use super::chart::{chart, marker};
use super::entry::Entry;
use super::findings::{changes, finding};
use super::held::Held;
use super::line::Line;
use super::lists::{list_anomalies, list_changes};
use super::number::Number;
use super::series::Series;
use super::style::page;
use crate::svg::canvas::escape;

/// The page of a line.
pub(super) fn of_line(line: &Line<'_>, name: &str) -> String {
    let Some(last) = line.last() else { return page(name, "") };
    let mut body = String::from("<p><a href=\"index.html\">History</a></p>\n");
    let _ = writeln!(body, "<h1>{}</h1>", escape(&last.title));
    let method = last.method.as_ref().map_or_else(String::new, |it| format!(" · {}", it.words()));
    let _ = writeln!(
        body,
        "<p class=\"facts\">scenario <code>{}</code> · {} campaigns, {} to {}{} · host <code>{}</code>: {}</p>",
        escape(&last.scenario),
        line.entries.len(),
        escape(line.entries.first().map_or("", |it| it.day())),
        escape(last.day()),
        escape(&method),
        last.host_id(),
        escape(&last.fingerprint())
    );
    let own = std::slice::from_ref(line);
    let (class, told) = finding(own);
    let _ = writeln!(body, "<p class=\"finding {class}\">{}</p>", escape(&told));
    body.push_str("<h2>Over commits</h2>\n<p>");
    let devices = line.devices();
    for (index, device) in devices.iter().enumerate() {
        let mut mark = String::new();
        marker(&mut mark, (7.0, 7.0), index, 5.0, "");
        let _ = write!(
            body,
            "<span class=\"key\"><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\">{}</svg>{}</span>",
            mark.trim_end(),
            escape(device)
        );
    }
    body.push_str("</p>\n<div class=\"charts\">\n");
    for (number, series) in line.charts() {
        let of_device = |it: &&Series| {
            let device = it.number().map_or("", |it| it.device.as_str());
            devices.iter().position(|known| *known == device).unwrap_or(0)
        };
        let series: Vec<(usize, &Series)> = series.iter().map(|it| (of_device(it), *it)).collect();
        let way = if number.more_is_better() { "more is better" } else { "less is better" };
        let title = format!("{}, {}", number.case, number.metric);
        let _ = writeln!(
            body,
            "<figure><figcaption>{} <small>{way}</small></figcaption>\n{}</figure>",
            escape(&title),
            chart(&series, &line.entries, &title)
        );
    }
    body.push_str("</div>\n<p class=\"facts\">A bar is a level, a dashed upright a change of it, a ring an anomaly, a thin \
        upright the interval of a number. Of several devices each is drawn as a share of its own first level. \
        Axes do not begin at 0.</p>\n");
    list_changes(&mut body, &changes(own), None);
    list_anomalies(&mut body, own, None);
    compare_devices(&mut body, line, last, &devices);
    campaigns(&mut body, line);
    let _ = writeln!(
        body,
        "<p class=\"facts\">All numbers: <a href=\"{0}.csv\">{0}.csv</a></p>",
        escape(name)
    );
    page(&last.title, &body)
}

/// What the last campaign found of each device, and what that is of the first one's.
fn compare_devices(body: &mut String, line: &Line<'_>, last: &Entry, devices: &[&str]) {
    let charts = line.charts();
    let of = |device: &str, like: &Number| {
        last.numbers.iter().find(|it| {
            it.device == device
                && (&it.case, &it.metric, &it.unit) == (&like.case, &like.metric, &like.unit)
        })
    };
    let _ = writeln!(
        body,
        "<h2>Devices, at <code>{}</code></h2>\n<div class=\"wide\"><table>\n<tr><th>case</th><th>number</th>{}</tr>",
        escape(&last.label()),
        devices.iter().map(|it| format!("<th class=\"n\">{}</th>", escape(it))).collect::<String>()
    );
    for (like, _) in charts {
        let base = devices.iter().find_map(|it| of(it, like));
        let cell = |device: &&str| {
            let Some(it) = of(device, like) else { return "<td class=\"n\">–</td>".to_owned() };
            let held =
                base.filter(|base| base.device != it.device).and_then(|base| Held::of(base, it));
            let ratio = held.map(|held| {
                format!(
                    "<br><small>{}{:.3}×</small>",
                    held.reading.sign().unwrap_or(""),
                    held.ratio
                )
            });
            format!("<td class=\"n\">{}{}</td>", escape(&it.words()), ratio.unwrap_or_default())
        };
        let cells: String = devices.iter().map(cell).collect();
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td>{cells}</tr>",
            escape(&like.case),
            escape(&like.metric)
        );
    }
    body.push_str("</table></div>\n<p class=\"facts\">×: how much better than the first device that has the number.</p>\n");
}

fn campaigns(body: &mut String, line: &Line<'_>) {
    body.push_str("<h2>Campaigns</h2>\n<div class=\"wide\"><table>\n<tr><th>commit</th><th>made</th><th>measured</th><th>subject</th><th>versions</th></tr>\n");
    for entry in line.entries.iter().rev() {
        let versions: Vec<String> =
            entry.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
        let commit = entry.commit.clone().unwrap_or_default();
        let _ = writeln!(
            body,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&entry.label()),
            escape(entry.day()),
            escape(entry.started.split('T').next().unwrap_or("")),
            escape(&commit.subject),
            escape(&versions.join(", "))
        );
    }
    body.push_str("</table></div>\n");
}

/// Every number of every campaign.
pub(super) fn csv(line: &Line<'_>) -> String {
    let field = |text: &str| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let mut text = String::from(
        "entry,commit,made,started,device,case,metric,unit,value,low,high,sd,runs,at_least\r\n",
    );
    for entry in &line.entries {
        for it in &entry.numbers {
            let commit = entry.commit.as_ref();
            let words = [
                entry.id.as_str(),
                commit.map_or("", |it| it.hash.as_str()),
                commit.map_or("", |it| it.made.as_str()),
                &entry.started,
                &it.device,
                &it.case,
                &it.metric,
                &it.unit,
            ];
            let words = words.map(field);
            let high = it.high.map_or_else(String::new, |high| high.to_string());
            let _ = write!(
                text,
                "{},{},{},{high},{},{},{}\r\n",
                words.join(","),
                it.value,
                it.low,
                it.sd,
                it.runs,
                it.at_least
            );
        }
    }
    text
}
