//! The report of a study: one page that needs nothing but itself.
//!
//! ```text
//! title ▸ what was found, and how sure ▸ chapters (tables, figures, models) ▸ anomalies ▸ methods ▸ reproduce
//! ```

mod anomalies;
mod bars;
mod chapter;
mod drawn;
mod figure;
mod found;
mod methods;
mod models;
mod reproduce;
mod table;

use std::fmt::Write;

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
}

impl<'a> Page<'a> {
    /// Looks every place up.
    pub fn of(study: &'a Study, state: &'a State, runs: &'a Runs<'a>) -> Self {
        Self { study, state, runs, places: all(study, runs, &state.devices) }
    }

    /// The places of an item.
    fn of_item(&self, id: &str) -> Vec<&Place> {
        self.places.iter().filter(|place| place.item == id).collect()
    }
}

/// The page.
pub fn render(page: &Page<'_>) -> String {
    let (study, state) = (page.study, page.state);
    let mut html = String::with_capacity(1 << 17);
    let _ = writeln!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n<main>",
        escape(&study.title)
    );
    let _ = writeln!(html, "<h1>{}</h1>", escape(&study.title));
    let cut = if state.quick { "cut by <code>--quick</code>" } else { "not cut" };
    let _ = writeln!(
        html,
        "<p class=\"facts\">study <code>{}</code> · {cut} · devices {} · {}</p>\n<p>{}</p>",
        escape(&study.name),
        escape(&state.devices.join(", ")),
        escape(&state.lab),
        escape(&study.about)
    );
    html.push_str("<ul class=\"facts\">\n");
    for source in &study.sources {
        let _ = writeln!(
            html,
            "<li><b>{}</b>: {}. Measured: {}.</li>",
            escape(&source.id),
            escape(&source.title),
            escape(&source.measured)
        );
    }
    html.push_str("</ul>\n");
    section(&mut html, "What was found, and how sure", &found::body(page));
    for chapter in &study.chapters {
        section(&mut html, &chapter.title, &chapter::body(page, chapter));
    }
    section(&mut html, "Anomalies", &anomalies::body(page));
    section(&mut html, "Methods", &methods::body(page));
    section(&mut html, "How to reproduce it", &reproduce::body(page));
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn section(html: &mut String, title: &str, body: &str) {
    let _ = writeln!(html, "<section>\n<h2>{}</h2>\n{body}</section>", escape(title));
}

const OWN_STYLE: &str = "\
main{max-width:900px}.theirs{color:#7a4a00}.theirs td:first-child{white-space:normal}\
.reason{color:#777;font-style:italic}td.wide{white-space:normal}td:first-child{white-space:normal}\
details{margin:6px 0 14px}li{margin:3px 0}";

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod tests;
