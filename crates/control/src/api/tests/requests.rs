//! Requests and answers, without a socket.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;
use tower::ServiceExt;

use super::{Reply, TEXT, fresh_router, get, on_one_thread, post, send, start};
use crate::api::router;

fn assert_problem(reply: &Reply, status: u16, detail: &str) {
    assert_eq!(
        (reply.status, &reply.kind[..]),
        (status, "application/problem+json"),
        "{}",
        reply.text
    );
    let problem = reply.json();
    assert_eq!(problem["status"], status);
    assert!(problem["detail"].as_str().unwrap().contains(detail), "{}", reply.text);
}

#[test]
fn a_packet_that_cannot_be_is_refused_with_what_would_be_one() {
    on_one_thread(async {
        let router = fresh_router();
        let told = get(&router, "/v1/explain?packet=in%20p0%20ip%20dst%2010.0.0.1%20/%20udp").await;
        assert_eq!((told.status, &told.json()["outcome"]), (200, &json!("sent by p1")));
        for (query, status, why) in [
            ("", 400, "packet"),
            ("?packet=", 422, "a layer is missing"),
            ("?packet=in%20p0%20ipx", 422, "`ipx` is no layer"),
            ("?packet=in%20p7%20ip%20dst%2010.0.0.1", 404, "there is no port `p7`"),
            ("?packet=ip%20dst%2010.0.0.1&more=1", 400, "more"),
        ] {
            assert_problem(&get(&router, &format!("/v1/explain{query}")).await, status, why);
        }
        assert_problem(&get(&router, "/v1/why-dropped?port=p7").await, 404, "p7");
    });
}

#[test]
fn parameters_that_a_view_does_not_have_are_refused_with_those_that_it_has() {
    on_one_thread(async {
        let router = fresh_router();
        for (path, why) in [
            ("ports?nam=x", "/v1/ports has no parameter `nam`, nor any other"),
            ("ports?=", "/v1/ports has no parameter ``, nor any other"),
            ("routes?vfr=red", "/v1/routes has no parameter `vfr`, but within, source, vrf, limit"),
            ("routes?vfr=red", ": did you mean `vrf`?"),
            ("routes?vrf=red&%76rf2=red", "/v1/routes has no parameter `vrf2`"),
            ("lookup/10.0.0.1?address=10.0.0.2", "has no parameter `address`, but vrf"),
            ("why-dropped?raeson=no-route", "has no parameter `raeson`, but port, node, reason"),
            ("events?lats=2", "has no parameter `lats`, but "),
        ] {
            assert_problem(&get(&router, &format!("/v1/{path}")).await, 400, why);
        }
        for path in ["ports", "ports?", "routes?%76rf=default", "events?last=2"] {
            assert_eq!(get(&router, &format!("/v1/{path}")).await.status, 200, "{path}");
        }
    });
}

#[test]
fn the_page_shows_and_changes_nothing() {
    on_one_thread(async {
        let page = crate::api::page(start(None));
        let ask = |method: &str, path: &str| {
            let request = Request::builder().method(method).uri(path).body(Body::empty());
            page.clone().oneshot(request.unwrap())
        };
        for (method, path, status) in [
            ("GET", "/", 200),
            ("HEAD", "/page.js", 200),
            ("GET", "/page.css", 200),
            ("GET", "/nothing", 404),
            ("GET", "/v1/capture/pcap", 403),
            ("POST", "/v1/counters/clear", 405),
            ("POST", "/v1/config/check", 405),
            ("DELETE", "/", 405),
        ] {
            let answer = ask(method, path).await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{method} {path}");
            let policy = answer.headers()["content-security-policy"].to_str().unwrap();
            assert!(policy.starts_with("default-src 'none'"), "{method} {path}");
        }
    });
}

