//! What to type to get this report again, and each of its parts.

use std::fmt::Write;

use lab_report::svg::canvas::escape;

use super::Page;

pub(super) fn body(page: &Page<'_>) -> String {
    let (study, state) = (page.study, page.state);
    let quick = if state.quick { " --quick" } else { "" };
    let devices = state.devices.join(",");
    let mut lines = vec![
        "# which devices are here, and how to get the others".to_owned(),
        "volley-lab peers".to_owned(),
        "# all of it; the same command with the same --out goes on where it was stopped".to_owned(),
        format!("volley-lab study {}{quick} --devices {devices} --out FOLDER", study.name),
        "# this page and cells.csv again, from what lies in the folder".to_owned(),
        format!("volley-lab study {} --render --out FOLDER", study.name),
        "# one run alone".to_owned(),
    ];
    for run in page.runs.all().iter().filter(|run| !run.devices.is_empty()) {
        let link = study.run(&run.id).and_then(|run| run.link.as_ref()).unwrap_or(&study.link);
        lines.push(format!(
            "volley-lab run FOLDER/runs/{0}/scenario.toml --link {link} --devices {1} --out FOLDER/runs/{0}",
            run.id,
            run.devices.join(",")
        ));
    }
    let mut body = String::from(
        "<p>As root, on a host that does nothing else. The study, its scenarios and the sources' numbers are in the \
         program; the folder keeps the study as it was (<code>study.toml</code>) and each run's scenario.</p>\n<pre>",
    );
    let _ = write!(body, "{}", escape(&lines.join("\n")));
    body + "</pre>\n"
}
