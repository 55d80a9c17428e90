//! The OpenAPI document and what is really served.

use std::collections::HashSet;

use serde_json::Value;

use axum::body::Body;
use axum::http::{Request, header};
use tower::ServiceExt;

use super::{fresh_router, get, on_one_thread};
use crate::api::{openapi, router};
use crate::config::tests::schema::checker::{anchored, check};
use crate::control_loop::channel;

#[test]
fn every_path_is_described_and_answers_json_or_says_its_kind() {
    let document = openapi();
    on_one_thread(async {
        let router = fresh_router();
        let served = get(&router, "/openapi.json").await.json();
        assert_eq!(served, document);
        for (path, operations) in document["paths"].as_object().unwrap() {
            let Some(operation) = operations.get("get") else { continue };
            let mut asked = path.replace("{address}", "192.0.2.7");
            if asked == "/v1/explain" {
                asked += "?packet=in%20p0%20ip%20dst%2010.0.0.1%20/%20udp";
            }
            if asked == "/v1/flow-trace" {
                asked += "?bridge=lan&flow=in_port=1,tcp";
            }
            let reply = get(&router, &asked).await;
            assert_eq!(reply.status, 200, "{path}: {}", reply.text);
            let kinds = operation["responses"]["200"]["content"].as_object().unwrap();
            let kind = reply.kind.split(';').next().unwrap();
            assert!(kinds.contains_key(kind), "{path}: {kind} is none of {kinds:?}");
        }
    });
}

#[test]
fn every_reference_of_the_document_leads_somewhere() {
    fn check(document: &Value, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    let place = reference.trim_start_matches('#');
                    let part = document.pointer(place).or_else(|| anchored(document, place));
                    assert!(part.is_some(), "{reference}");
                }
                fields.values().for_each(|value| check(document, value));
            }
            Value::Array(items) => items.iter().for_each(|value| check(document, value)),
            _ => {}
        }
    }
    let document = openapi();
    check(&document, &document);
}

#[test]
fn every_operation_has_a_name_of_its_own_and_says_what_its_path_takes() {
    let document = openapi();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut names = HashSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name), "{method} {path}: `{name}` comes twice");
            assert!(operation["responses"]["200"]["description"].is_string(), "{method} {path}");
            assert!(operation["summary"].is_string(), "{method} {path}");
            let parameters = operation["parameters"].as_array().map_or(&[][..], |some| some);
            let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path");
            let taken: Vec<_> = in_path.map(|one| one["name"].as_str().unwrap()).collect();
            let parts = path.split('/').filter_map(|part| part.strip_prefix('{'));
            let named: Vec<_> = parts.map(|part| part.trim_end_matches('}')).collect();
            assert_eq!(taken, named, "{path}");
        }
    }
}

#[test]
fn the_document_has_the_revision_that_answers_tell_and_that_changes_may_name() {
    let document = openapi();
    let of = |path: &str, method: &str| document["paths"][path][method].clone();
    let tag = |operation: &Value| operation["responses"]["200"]["headers"]["ETag"].is_object();
    let condition = |operation: &Value| {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let headers = parameters.filter(|parameter| parameter["in"] == "header");
        headers.map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for verb in ["apply", "edit", "confirm", "rollback"] {
        let operation = of(&format!("/v1/config/{verb}"), "post");
        assert!(tag(&operation), "{verb}");
        assert_eq!(condition(&operation), ["If-Match"], "{verb}");
    }
    assert!(tag(&of("/v1/config", "get")) && condition(&of("/v1/config", "get")).is_empty());
    let save = of("/v1/config/save", "post");
    assert!(!tag(&save) && condition(&save) == ["If-Match"]);
    assert!(!tag(&of("/v1/ports", "get")));
    assert_eq!(condition(&of("/v1/events", "get")), ["Last-Event-ID"]);
}

/// The paths that axum has, as it tells them for debugging; without those of what is nowhere.
fn served_paths() -> HashSet<String> {
    let told = format!("{:?}", router(channel().0));
    let paths = told.split('"').skip(1).step_by(2).filter(|text| text.starts_with('/'));
    let paths = paths.filter(|path| *path != "/" && !path.starts_with("/{*"));
    paths.map(str::to_owned).collect()
}

#[test]
fn what_is_served_is_described_and_what_is_described_is_served() {
    let document = openapi();
    let mut described: HashSet<String> =
        document["paths"].as_object().unwrap().keys().cloned().collect();
    described.insert("/openapi.json".to_owned());
    assert!(described.len() > 40, "{} paths", described.len());
    assert_eq!(served_paths(), described);
    on_one_thread(async {
        let router = fresh_router();
        for (path, operations) in document["paths"].as_object().unwrap() {
            let path = path.replace("{address}", "192.0.2.7");
            let request = Request::delete(&path).body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            let allow = response.headers().get(header::ALLOW).unwrap().to_str().unwrap();
            let allowed = allow.split(',').filter(|method| *method != "HEAD");
            let allowed: HashSet<String> = allowed.map(str::to_lowercase).collect();
            let described: HashSet<String> =
                operations.as_object().unwrap().keys().cloned().collect();
            assert_eq!(allowed, described, "{path}");
        }
    });
}

#[test]
fn the_running_configuration_fits_the_schema_that_is_served_and_referred_to() {
    on_one_thread(async {
        let router = fresh_router();
        let schema = get(&router, "/v1/config/schema").await.json();
        assert_eq!(openapi()["components"]["schemas"]["Configuration"], schema);
        let value = &openapi()["components"]["schemas"]["ConfigStatus"]["properties"]["value"];
        assert!(value.to_string().contains("#/components/schemas/Configuration"), "{value}");
        let running = get(&router, "/v1/config").await.json();
        assert!(running["value"]["port"]["p0"].is_object());
        assert_eq!(check(&schema, &running["value"]).err(), None);
    });
}
