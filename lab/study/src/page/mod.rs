//! The report of a study: one page that needs nothing but itself.
//!
//! ```text
//! title ▸ what was found, and how sure ▸ chapters (tables, figures, models) ▸ anomalies ▸ methods ▸ reproduce
//! ```

mod anomalies;
mod bars;
mod chapter;
mod document;
mod drawn;
mod figure;
mod found;
mod matrix;
mod methods;
mod models;
mod reproduce;
mod table;

use std::fmt::Write;

pub use document::{Document, document};
use lab_report::html::STYLE;
use lab_report::svg::canvas::escape;

use crate::cell::Runs;
use crate::folder::State;
use crate::study::Study;
use crate::table::{Place, all};

/// What every part of the page is a function of.
pub struct Page<'a> {
    /// The study.
    pub study: &'a Study,
    /// How it was carried out.
    pub state: &'a State,
    /// Its runs.
    pub runs: &'a Runs<'a>,
    /// Every place of every table and figure.
    pub places: Vec<Place>,
    /// What it is written as.
    pub form: Form,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One page beside its raw numbers.
    Page,
    /// A chapter of a book, without these.
    Document,
}

impl<'a> Page<'a> {
    /// Looks every place up.
    pub fn of(study: &'a Study, state: &'a State, runs: &'a Runs<'a>) -> Self {
        Self { study, state, runs, places: all(study, runs, &state.devices), form: Form::Page }
    }

    /// The places of an item.
    fn of_item(&self, id: &str) -> Vec<&Place> {
        self.places.iter().filter(|place| place.item == id).collect()
    }
}

/// The page.
pub fn render(page: &Page<'_>) -> String {
    let study = page.study;
    let mut html = String::with_capacity(1 << 17);
    let _ = writeln!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n<main>",
        escape(&study.title)
    );
    let _ = writeln!(html, "<h1>{}</h1>", escape(&study.title));
    html += &head(page);
    for (title, body) in sections(page) {
        let _ = writeln!(html, "<section>\n<h2>{}</h2>\n{body}</section>", escape(&title));
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

/// What the study is, of what, and whose numbers stand in it.
fn head(page: &Page<'_>) -> String {
    let (study, state) = (page.study, page.state);
    let cut = if state.quick { "cut by <code>--quick</code>" } else { "not cut" };
    let mut html = format!(
        "<p class=\"facts\">study <code>{}</code> · {cut} · devices {} · {}</p>\n<p>{}</p>\n<ul class=\"facts\">\n",
        escape(&study.name),
        escape(&state.devices.join(", ")),
        escape(&state.lab),
        escape(study.about.trim())
    );
    for source in &study.sources {
        let _ = writeln!(
            html,
            "<li><b>{}</b>: {}. Measured: {}.</li>",
            escape(&source.id),
            escape(&source.title),
            escape(&source.measured)
        );
    }
    html + "</ul>\n"
}

/// The parts, each with its title.
fn sections(page: &Page<'_>) -> Vec<(String, String)> {
    let mut all = vec![("What was found, and how sure".to_owned(), found::body(page))];
    let chapters = page.study.chapters.iter();
    all.extend(chapters.map(|chapter| (chapter.title.clone(), chapter::body(page, chapter))));
    all.push(("Anomalies".into(), anomalies::body(page)));
    all.push(("Methods".into(), methods::body(page)));
    all.push(("How to reproduce it".into(), reproduce::body(page)));
    all
}

const OWN_STYLE: &str = "\
main{max-width:900px}.theirs{color:#7a4a00}.theirs td:first-child{white-space:normal}\
.reason{color:#777;font-style:italic}td.wide{white-space:normal}td:first-child{white-space:normal}\
details{margin:6px 0 14px}li{margin:3px 0}small{color:#666}.theirs small{color:inherit}\
table.matrix td{padding-right:12px}table.matrix td.reason{font-style:normal}table.matrix th.n{white-space:normal}\
ul.notes{list-style:none;margin:0 0 8px;padding:0;font-size:12.5px;color:#555}";

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod tests;
