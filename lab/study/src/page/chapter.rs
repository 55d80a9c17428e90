//! A chapter: its tables, its figures, its notes.

use std::fmt::Write;

use lab_report::svg::canvas::escape;

use super::{Page, bars, figure, models, table};
use crate::study::Chapter;

pub(super) fn body(page: &Page<'_>, chapter: &Chapter) -> String {
    let mut body = format!("<p>{}</p>\n", escape(&chapter.about));
    for it in &chapter.tables {
        body += &heading(page, &it.id, it.source.as_deref(), &it.title, &it.place);
        body += &table::body(page, it);
        body += &models::of_table(page, it);
    }
    for it in &chapter.figures {
        body += &heading(page, &it.id, it.source.as_deref(), &it.title, &it.place);
        body += &figure::body(page, it);
    }
    for it in &chapter.bars {
        body += &heading(page, &it.id, it.source.as_deref(), &it.title, &it.place);
        body += &bars::body(page, it);
    }
    if !chapter.notes.is_empty() {
        body += "<table>\n<tr><th>of the source</th><th>what it shows</th><th>why nothing of ours stands beside it</th></tr>\n";
        for note in &chapter.notes {
            let _ = writeln!(
                body,
                "<tr data-item=\"{0}\"><td>{1} {0}, {2}</td><td>{3}</td><td class=\"reason\">{4}</td></tr>",
                escape(&note.id),
                escape(&note.source),
                escape(&note.place),
                escape(&note.title),
                escape(&note.reason)
            );
        }
        body += "</table>\n";
    }
    body
}

/// What an item is, and where it stands in its source.
fn heading(page: &Page<'_>, id: &str, source: Option<&str>, title: &str, place: &str) -> String {
    let whose = match source.and_then(|id| page.study.sources.iter().find(|it| it.id == id)) {
        Some(source) => format!("{}: {id}, {place}", source.id),
        None => format!("ours: {id}"),
    };
    format!(
        "<h3 data-item=\"{}\">{} <span class=\"facts\">· {}</span></h3>\n",
        escape(id),
        escape(title),
        escape(&whose)
    )
}
