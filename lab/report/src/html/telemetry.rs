//! What was seen with other tools, apart from the timed trials.

use std::fmt::Write;

use lab_record::{ModelledRecord, TelemetryRecord};

use super::section::{Page, Section};
use crate::svg::canvas::escape;
use crate::words::rate;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let body: String =
        results.telemetry.iter().map(one).chain(results.modelled.iter().map(modelled)).collect();
    let lead = "In trials of their own, between bare ones at the same load. Cycles are the time-stamp counter's; busy \
                time is that of the devices' cores, whoever used it, and a device that polls uses all of it."
        .into();
    (!body.is_empty()).then_some(Section { title: "Telemetry", lead, body })
}

/// What valgrind says of a device's nodes.
fn modelled(record: &ModelledRecord) -> String {
    let subject = &record.subject;
    let mut body = format!(
        "<h3>{} — {}, modelled</h3>\n<p class=\"facts\">By valgrind, in a run that was not timed: instructions as they ran, \
         caches as its model has them. Nodes that poll are left out.</p>\n<table>\n<tr><th>node</th><th class=\"n\">packets</th>\
         <th class=\"n\">a call</th><th class=\"n\">instructions a packet</th><th class=\"n\">first-level misses</th>\
         <th class=\"n\">last-level misses</th></tr>\n",
        escape(&subject.device),
        escape(&subject.case())
    );
    for node in &record.nodes {
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1}</td><td class=\"n\">{:.1}</td><td class=\"n\">{:.2}</td>\
             <td class=\"n\">{:.2}</td></tr>",
            escape(&node.node),
            node.packets,
            node.packets as f64 / node.calls.max(1) as f64,
            node.instructions,
            node.first_level_misses,
            node.last_level_misses
        );
    }
    body + "</table>\n"
}

fn one(record: &TelemetryRecord) -> String {
    let subject = &record.subject;
    let mut body = format!("<h3>{} — {}</h3>\n", escape(&subject.device), escape(&subject.case()));
    let _ = writeln!(
        body,
        "<p>At {}: {:.3} µs of the cores for each packet; watched trials received {:.4} of what bare ones did.</p>",
        rate(record.load_pps),
        record.cpu_us_per_packet,
        record.watched as f64 / record.bare.max(1) as f64
    );
    if let Some(packets) = record.vector_packets {
        let _ = writeln!(
            body,
            "<p>Nodes and counters at saturation: vectors of {packets:.1} packets.</p>"
        );
    }
    if let Some([ipc, ipp]) = record.ipc_ipp() {
        let _ = writeln!(
            body,
            "<p>{ipc:.2} instructions a cycle (IPC), {ipp:.1} instructions a packet (IPP).</p>"
        );
    }
    if let Some(reason) = &record.refused {
        let _ = writeln!(
            body,
            "<p class=\"facts\">No counters of the processor (no PMU), so no IPC and no IPP: {}.</p>",
            escape(reason)
        );
    }
    if !record.nodes.is_empty() || !record.per_packet.is_empty() {
        body.push_str("<table>\n<tr><th>node</th><th class=\"n\">packets</th><th class=\"n\">a call</th><th class=\"n\">TSC cycles a packet</th></tr>\n");
        for node in &record.nodes {
            let _ = writeln!(
                body,
                "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1}</td><td class=\"n\">{:.1}</td></tr>",
                escape(&node.node),
                node.packets,
                node.packets as f64 / node.calls.max(1) as f64,
                node.cycles / node.packets.max(1) as f64
            );
        }
        for (event, each) in &record.per_packet {
            let _ = writeln!(
                body,
                "<tr><td>{} of the processor</td><td></td><td></td><td class=\"n\">{each:.2}</td></tr>",
                escape(event)
            );
        }
        body.push_str("</table>\n");
    }
    if !record.functions.is_empty() {
        let _ = writeln!(
            body,
            "<table>\n<tr><th>function, sampled by {}</th><th class=\"n\">share</th></tr>",
            escape(&record.sampled_by)
        );
        for share in &record.functions {
            let _ = writeln!(
                body,
                "<tr><td>{}</td><td class=\"n\">{:.2} %</td></tr>",
                escape(&share.function),
                share.percent
            );
        }
        body.push_str("</table>\n");
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{NodeCost, Results, Share};

    #[test]
    fn a_device_is_told_by_node_and_function_and_what_is_hidden_with_its_reason() {
        let record = TelemetryRecord {
            load_pps: 1e5,
            bare: 1_000,
            watched: 990,
            cpu_us_per_packet: 1.25,
            nodes: vec![NodeCost {
                node: "ip4-input".into(),
                calls: 10,
                packets: 200,
                cycles: 4e3,
            }],
            refused: Some("hidden".into()),
            sampled_by: "the timer".into(),
            functions: vec![Share { function: "f<T> (volleyd)".into(), percent: 12.5 }],
            ..TelemetryRecord::default()
        };
        let results = Results { telemetry: vec![record], ..Results::default() };
        let body = section(&Page::of(&results)).unwrap().body;
        let cells = "<td>ip4-input</td><td class=\"n\">200</td><td class=\"n\">20.0</td><td class=\"n\">20.0</td>";
        assert!(body.contains(cells) && body.contains("0.9900 of what"), "{body}");
        assert!(body.contains("no IPC and no IPP: hidden") && body.contains("f&lt;T&gt;"));
        let per_packet = [("cycles:u", 100.0), ("instructions:u", 250.0)];
        let told = TelemetryRecord {
            vector_packets: Some(250.0),
            per_packet: per_packet.map(|(event, each)| (event.to_owned(), each)).to_vec(),
            ..TelemetryRecord::default()
        };
        let results = Results { telemetry: vec![told], ..Results::default() };
        let body = section(&Page::of(&results)).unwrap().body;
        assert!(
            body.contains("vectors of 250.0") && body.contains("2.50 instructions a cycle"),
            "{body}"
        );
        assert!(section(&Page::of(&Results::default())).is_none());
    }
}
