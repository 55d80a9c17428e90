//! Hosts, devices and the commands that set them up.

use std::fmt::Write;

use lab_record::Campaign;

use super::section::{Page, Section};
use crate::method;
use crate::svg::canvas::escape;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let mut body = String::new();
    if let Some(told) = method::words(results) {
        let _ = writeln!(body, "<p>{}</p>", escape(&told));
    }
    for campaign in &results.campaigns {
        if !campaign.cut.is_empty() {
            let lines: Vec<String> = campaign.cut.iter().map(|it| escape(it)).collect();
            let told = lines.join("; ");
            let _ = writeln!(body, "<p class=\"verdict\">The scenario in short: {told}.</p>");
        }
        host_table(&mut body, campaign);
        for device in &campaign.devices {
            let (name, version) = (escape(&device.name), escape(&device.version));
            let commands: Vec<String> = device.commands.iter().map(|it| escape(it)).collect();
            let _ = writeln!(
                body,
                "<details><summary>{name} <span class=\"facts\">{version}</span></summary>\n\
                 <pre>{}</pre></details>",
                commands.join("\n")
            );
        }
    }
    if !results.skipped.is_empty() {
        let lines: Vec<String> = results.skipped.iter().map(|it| escape(it)).collect();
        let _ = writeln!(body, "<p class=\"verdict\">Left out: {}</p>", lines.join("; "));
    }
    let lead =
        "A rate is its lower bound, the largest load that satisfied its goal (as RFC 2544 and \
                MLRsearch report it); the upper bound is the smallest that did not. Conditional \
                throughput is what got through at the lower bound in the trials that the exceed \
                ratio does not excuse. The load itself lies between both, with 95 % in the interval \
                over restarts of the device; fewer than three restarts have the bracket alone."
            .into();
    Some(Section { title: "How it was measured", lead, body })
}

fn host_table(body: &mut String, campaign: &Campaign) {
    if campaign.host.is_empty() {
        return;
    }
    body.push_str("<table>\n");
    for (name, value) in &campaign.host {
        let _ = writeln!(body, "<tr><td>{}</td><td>{}</td></tr>", escape(name), escape(value));
    }
    body.push_str("</table>\n");
}
