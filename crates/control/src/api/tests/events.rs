//! The list of events, and those who follow them.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::json;
use tower::ServiceExt;
use tracing::subscriber::DefaultGuard;

use super::{fresh_router, get, on_one_thread, post};
use crate::view::{Event, Right};

/// What this thread tells reaches the hub until the guard goes.
fn told() -> DefaultGuard {
    tracing::subscriber::set_default(events::Receiver(events::hub().clone()))
}

/// A stream of events, read as it comes.
struct Following(Body, String);

impl Following {
    async fn begin(router: &Router, path: &str) -> Self {
        let request = Request::get(path).extension(Right::All).body(Body::empty()).unwrap();
        Self(router.clone().oneshot(request).await.unwrap().into_body(), String::new())
    }

    /// The next event whose text has `what` in it.
    async fn until(&mut self, what: &str) -> Event {
        loop {
            while let Some((block, rest)) = self.1.split_once("\n\n") {
                let found = block.contains(what).then(|| block.to_owned());
                self.1 = rest.to_owned();
                let Some(block) = found else { continue };
                let data = block.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
                return serde_json::from_str(data).unwrap();
            }
            let frame = self.0.frame().await.unwrap().unwrap();
            self.1 += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
        }
    }
}

#[test]
fn a_follower_sees_a_commit_its_rollback_and_a_refusal() {
    let _told = told();
    on_one_thread(async {
        let router = fresh_router();
        let mut following = Following::begin(&router, "/v1/events?follow=true").await;
        let edit = json!({ "commands": "route add 10.77.0.0/16 blackhole" });
        assert_eq!(post(&router, "/v1/config/edit", edit).await.status, 200);
        let commit = following.until("committed").await;
        assert_eq!((&commit.fields["revision"], &commit.fields["changes"]), (&2.into(), &1.into()));
        assert_eq!(post(&router, "/v1/config/rollback", json!({})).await.status, 200);
        let back = following.until("rolled back").await;
        assert_eq!((&back.fields["revision"], &back.fields["to"]), (&3.into(), &1.into()));
        get(&router, "/v1/no-such-thing").await;
        let refusal = following.until("refused").await;
        assert_eq!(refusal.fields["detail"], "there is nothing at /v1/no-such-thing");
        assert!(commit.number < back.number && back.number < refusal.number);
    });
}

#[test]
fn the_list_has_what_is_asked_for() {
    let _told = told();
    tracing::warn!(port = "p1", "of the list");
    tracing::info!("of the list, too");
    on_one_thread(async {
        let router = fresh_router();
        let list = async |query: &str| -> Vec<Event> {
            let events = get(&router, &format!("/v1/events{query}")).await.json();
            let mut events: Vec<Event> = serde_json::from_value(events).unwrap();
            events.retain(|event| event.message.starts_with("of the list"));
            events
        };
        let messages = |events: Vec<Event>| -> Vec<String> {
            events.into_iter().map(|event| event.message).collect()
        };
        assert_eq!(messages(list("").await), ["of the list", "of the list, too"]);
        assert_eq!(messages(list("?level=warn").await), ["of the list"]);
        assert!(list("?last=0").await.is_empty());
        assert_eq!(get(&router, "/v1/events?last=513").await.status, 422);
        assert_eq!(get(&router, "/v1/events?level=loud").await.status, 400);
        let number = list("").await[0].number;
        let request = Request::get("/v1/events?follow=true")
            .extension(Right::All)
            .header("last-event-id", (number - 1).to_string())
            .body(Body::empty())
            .unwrap();
        let body = router.clone().oneshot(request).await.unwrap().into_body();
        let again = Following(body, String::new()).until("of the list").await;
        assert_eq!((again.number, &again.fields["port"]), (number, &"p1".into()));
    });
}

#[test]
fn a_follower_that_does_not_read_is_told_what_it_missed() {
    let _told = told();
    on_one_thread(async {
        let router = fresh_router();
        let mut slow = Following::begin(&router, "/v1/events?follow=true").await;
        for _ in 0..60 {
            macro_rules! places {
                ($($n:literal)*) => { $( tracing::info!("place {}", $n); )* };
            }
            places!(1 2 3 4 5 6 7 8 9 10);
        }
        let frame = slow.0.frame().await.unwrap().unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let first = text.strip_prefix("event: missed\ndata: ").unwrap().lines().next().unwrap();
        let missed: crate::view::Missed = serde_json::from_str(first).unwrap();
        assert!(missed.missed >= 600 - 512, "{missed:?}");
    });
}

#[test]
fn metrics_count_events_and_faults() {
    let _told = told();
    tracing::warn!(fault = "of-a-test", "it broke");
    on_one_thread(async {
        let text = get(&fresh_router(), "/metrics").await.text;
        assert!(text.contains("volley_faults_total{fault=\"of-a-test\"} 1\n"), "{text}");
        let warned =
            text.lines().find_map(|it| it.strip_prefix("volley_events_total{level=\"warn\"} "));
        assert!(warned.unwrap().parse::<u64>().unwrap() >= 1);
        assert!(text.contains("volley_log_lines_lost_total 0\n"));
    });
}
