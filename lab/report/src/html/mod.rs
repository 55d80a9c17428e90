//! The report: one HTML page that needs nothing but itself.
//!
//! ```text
//! title ▸ finding ▸ host ▸ throughput (figure, table) ▸ functions ▸ comparison ▸ curves ▸ latency ▸ loss ▸
//! time lines ▸ who was away ▸ spikes ▸ packets ▸ how measured
//! ```

mod absences;
mod checks;
mod comparison;
mod failures;
pub mod finding;
pub mod host;
mod latency;
mod loss;
mod memory;
mod method;
mod packets;
mod quantities;
mod scaling;
mod schedulers;
mod section;
mod spikes;
mod streams;
mod subjects;
mod telemetry;
mod throughput;
pub(crate) mod timed;
mod timeline;

use std::fmt::Write;
use std::path::Path;

use lab_record::Results;
use section::{Page, Section};
pub(crate) use subjects::by_subject;

use super::svg::canvas::escape;
use super::{csv, index, openmetrics};
use crate::Error;

/// The parts of the page, in order: one file each, which says nothing where the results allow none.
static SECTIONS: &[fn(&Page<'_>) -> Option<Section>] = &[
    host::section,
    throughput::section,
    checks::section,
    quantities::section,
    streams::section,
    failures::section,
    comparison::section,
    scaling::section,
    schedulers::section,
    latency::section,
    loss::section,
    timeline::section,
    telemetry::section,
    memory::section,
    absences::section,
    spikes::section,
    packets::section,
    method::section,
];

/// The page for these results.
pub fn render(results: &Results) -> String {
    let first = results.campaigns.first();
    let title = first.map_or("Measurements", |campaign| campaign.title.as_str());
    let mut page = String::with_capacity(1 << 16);
    let _ = writeln!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
        escape(title)
    );
    let _ = writeln!(page, "<h1>{}</h1>", escape(title));
    if let Some(campaign) = first {
        let facts = [
            format!("scenario <code>{}</code>", escape(&campaign.scenario)),
            escape(&campaign.started),
            format!("{} trials", results.trials.len() + results.streams.len()),
            format!("seed {}", campaign.seed),
        ];
        let _ = writeln!(page, "<p class=\"facts\">{}</p>", facts.join(" · "));
    }
    let parts = Page::of(results);
    let _ = writeln!(page, "<p class=\"finding\">{}</p>", escape(&finding::of(&parts)));
    for section in SECTIONS.iter().filter_map(|section| section(&parts)) {
        let _ = writeln!(page, "<section>\n<h2>{}</h2>", section.title);
        if !section.lead.is_empty() {
            let _ = writeln!(page, "<p>{}</p>", section.lead);
        }
        let _ = writeln!(page, "{}</section>", section.body);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// Writes the page, the CSV, the metrics and the index beside the raw file of a results folder.
pub fn write(folder: &Path) -> Result<Results, Error> {
    let results = Results::load(folder)?;
    let files = [
        ("report.html", render(&results)),
        ("results.csv", csv::render(&results)),
        ("checks.csv", csv::checks(&results)),
        ("quantities.csv", csv::quantities(&results)),
        ("latency.csv", csv::latency(&results)),
        ("absences.csv", csv::absences(&results)),
        ("metrics.txt", openmetrics::render(&results)),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(Error::file(&path))?;
    }
    index::write(&folder.join(index::INDEX_FILE), &[(folder, &results)])?;
    Ok(results)
}

/// What pages look like.
pub const STYLE: &str = "\
:root{color-scheme:light}\
body{margin:0;background:#f6f6f4;color:#222;font:15px/1.5 'Helvetica Neue',Helvetica,Arial,sans-serif}\
main{max-width:860px;margin:0 auto;padding:32px 30px 60px;background:#fff}\
h1{font-size:26px;line-height:1.25;margin:0 0 4px}\
h2{font-size:18px;margin:38px 0 6px;padding-top:14px;border-top:1px solid #ddd}\
h3{font-size:14px;margin:20px 0 2px}\
p{margin:6px 0 10px}.facts{color:#666;font-size:13px}\
figure{margin:10px 0 18px}figure svg{width:100%;height:auto;display:block}\
figcaption{font-size:12.5px;color:#666}\
table{border-collapse:collapse;width:100%;font-size:13px;margin:10px 0;display:block;overflow-x:auto}\
th{text-align:left;border-bottom:1.5px solid #444;padding:4px 8px 4px 0}\
td{border-bottom:1px solid #e6e6e6;padding:4px 8px 4px 0;vertical-align:top}\
td:first-child{white-space:nowrap}\
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.finding{font-size:17px;line-height:1.4;margin:14px 0 6px;padding:10px 14px;border-left:4px solid #0072b2;background:#f6f6f4}\
details{margin:8px 0}\
@media(max-width:640px){main{padding:18px 14px 40px}h1{font-size:21px}\
td:first-child{white-space:normal}figure{overflow-x:auto}figure svg{min-width:600px}.finding{font-size:16px}}\
.verdict{color:#a04000}code,pre{font:12px/1.45 ui-monospace,Menlo,Consolas,monospace}\
pre{background:#f6f6f4;padding:10px;overflow-x:auto}summary{cursor:pointer}";

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{AnswerRecord, Campaign, Outcome, Subject, Trial, TrialRecord};

    fn results() -> Results {
        let subject =
            Subject { device: "<b>sim".into(), function: "ip4".into(), ..Subject::default() };
        let trial = |index: u32| {
            let outcome = Outcome::of(Trial::new(1e5 * f64::from(index + 1), 1.0), 90_000);
            TrialRecord::new(subject.clone(), index, "mlr", f64::from(index), outcome)
        };
        Results {
            campaigns: vec![Campaign { title: "A & B".into(), ..Campaign::default() }],
            trials: (0..5).map(trial).collect(),
            answers: vec![AnswerRecord {
                subject: subject.clone(),
                metric: "NDR".into(),
                low_pps: 9e4,
                high_pps: 9.1e4,
                ..AnswerRecord::default()
            }],
            ..Results::default()
        }
    }

    #[test]
    fn a_page_stands_alone_and_names_cannot_break_it() {
        let page = render(&results());
        assert!(page.contains("<h1>A &amp; B</h1>") && page.contains("&lt;b&gt;sim"));
        assert!(!page.contains("<b>sim") && !page.contains("src=") && !page.contains("href="));
        assert!(page.matches("<svg").count() >= 3);
    }

    #[test]
    fn the_same_results_give_the_same_bytes() {
        assert_eq!(render(&results()), render(&results()));
    }

    #[test]
    fn nothing_measured_still_makes_a_page() {
        assert!(render(&Results::default()).contains("<h1>Measurements</h1>"));
    }
}