#[test]
fn what_is_not_there_or_does_not_apply_is_told_as_a_problem() {
    on_one_thread(async {
        let router = fresh_router();
        assert_problem(&get(&router, "/v1/nothing").await, 404, "nothing at /v1/nothing");
        let reply = send(&router, Request::delete("/v1/ports").body(Body::empty()).unwrap()).await;
        assert_problem(&reply, 405, "DELETE does not apply to /v1/ports");
        assert_problem(&get(&router, "/v1/lookup/here").await, 400, "here");
        assert_problem(&get(&router, "/v1/routes?limit=x").await, 400, "limit");
        assert_problem(&get(&router, "/v1/routes?colour=x").await, 400, "colour");
        assert_problem(&get(&router, "/v1/routes?limit=0").await, 422, "limit is 0");
        assert_problem(&get(&router, "/v1/lookup/1.2.3.4&vrf=x").await, 400, "1.2.3.4&vrf=x");
        let list = json!([1]);
        assert_problem(
            &post(&router, "/v1/config/rollback", list).await,
            422,
            "expected an object",
        );
        let trace = json!({ "count": 5, "port": "p9" });
        assert_problem(&post(&router, "/v1/trace/start", trace).await, 404, "no port `p9`");
        let trace = json!({ "count": 0 });
        assert_problem(&post(&router, "/v1/trace/start", trace).await, 422, "count is 0");
        let reply = post(&router, "/v1/config/edit", json!({ "command": "" })).await;
        assert_problem(&reply, 422, "unknown field `command`");
        let text = Request::post("/v1/config/edit").body(Body::from("x")).unwrap();
        assert_problem(&send(&router, text).await, 415, "");
        let broken =
            Request::post("/v1/config/edit").header(header::CONTENT_TYPE, "application/json");
        assert_problem(&send(&router, broken.body(Body::from("{")).unwrap()).await, 400, "");
    });
}

