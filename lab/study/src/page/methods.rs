//! How it was measured: the host, each run with its method, its loss by cutting, its raw numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab_report::method;
use lab_report::svg::canvas::escape;
use lab_report::words::rate;

use super::{Form, Page};

pub(super) fn body(page: &Page<'_>) -> String {
    let mut body = host(page);
    body += &devices(page);
    // What lies beside the page is not in the book.
    let raw = page.form == Form::Page;
    let head = if raw { "<th>raw numbers</th>" } else { "" };
    let _ =
        writeln!(body, "<table>\n<tr><th>run</th><th>how</th><th>lost by cutting</th>{head}</tr>");
    for run in page.runs.all() {
        let mut how = vec![format!("search {}", run.planned.search())];
        if let Some(results) = &run.results {
            how.push(format!("{} trials", results.trials.len()));
            if let Some(links) = results.campaigns.first().and_then(|it| it.host.get("links")) {
                how.push(format!("over {links}"));
            }
            let ceilings: Vec<String> = results
                .ceilings
                .iter()
                .map(|it| format!("{} at {} octets", rate(it.pps), it.frame_bytes))
                .collect();
            if !ceilings.is_empty() {
                how.push(format!("the lab itself can do {}", ceilings.join(", ")));
            }
            how.extend(method::words(results));
        }
        match &run.ended {
            _ if run.devices.is_empty() => how.push("none of its devices is named".into()),
            None => how.push("it has not ended".into()),
            Some(ended) => how.push(format!("{:.0} s", ended.seconds)),
        }
        let lost = run.planned.lost();
        let lost = if lost.is_empty() { "nothing".into() } else { lost.join("; ") };
        let links = match &run.results {
            Some(_) => format!(
                "<a href=\"runs/{0}/raw.jsonl\">raw.jsonl</a>, <a href=\"runs/{0}/results.csv\">results.csv</a>, \
                 <a href=\"runs/{0}/report.html\">its own report</a>",
                escape(&run.id)
            ),
            None => "–".into(),
        };
        let links = if raw { format!("<td class=\"wide\">{links}</td>") } else { String::new() };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"wide\">{}</td><td class=\"wide\">{}</td>{links}</tr>",
            escape(&run.id),
            escape(&how.join(" · ")),
            escape(&lost)
        );
    }
    body += "</table>\n";
    if raw {
        body += "<p>Every place of every table and figure, with the source's number, ours, and where it lies or why \
                 it is missing: <a href=\"cells.csv\">cells.csv</a>.</p>\n";
    }
    body
}

/// The host of the first run; what differs in others is told with them.
fn host(page: &Page<'_>) -> String {
    let mut campaigns =
        page.runs.all().iter().filter_map(|run| run.results.as_ref()?.campaigns.first());
    let Some(first) = campaigns.next() else { return "<p>Nothing was measured.</p>\n".into() };
    let mut body = String::from("<table>\n<tr><th>host</th><th></th></tr>\n");
    for (name, value) in first.host.iter().filter(|(name, _)| *name != "links") {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"wide\">{}</td></tr>",
            escape(name),
            escape(value)
        );
    }
    let _ = writeln!(body, "<tr><td>first run began</td><td>{}</td></tr>", escape(&first.started));
    body += "</table>\n";
    let same =
        |name: &str, other: &BTreeMap<String, String>| other.get(name) == first.host.get(name);
    let others: Vec<&str> = campaigns
        .filter(|it| !["processor", "cores", "kernel"].iter().all(|name| same(name, &it.host)))
        .map(|it| it.scenario.as_str())
        .collect();
    if !others.is_empty() {
        let _ = writeln!(
            body,
            "<p class=\"verdict\">Of another host than the first: {}. Their numbers are not to be held against the \
             others.</p>",
            escape(&others.join(", "))
        );
    }
    body
}

/// Versions, each once.
fn devices(page: &Page<'_>) -> String {
    let mut versions: BTreeMap<&str, &str> = BTreeMap::new();
    let campaigns =
        page.runs.all().iter().filter_map(|run| run.results.as_ref()?.campaigns.first());
    for device in campaigns.flat_map(|campaign| &campaign.devices) {
        versions.insert(&device.name, &device.version);
    }
    if versions.is_empty() {
        return String::new();
    }
    let mut body =
        String::from("<table>\n<tr><th>device</th><th>version, as it says itself</th></tr>\n");
    for (name, version) in versions {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"wide\">{}</td></tr>",
            escape(name),
            escape(version)
        );
    }
    body + "</table>\n<p class=\"facts\">The exact commands that set each up stand in the runs' own reports.</p>\n"
}
