//! What could not be measured, and why.

use super::section::{Page, Section, distinct};
use crate::svg::canvas::escape;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let lines = distinct(results.failures.iter().map(|failure| {
        let (device, case) = (escape(&failure.subject.device), escape(&failure.subject.case()));
        let class = if failure.refused { "" } else { " class=\"verdict\"" };
        format!(
            "<tr><td>{device}</td><td>{case}</td><td{class}>{}</td></tr>",
            escape(&failure.reason)
        )
    }));
    let head = "<tr><th>device</th><th>case</th><th>why</th></tr>";
    let body = format!("<table>\n{head}\n{}\n</table>\n", lines.join("\n"));
    (!lines.is_empty()).then_some(Section { title: "Not measured", lead: String::new(), body })
}
