//! Who may do what: of the right that a request brings, and of the socket that it comes by.

use std::collections::BTreeSet;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};

use super::{Reply, fresh_router, get, on_one_thread, send, start};
use crate::api::{openapi, router};
use crate::view::Right;

const ALL: [Right; 4] = [Right::See, Right::Change, Right::Files, Right::All];

async fn ask(router: &Router, right: Right, method: &str, path: &str, body: Value) -> Reply {
    let request = Request::builder().method(method).uri(path);
    let request = request.header(header::CONTENT_TYPE, "application/json").extension(right);
    send(router, request.body(Body::from(body.to_string())).unwrap()).await
}

async fn edit(router: &Router, right: Right, commands: &str) -> Reply {
    ask(router, right, "POST", "/v1/config/edit", json!({ "commands": commands })).await
}

/// What the document says that an operation takes.
fn told(operation: &Value) -> Right {
    let text = operation["description"].as_str().unwrap();
    let named = |right: &Right| text.starts_with(&format!("Takes the right {right},"));
    ALL.into_iter().find(named).unwrap()
}

#[test]
fn every_operation_is_done_for_who_has_the_right_and_refused_to_who_has_less() {
    let document = openapi();
    let mut seen = BTreeSet::new();
    on_one_thread(async {
        let router = fresh_router();
        for (path, operations) in document["paths"].as_object().unwrap() {
            let path = path.replace("{address}", "192.0.2.7");
            for (method, operation) in operations.as_object().unwrap() {
                let takes = told(operation);
                seen.insert(takes);
                // Of routers, what is refused for its right is so before the body is looked at.
                for has in ALL {
                    let reply = ask(&router, has, &method.to_uppercase(), &path, json!([])).await;
                    assert_eq!(reply.status == 403, has < takes, "{method} {path}: {}", reply.text);
                }
                let unknown = Request::builder().method(&method.to_uppercase()[..]).uri(&path);
                let unknown = unknown.body(Body::empty()).unwrap();
                let reply = tower::ServiceExt::oneshot(router.clone(), unknown).await.unwrap();
                assert_eq!(reply.status(), 403, "{method} {path} of nobody");
            }
        }
    });
    assert_eq!(seen, BTreeSet::from([Right::See, Right::Change]));
}

#[test]
fn nothing_that_changes_is_for_those_who_only_see() {
    for (path, operations) in openapi()["paths"].as_object().unwrap() {
        let Some(operation) = operations.get("post") else { continue };
        let only_asks = ["/v1/config/check", "/v1/config/diff"].contains(&&path[..]);
        assert_eq!(told(operation) == Right::See, only_asks, "{path}");
    }
}

#[test]
fn a_refusal_says_which_right_it_takes_and_who_has_it() {
    on_one_thread(async {
        let reply = edit(&fresh_router(), Right::See, "port del p0").await;
        assert_eq!((reply.status, &reply.kind[..]), (403, "application/problem+json"));
        let detail = reply.json()["detail"].as_str().unwrap().to_owned();
        assert_eq!(
            detail,
            "this takes the right `change`, to change what the router does, and you have `see`: \
             [api] group or token_file"
        );
    });
}

#[test]
fn files_are_opened_for_those_alone_who_may_have_them_opened() {
    let folder = "/var/lib/volley";
    let cases = [
        // Least right, commands.
        (Right::Change, "port add p1 memory".to_owned()),
        (Right::Change, "port set p0 mtu 1400".to_owned()),
        (Right::Files, format!("port add p1 pcap tx {folder}/a.pcap")),
        (Right::Files, format!("port add p1 memory record {folder}/lan/a.pcap")),
        (Right::Files, "port add p1 memif socket /run/volley/m.sock role server".to_owned()),
        (Right::All, "port add p1 pcap tx /etc/shadow".to_owned()),
        (Right::All, format!("port add p1 pcap rx {folder}/../../../etc/shadow")),
        (Right::All, format!("port add p1 memory source {folder}")),
        (Right::All, "port add p1 memory source a.pcap".to_owned()),
        (Right::All, "port add p1 vhost socket /tmp/v.sock".to_owned()),
        (Right::All, "port add p1 virtio_user socket /dev/vhost-net".to_owned()),
        (Right::All, "port set p0 twin on netns /proc/1/ns/net".to_owned()),
        (Right::All, "fpm set netns ../../proc/1/ns/net".to_owned()),
        (Right::Change, "fpm set netns frr".to_owned()),
    ];
    on_one_thread(async {
        for (least, commands) in cases {
            for has in &ALL[1..] {
                let router = router(start(None));
                let reply = edit(&router, *has, &commands).await;
                let expected = if *has < least { 403 } else { 200 };
                assert_eq!(reply.status, expected, "{has} {commands}: {}", reply.text);
                // As a whole the same.
                if *has == Right::All {
                    let toml = get(&router, "/v1/config").await.json()["toml"].clone();
                    for has in &ALL[1..] {
                        let other = super::router(start(None));
                        let body = json!({ "toml": toml });
                        let reply = ask(&other, *has, "POST", "/v1/config/apply", body).await;
                        let expected = if *has < least { 403 } else { 200 };
                        assert_eq!(reply.status, expected, "{has} {commands}: {}", reply.text);
                    }
                }
            }
        }
    });
}

#[test]
fn going_back_does_not_open_what_whoever_asks_may_not_open() {
    on_one_thread(async {
        let router = fresh_router();
        let add = "port add p1 memory record /etc/volley.pcap";
        assert_eq!(edit(&router, Right::All, add).await.status, 200);
        // What is open already stays so, whoever changes something else of it.
        assert_eq!(edit(&router, Right::Change, "port set p1 mtu 1400").await.status, 200);
        assert_eq!(edit(&router, Right::Change, "port del p1").await.status, 200);
        for (has, status) in [(Right::Change, 403), (Right::Files, 403), (Right::All, 200)] {
            let reply = ask(&router, has, "POST", "/v1/config/rollback", json!({})).await;
            assert_eq!(reply.status, status, "{has}: {}", reply.text);
        }
    });
}

#[test]
fn a_refusal_of_a_file_names_it_and_the_folders() {
    on_one_thread(async {
        let router = fresh_router();
        let of = async |right, commands: &str| {
            let reply = edit(&router, right, commands).await;
            reply.json()["detail"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            of(Right::Change, "port add p1 pcap rx /var/lib/volley/a").await,
            "opening /var/lib/volley/a takes the right `files`, and you have `change`: \
             [api] files_group or files_token_file"
        );
        assert_eq!(
            of(Right::Files, "port add p1 pcap rx /etc/shadow").await,
            "/etc/shadow is below none of the folders of `files.folders` (/var/lib/volley, /run/volley): \
             that takes the right `all`, root at the Unix socket, and nobody else"
        );
    });
}
