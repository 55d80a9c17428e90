//! As much of JSON Schema as ours has in it: a keyword that is not known here fails the test.

use std::collections::{BTreeSet, HashMap};
use std::sync::{LazyLock, Mutex};

use regex::Regex;
use serde_json::{Map, Value};

/// Keywords that say something to a person alone.
const SAID: [&str; 6] = ["$schema", "title", "description", "default", "examples", "x-unit"];
/// Keywords that others lead to.
const LED_TO: [&str; 2] = ["$defs", "$anchor"];

/// The parts of a schema that others refer to, by their anchors.
type Anchors<'s> = HashMap<&'s str, &'s Value>;

/// The properties that were looked at, or what is wrong.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<BTreeSet<String>, String> {
    let mut anchors = Anchors::new();
    collect(schema, &mut anchors);
    fits(&anchors, schema, value)
}

fn collect<'s>(schema: &'s Value, anchors: &mut Anchors<'s>) {
    match schema {
        Value::Object(fields) => {
            if let Some(anchor) = fields.get("$anchor").and_then(Value::as_str) {
                anchors.insert(anchor, schema);
            }
            fields.values().for_each(|part| collect(part, anchors));
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, anchors)),
        _ => {}
    }
}

/// The part of a schema that has this anchor.
pub(crate) fn anchored<'s>(schema: &'s Value, anchor: &str) -> Option<&'s Value> {
    match schema {
        Value::Object(fields) if fields.get("$anchor").is_some_and(|it| it == anchor) => {
            Some(schema)
        }
        Value::Object(fields) => fields.values().find_map(|part| anchored(part, anchor)),
        Value::Array(parts) => parts.iter().find_map(|part| anchored(part, anchor)),
        _ => None,
    }
}

/// The same for a part of a schema that has these anchors.
fn fits(anchors: &Anchors<'_>, schema: &Value, value: &Value) -> Result<BTreeSet<String>, String> {
    let schema = schema.as_object().unwrap();
    let mut seen = BTreeSet::new();
    for (keyword, says) in schema {
        match keyword.as_str() {
            "unevaluatedProperties" => {}
            said if SAID.contains(&said) || LED_TO.contains(&said) => {}
            keyword => seen.extend(keep(anchors, schema, keyword, says, value)?),
        }
    }
    if schema.contains_key("unevaluatedProperties")
        && let Some(left) = fields(value).keys().find(|name| !seen.contains(*name))
    {
        return Err(format!("`{left}` is none of its properties"));
    }
    Ok(seen)
}

/// Holds a value to one keyword.
fn keep(
    anchors: &Anchors<'_>,
    schema: &Map<String, Value>,
    keyword: &str,
    says: &Value,
    value: &Value,
) -> Result<BTreeSet<String>, String> {
    let fails = || Err(format!("{value} is not {keyword} {says}"));
    let holds = |holds: bool| if holds { Ok(BTreeSet::new()) } else { fails() };
    let all = |schemas: &Value| -> Vec<_> {
        schemas.as_array().unwrap().iter().map(|schema| fits(anchors, schema, value)).collect()
    };
    match keyword {
        "$ref" => {
            let anchor = says.as_str().unwrap().trim_start_matches('#');
            fits(anchors, anchors[anchor], value)
        }
        "type" => holds(is_of_type(value, says.as_str().unwrap())),
        "const" => holds(value == says),
        "enum" => holds(says.as_array().unwrap().contains(value)),
        "minimum" => holds(value.as_f64().is_none_or(|it| it >= says.as_f64().unwrap())),
        "maximum" => holds(value.as_f64().is_none_or(|it| it <= says.as_f64().unwrap())),
        "pattern" => {
            let pattern = pattern(says.as_str().unwrap());
            holds(value.as_str().is_none_or(|text| pattern.is_match(text)))
        }
        "required" => {
            let names = says.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            holds(names.into_iter().all(|name| fields(value).contains_key(name)))
        }
        "properties" => each(anchors, value, |name| says.get(name)),
        "additionalProperties" if *says == false => {
            let known = schema["properties"].as_object().unwrap();
            holds(fields(value).keys().all(|name| known.contains_key(name)))
        }
        "additionalProperties" => each(anchors, value, |_| Some(says)),
        "propertyNames" => {
            let names = fields(value).keys().map(|name| fits(anchors, says, &name.as_str().into()));
            names.collect::<Result<Vec<_>, _>>().map(|_| BTreeSet::new())
        }
        "items" => {
            let items =
                value.as_array().into_iter().flatten().map(|item| fits(anchors, says, item));
            items.collect::<Result<Vec<_>, _>>().map(|_| BTreeSet::new())
        }
        "allOf" => Ok(all(says)
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect()),
        "anyOf" | "oneOf" => {
            let (fit, not): (Vec<_>, Vec<_>) = all(says).into_iter().partition(Result::is_ok);
            if fit.is_empty() || keyword == "oneOf" && fit.len() > 1 {
                let not: Vec<String> = not.into_iter().filter_map(Result::err).collect();
                return Err(format!("{} of these fit: {}", fit.len(), not.join("; ")));
            }
            Ok(fit.into_iter().flatten().flatten().collect())
        }
        unknown => panic!("`{unknown}` is not known here"),
    }
}

/// A pattern, compiled once.
fn pattern(text: &str) -> Regex {
    static COMPILED: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap();
    compiled.entry(text.into()).or_insert_with(|| Regex::new(text).unwrap()).clone()
}

/// Holds each property to its schema, where it has one.
fn each<'s>(
    anchors: &Anchors<'_>,
    value: &Value,
    schema: impl Fn(&str) -> Option<&'s Value>,
) -> Result<BTreeSet<String>, String> {
    let mut seen = BTreeSet::new();
    for (name, value) in fields(value) {
        if let Some(schema) = schema(name) {
            fits(anchors, schema, value).map_err(|fault| format!("{name}: {fault}"))?;
            seen.insert(name.clone());
        }
    }
    Ok(seen)
}

fn fields(value: &Value) -> &Map<String, Value> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    value.as_object().unwrap_or(&NONE)
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        unknown => panic!("`{unknown}` is no type known here"),
    }
}
