//! A history as a folder of pages: no server, no script, nothing fetched; the same entries give the
//! same bytes.
//!
//! ```text
//! index.html     the finding ▸ changes, latest first ▸ anomalies ▸ lines ▸ hosts
//! LINE.html      the finding ▸ charts over commits ▸ devices of the last campaign ▸ campaigns
//! LINE.csv       every number of every campaign
//! ```

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use super::findings::{changes, finding};
use super::line::{Line, lines};
use super::lists::{list_anomalies, list_changes};
use super::page::{csv, of_line};
use super::style::page;
use crate::Error;
use crate::svg::canvas::escape;

/// Writes the pages; the files, the first page first.
pub fn write(entries: &[Entry], folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let found = lines(entries);
    let names = names(&found);
    std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let mut files = vec![("index.html".to_owned(), index(entries, &found, &names))];
    for (line, name) in found.iter().zip(&names) {
        files.push((format!("{name}.html"), of_line(line, name)));
        files.push((format!("{name}.csv"), csv(line)));
    }
    let write = |(name, text): (String, String)| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(Error::file(&path))?;
        Ok(path)
    };
    files.into_iter().map(write).collect()
}

/// Names of the lines' pages: those of one scenario and host, measured otherwise, are counted.
fn names(lines: &[Line<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in lines {
        let name = (0..).map(|number| line.name(number)).find(|name| !names.contains(name));
        names.extend(name);
    }
    names
}

fn index(entries: &[Entry], lines: &[Line<'_>], names: &[String]) -> String {
    let mut body = String::from("<h1>History</h1>\n");
    let distinct = |of: &dyn Fn(&Entry) -> String| {
        entries.iter().map(of).collect::<std::collections::BTreeSet<_>>().len()
    };
    let _ = writeln!(
        body,
        "<p class=\"facts\">campaigns {} · commits {} · hosts {} · scenarios {}</p>",
        entries.len(),
        distinct(&|it| it.label()),
        distinct(&Entry::fingerprint),
        distinct(&|it| it.scenario.clone())
    );
    if entries.is_empty() {
        body.push_str("<p class=\"finding\">Nothing is kept here yet.</p>\n");
        return page("History", &body);
    }
    let (class, told) = finding(lines);
    let _ = writeln!(body, "<p class=\"finding {class}\">{}</p>", escape(&told));
    let place = |line: &Line<'_>| lines.iter().position(|it| std::ptr::eq(it, line));
    let link = |line: &Line<'_>| {
        let name = place(line).and_then(|at| names.get(at)).map_or("", String::as_str);
        let scenario = line.last().map_or("", |it| it.scenario.as_str());
        let host = line.last().map_or_else(String::new, |it| it.host_id());
        format!("<a href=\"{}.html\">{}, {host}</a>", escape(name), escape(scenario))
    };
    list_changes(&mut body, &changes(lines), Some(&link));
    list_anomalies(&mut body, lines, Some(&link));
    body.push_str("<h2>Lines</h2>\n<p class=\"facts\">A line is what may be compared: one scenario, like hosts, measured alike.</p>\n<div class=\"wide\"><table>\n<tr><th>scenario, host</th><th>now</th><th>last</th><th class=\"n\">campaigns</th><th>devices</th></tr>\n");
    for line in lines {
        let Some(last) = line.last() else { continue };
        let (class, _) = finding(std::slice::from_ref(line));
        let state = if class.is_empty() { "steady" } else { class };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"{class}\">{state}</td><td><code>{}</code> {}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            link(line),
            escape(&last.label()),
            escape(last.day()),
            line.entries.len(),
            escape(&line.devices().join(", "))
        );
    }
    body.push_str("</table></div>\n<h2>Hosts</h2>\n<ul class=\"list\">\n");
    let mut hosts: Vec<(String, String)> =
        entries.iter().map(|it| (it.host_id(), it.fingerprint())).collect();
    hosts.sort();
    hosts.dedup();
    for (id, fingerprint) in hosts {
        let _ = writeln!(body, "<li><code>{id}</code> {}</li>", escape(&fingerprint));
    }
    body.push_str("</ul>\n");
    page("History", &body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Commit, Number};
    use lab_search::random::Random;

    /// Campaigns of 20 commits: volley slower by 3 % from the 12th on, ovs as it was.
    pub(super) fn made_up(scenario: &str, step: f64) -> Vec<Entry> {
        let mut random = Random::new(7);
        let mut number = |device: &str, level: f64| {
            let value = level * (1.0 + 0.003 * random.normal());
            Number {
                device: device.into(),
                case: "ip4, frame bytes 64".into(),
                metric: "NDR, one way".into(),
                unit: "pps".into(),
                value,
                low: 0.99 * value,
                high: Some(1.01 * value),
                sd: 0.005 * value,
                runs: 5,
                ..Number::default()
            }
        };
        (0..20)
            .map(|at| {
                let level = if at < 12 { 9.2e6 } else { 9.2e6 * (1.0 - step) };
                let commit = Commit {
                    hash: format!("{at:02}abcdef0123456789"),
                    made: format!("2026-11-{:02}T08:00:00Z", at + 1),
                    subject: format!("Change <{at}>"),
                    dirty: false,
                };
                Entry {
                    id: format!("{at:02}"),
                    commit: Some(commit),
                    scenario: scenario.into(),
                    title: "Routes & more".into(),
                    started: "2026-11-26T06:00:00Z".into(),
                    host: [("processor".to_owned(), "A".to_owned())].into(),
                    numbers: vec![number("volley", level), number("ovs", 3e6)],
                    ..Entry::default()
                }
            })
            .collect()
    }

    #[test]
    fn a_step_is_told_first_with_the_commit_that_it_came_with_and_noise_is_steady() {
        let entries = made_up("ip4", 0.03);
        let found = lines(&entries);
        let (class, told) = finding(&found);
        assert_eq!(class, "worse");
        assert!(told.starts_with("1 of 2 numbers are worse"), "{told}");
        assert!(told.contains("since 12abcdef (11abcdef was as before)"), "{told}");
        assert!(told.contains("-3.") || told.contains("-2.9"), "{told}");
        let steady = made_up("ip4", 0.0);
        assert_eq!(finding(&lines(&steady)).1, "Steady: none of 2 numbers changed.");
        let better = made_up("ip4", -0.03);
        assert_eq!(finding(&lines(&better)).0, "better");
    }

    #[test]
    fn pages_stand_alone_hold_nothing_of_the_names_as_markup_and_are_the_same_again() {
        let folder = std::env::temp_dir().join(format!("lab-dashboard-{}", std::process::id()));
        let mut entries = made_up("ip4", 0.03);
        entries.extend(made_up("../<b>", 0.0));
        let files = write(&entries, &folder).unwrap();
        let read = || -> Vec<String> {
            files.iter().map(|it| std::fs::read_to_string(it).unwrap()).collect()
        };
        let first = read();
        write(&entries, &folder).unwrap();
        assert_eq!(read(), first);
        assert_eq!(files.len(), 5);
        assert!(files.iter().all(|it| it.parent() == Some(&folder)), "{files:?}");
        for page in first.iter().filter(|it| it.starts_with("<!DOCTYPE")) {
            assert!(!page.contains("<b>") && !page.contains("<script") && !page.contains("src="));
            assert!(!page.contains("http") && page.contains("prefers-color-scheme:dark"));
            assert!(page.contains("width=device-width"));
            for link in page.split("href=\"").skip(1).filter_map(|it| it.split('"').next()) {
                assert!(folder.join(link).exists(), "{link}");
            }
        }
        let line = first.iter().find(|it| it.contains("<figure>") && it.contains("-3")).unwrap();
        assert!(line.contains("class=\"cut worse\"") && line.contains("Change &lt;12&gt;"));
        let csv = first.iter().find(|it| it.starts_with("entry,")).unwrap();
        assert_eq!((csv.lines().count(), csv.contains("\"ip4, frame bytes 64\"")), (41, true));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn nothing_kept_is_a_page_all_the_same() {
        assert!(index(&[], &[], &[]).contains("Nothing is kept here yet"));
    }
}
