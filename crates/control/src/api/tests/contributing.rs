//! CONTRIBUTING.md shows how a view is added: its example is one of the views of the tests.

use super::{fresh_router, get, on_one_thread};

#[test]
fn the_line_that_contributing_shows_is_that_of_its_example() {
    let page = include_str!("../../../../../CONTRIBUTING.md");
    let views = include_str!("../../view/mod.rs");
    let line = "    probes: Probe,";
    assert!(views.lines().any(|of| of == line));
    assert!(page.contains(&format!("\n+{line}\n")));
}

#[test]
fn the_example_is_served_described_and_counted() {
    on_one_thread(async {
        let router = fresh_router();
        let probes = get(&router, "/v1/probes").await.json();
        assert_eq!(probes[0]["address"], "192.0.2.9");
        let document = get(&router, "/openapi.json").await.json();
        let described = &document["paths"]["/v1/probes"]["get"];
        assert_eq!(described["summary"], "Probes, and which hosts answer");
        assert!(document["components"]["schemas"]["Probe"]["properties"]["sent"].is_object());
        let metrics = get(&router, "/metrics").await.text;
        let sample = "volley_probe_answered_total{probe=\"gateway\"} 8\n";
        assert!(metrics.contains(sample), "{metrics}");
    });
}
