//! The OpenAPI document and what is really served.

use serde_json::Value;

use super::{fresh_router, get, on_one_thread};
use crate::api::openapi;

#[test]
fn every_path_is_described_and_answers_json_or_says_its_kind() {
    let document = serde_json::to_value(openapi()).unwrap();
    on_one_thread(async {
        let router = fresh_router();
        let served = get(&router, "/openapi.json").await.json();
        assert_eq!(served, document);
        for (path, operations) in document["paths"].as_object().unwrap() {
            let Some(operation) = operations.get("get") else { continue };
            let reply = get(&router, &path.replace("{address}", "192.0.2.7")).await;
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
                    let pointer = reference.trim_start_matches('#');
                    assert!(document.pointer(pointer).is_some(), "{reference}");
                }
                fields.values().for_each(|value| check(document, value));
            }
            Value::Array(items) => items.iter().for_each(|value| check(document, value)),
            _ => {}
        }
    }
    let document = serde_json::to_value(openapi()).unwrap();
    check(&document, &document);
}
