//! Many routes at once.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::{Reply, fresh_router, get, on_one_thread, post, send};

async fn load(router: &Router, query: &str, file: &str) -> Reply {
    let request = Request::post(format!("/v1/routes/load?{query}"));
    send(router, request.body(Body::from(file.to_owned())).unwrap()).await
}

/// The last line of an answer.
fn last(reply: &Reply) -> Value {
    assert_eq!(
        (reply.status, reply.kind.as_str()),
        (200, "application/x-ndjson"),
        "{}",
        reply.text
    );
    serde_json::from_str(reply.text.lines().last().unwrap()).unwrap()
}

#[test]
fn a_file_is_loaded_and_what_another_lacks_is_removed() {
    on_one_thread(async {
        let router = fresh_router();
        let file: String =
            (0..2000).map(|n| format!("10.{}.{}.0/24 192.0.2.9\n", n / 256, n % 256)).collect();
        let done = last(&load(&router, "source=ospf/90", &file).await);
        assert_eq!(
            (&done["state"], &done["added"], &done["active"]),
            (&json!("done"), &json!(2000), &json!(2000))
        );
        let shown = get(&router, "/v1/routes?within=10.7.0.0/24").await.json();
        assert_eq!(shown["routes"][0]["origin"], "ospf/90");
        let file: String = file.lines().take(10).map(|line| format!("{line}\n")).collect();
        let done = last(&load(&router, "source=ospf/90&replace=true", &file).await);
        assert_eq!(
            (&done["added"], &done["removed"], &done["routes"]),
            (&json!(10), &json!(1990), &json!(10))
        );
        let done = last(&post(&router, "/v1/routes/flush", json!({ "source": "ospf/90" })).await);
        assert_eq!((&done["removed"], &done["routes"]), (&json!(10), &json!(0)));
    });
}

#[test]
fn a_wrong_line_refuses_the_file_or_costs_only_itself() {
    on_one_thread(async {
        let router = fresh_router();
        let file = "10.0.0.0/24 192.0.2.9\n10.0.1.0/33 192.0.2.9\n10.0.2.0/24 192.0.2.9\n";
        let failed = last(&load(&router, "", file).await);
        assert_eq!((&failed["state"], &failed["added"]), (&json!("failed"), &json!(0)));
        assert!(failed["detail"].as_str().unwrap().starts_with("line 2, column 1"), "{failed}");
        let done = last(&load(&router, "skip_wrong=true", file).await);
        assert_eq!((&done["added"], &done["wrong"]), (&json!(2), &json!(1)));
        assert!(done["wrong_lines"][0].as_str().unwrap().contains("10.0.1.0/33"), "{done}");
    });
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_happens() {
    on_one_thread(async {
        let router = fresh_router();
        for query in ["source=static", "source=ebgp/0", "via=nobody", "via=", "nonsense=1"] {
            let reply = load(&router, query, "").await;
            assert!([400, 422].contains(&reply.status), "{query}: {}", reply.text);
        }
        let numbered = last(&load(&router, "", "10.0.0.0/24 AS64500\n").await);
        assert!(numbered["detail"].as_str().unwrap().contains("64500"), "{numbered}");
        for (prefix, count) in [("10.0.0.0/24", 0), ("255.255.255.0/24", 2), ("10.0.0.1/24", 1)] {
            let range = json!({ "prefix": prefix, "count": count, "via": "192.0.2.9" });
            assert_eq!(post(&router, "/v1/routes/range", range).await.status, 422);
        }
    });
}

#[test]
fn what_does_not_fit_is_told_with_what_did() {
    on_one_thread(async {
        let router = fresh_router();
        let range = |prefix, count| json!({ "prefix": prefix, "count": count, "via": "192.0.2.9" });
        let done = last(&post(&router, "/v1/routes/range", range("10.0.0.0/28", 1_048_000)).await);
        assert_eq!((&done["state"], &done["routes"]), (&json!("done"), &json!(1_048_000)));
        let full = last(&post(&router, "/v1/routes/range", range("100.0.0.0/28", 1000)).await);
        assert_eq!((&full["state"], &full["added"]), (&json!("failed"), &json!(576)));
        assert!(full["detail"].as_str().unwrap().contains("1048576"), "{full}");
    });
}