#[test]
fn what_comes_of_questions_is_told_line_by_line() {
    on_one_thread(async {
        let router = fresh_router();
        let reply = post(&router, "/v1/ping", json!({ "address": "10.0.0.9", "count": 2 })).await;
        assert_eq!((reply.status, &reply.kind[..]), (200, "application/x-ndjson"));
        let events = |reply: &Reply| -> Vec<serde_json::Value> {
            reply.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let told = events(&reply);
        let kinds: Vec<_> = told.iter().map(|line| line["event"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["begun", "sent", "reply", "sent", "reply", "done"]);
        assert_eq!((&told[5]["received"], &told[2]["bytes"]), (&json!(2), &json!(64)));
        let reply = post(&router, "/v1/traceroute", json!({ "address": "10.0.0.9" })).await;
        let told = events(&reply);
        assert_eq!(told[1]["answers"].as_array().unwrap().len(), 3);
        assert_eq!(told[2]["reached"], true);
        for (body, status, detail) in [
            (json!({ "address": "host" }), 422, "address"),
            (json!({ "address": "fe80::1", "port": "p9" }), 404, "no port `p9`"),
            (json!({ "address": "10.0.0.9", "interval_ms": 9 }), 422, "interval_ms is 9"),
            (json!({ "address": "10.0.0.9", "timeout_ms": 60_001 }), 422, "timeout_ms is 60001"),
            (json!({ "address": "10.0.0.9", "size": 65_501 }), 422, "size is 65501"),
        ] {
            assert_problem(&post(&router, "/v1/ping", body.clone()).await, status, detail);
            assert_problem(&post(&router, "/v1/traceroute", body).await, status, detail);
        }
    });
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    on_one_thread(async {
        let router = fresh_router();
        let text = "#".repeat(crate::api::body::MAX_BODY_BYTES);
        let reply = post(&router, "/v1/config/check", json!({ "toml": text })).await;
        assert_problem(&reply, 413, "");
    });
}

#[test]
fn a_wrong_configuration_is_told_fault_by_fault_with_places() {
    on_one_thread(async {
        let router = fresh_router();
        let toml = "[port.p0]\nkind = \"memory\"\nmut = 1500\n";
        for verb in ["check", "diff", "apply"] {
            let path = format!("/v1/config/{verb}");
            let reply = post(&router, &path, json!({ "toml": toml, "file": "new.toml" })).await;
            assert_problem(&reply, 422, "--> new.toml:3:1");
            let finding = &reply.json()["findings"][0];
            assert_eq!(finding["field"], "port.p0.mut");
            assert_eq!((&finding["line"], &finding["column"]), (&json!(3), &json!(1)));
            assert_eq!(finding["suggestion"], "did you mean `mtu`?");
        }
    });
}

#[test]
fn a_configuration_is_compared_applied_confirmed_and_undone() {
    on_one_thread(async {
        let router = fresh_router();
        let new = format!("{TEXT}[[route]]\nprefix = \"10.0.0.0/8\"\nblackhole = true\n");
        let step = "+ route 10.0.0.0/8 blackhole = true";
        let reply = post(&router, "/v1/config/diff", json!({ "toml": new })).await;
        assert_eq!(reply.json()["changes"][0]["text"], step);

        let body = json!({ "toml": new, "confirm_within_s": 3600 });
        let reply = post(&router, "/v1/config/apply", body).await.json();
        assert_eq!((&reply["revision"], &reply["pending"]["revision"]), (&json!(2), &json!(1)));
        assert_eq!(get(&router, "/v1/routes").await.json()["total"], 3);
        let edit = json!({ "commands": "route del default" });
        assert_problem(
            &post(&router, "/v1/config/edit", edit.clone()).await,
            409,
            "waits to be confirmed",
        );
        assert_eq!(post(&router, "/v1/config/confirm", json!({})).await.status, 200);
        assert_problem(
            &post(&router, "/v1/config/confirm", json!({})).await,
            409,
            "no change waits",
        );

        assert_eq!(post(&router, "/v1/config/edit", edit).await.json()["revision"], 3);
        let reply = post(&router, "/v1/config/rollback", json!({ "revision": 1 })).await;
        assert_eq!(reply.json()["changes"].as_array().unwrap().len(), 2);
        let status = get(&router, "/v1/config").await.json();
        assert_eq!((&status["unsaved"], &status["pending"]), (&json!(false), &json!(null)));
        assert_eq!(status["value"]["route"][0]["via"], "192.0.2.9");
        let history = get(&router, "/v1/config/history").await.json();
        assert_eq!(history[2]["comment"], "route del default");
        let reply = post(&router, "/v1/config/rollback", json!({ "revision": 77 })).await;
        assert_problem(&reply, 404, "revision 77");
    });
}

#[test]
fn what_the_router_cannot_do_is_a_conflict_and_names_the_field() {
    on_one_thread(async {
        let router = fresh_router();
        let edit = json!({ "commands": "port add p7 tap device missing0" });
        let reply = post(&router, "/v1/config/edit", edit).await;
        assert_problem(&reply, 409, "there is no device `missing0`");
        assert_eq!(reply.json()["findings"][0]["field"], "port.p7.device");
        let workers = json!({ "toml": format!("{TEXT}[workers]\nidle = \"poll\"\n") });
        let reply = post(&router, "/v1/config/apply", workers).await;
        assert_problem(&reply, 409, "this takes a restart: ~ workers: idle");
    });
}

#[test]
fn saving_needs_a_file_and_writes_it() {
    let folder = std::env::temp_dir().join(format!("volley-api-save-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("router.toml");
    std::fs::write(&file, TEXT).unwrap();
    on_one_thread(async {
        let without = fresh_router();
        assert_problem(&post(&without, "/v1/config/save", json!({})).await, 409, "without a file");
        let router = router(start(Some(file.clone())));
        post(&router, "/v1/config/edit", json!({ "commands": "route del default" })).await;
        assert_eq!(get(&router, "/v1/config").await.json()["unsaved"], true);
        assert_eq!(post(&router, "/v1/config/save", json!({})).await.status, 200);
        assert_eq!(get(&router, "/v1/config").await.json()["unsaved"], false);
    });
    assert!(!std::fs::read_to_string(&file).unwrap().contains("route"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn metrics_are_open_metrics() {
    on_one_thread(async {
        let reply = get(&fresh_router(), "/metrics").await;
        assert!(reply.kind.starts_with("application/openmetrics-text; version=1.0.0"));
        assert!(reply.text.ends_with("# EOF\n"));
        let sample = "volley_port_packets_total{port=\"p0\",direction=\"rx\"} 1000000\n";
        assert!(reply.text.contains(sample), "{}", reply.text);
        let mut family = String::new();
        let mut seen = std::collections::HashSet::new();
        for line in reply.text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                family = rest.split(' ').next().unwrap().to_owned();
                assert!(seen.insert(family.clone()), "{family} comes twice");
            } else if !line.starts_with('#') {
                assert!(line.starts_with(&family), "{line} stands under {family}");
            }
        }
    });
}

#[test]
fn a_router_that_has_stopped_says_so() {
    on_one_thread(async {
        let (handle, jobs) = crate::control_loop::channel();
        drop(jobs);
        assert_problem(&get(&router(handle), "/v1/ports").await, 503, "shutting down");
    });
}

#[test]
fn a_change_that_was_meant_for_another_revision_is_not_made() {
    on_one_thread(async {
        let router = fresh_router();
        let add = |only_at: &str, command: &str| {
            let body = json!({ "commands": command }).to_string();
            Request::post("/v1/config/edit")
                .header("content-type", "application/json")
                .header("if-match", only_at)
                .body(Body::from(body))
                .unwrap()
        };
        let seen = get(&router, "/v1/config").await.tag;
        let first = send(&router, add(&seen, "route add 10.1.0.0/16 blackhole")).await;
        assert_eq!(
            (&seen[..], &first.tag[..], &first.json()["revision"]),
            ("\"1\"", "\"2\"", &2.into())
        );
        assert_eq!(get(&router, "/v1/config").await.tag, first.tag);
        // The second operator saw revision 1, too.
        let second = send(&router, add("\"1\"", "route del 10.1.0.0/16")).await;
        assert_problem(&second, 412, "revision 2 of the configuration runs, and not 1");
        let wrong = send(&router, add("\"new\"", "route del 10.1.0.0/16")).await;
        assert_problem(&wrong, 400, "If-Match");
        let none = send(&router, add("", "route del 10.1.0.0/16")).await;
        assert_problem(&none, 412, "names no revision");
        assert_eq!(send(&router, add("*", "route del 10.1.0.0/16")).await.json()["revision"], 3);
    });
}

#[test]
fn two_changes_at_once_are_both_made_one_after_the_other() {
    on_one_thread(async {
        let router = fresh_router();
        let route = |n: u8| json!({ "commands": format!("route add 10.{n}.0.0/16 blackhole") });
        let change = |n: u8| post(&router, "/v1/config/edit", route(n));
        let replies = tokio::join!(change(1), change(2), change(3), change(4));
        let replies = [replies.0, replies.1, replies.2, replies.3];
        let mut revisions = replies.map(|reply| {
            assert_eq!(reply.status, 200, "{}", reply.text);
            assert_eq!(reply.json()["changes"].as_array().unwrap().len(), 1);
            reply.json()["revision"].as_u64().unwrap()
        });
        revisions.sort_unstable();
        assert_eq!(revisions, [2, 3, 4, 5]);
        let toml = get(&router, "/v1/config").await.json()["toml"].to_string();
        for n in 1..=4 {
            assert!(toml.contains(&format!("10.{n}.0.0/16")), "{toml}");
        }
    });
}

#[test]
fn routes_that_come_in_slices_are_one_answer() {
    on_one_thread(async {
        let router = fresh_router();
        let commands: Vec<String> =
            (0..9).map(|n| format!("route add 10.{n}.0.0/16 blackhole")).collect();
        let commands = json!({ "commands": commands.join("\n") });
        assert_eq!(post(&router, "/v1/config/edit", commands).await.status, 200);
        let all = get(&router, "/v1/routes").await.json();
        let shown = all["routes"].as_array().unwrap();
        // Two more: the port's network, and the default route.
        assert_eq!((all["total"].as_u64(), shown.len()), (Some(11), 11));
        let some = get(&router, "/v1/routes?limit=5").await.json();
        assert_eq!((some["total"].as_u64(), &some["routes"]), (Some(11), &json!(shown[..5])));
        assert!(some.get("next").is_none());
    });
}

#[test]
fn turns_of_the_control_loop_are_told_by_call() {
    on_one_thread(async {
        let router = fresh_router();
        get(&router, "/v1/ports").await;
        post(&router, "/v1/config/check", json!({ "toml": TEXT })).await;
        let turns = get(&router, "/v1/control").await.json();
        let turn = |call: &str| {
            let turns = turns.as_array().unwrap().iter();
            turns.filter(|turn| turn["call"] == call).map(|turn| turn["turns"].as_u64()).next()
        };
        assert_eq!((turn("/v1/ports"), turn("/v1/config/check")), (Some(Some(1)), Some(Some(1))));
        assert!(turn("tick").is_some());
        let metrics = get(&router, "/metrics").await.text;
        let line = "volley_control_turns_total{call=\"/v1/ports\"} ";
        assert!(metrics.contains(line), "{metrics}");
        assert!(
            metrics.contains("volley_control_longest_turn_seconds{call=\"tick\"} "),
            "{metrics}"
        );
    });
}
