//! The configuration as JSON Schema (draft 2020-12): what stands in the file, for editors and for
//! programs that write it. Made of the declarations of the fields.
//!
//! It says what each field is by itself. What fields need of each other the checks know, so that a
//! configuration that fits is not always right; one that does not fit never is.

use serde_json::{Map, Value, json};

use super::form::Form;
use super::info::{Described, Info, Stands};
use super::objects::described;
use super::reference::example;
use super::toml_text::of_toml;
use super::version;

/// The schema of the whole configuration.
pub fn schema() -> Value {
    let all = described();
    let mut sections = Map::new();
    sections.insert(
        version::KEY.to_owned(),
        json!({
            "description": "The form that the file is written in; 1 when left out",
            "type": "integer",
            "minimum": 1,
            "maximum": version::CURRENT,
            "default": 1,
        }),
    );
    for section in all.iter().filter(|it| !it.path.contains('.')) {
        let mut of_row = row(section);
        for part in &all {
            if let Some((above, name)) = part.path.split_once('.')
                && above == section.path
            {
                of_row["properties"][name] = standing(part, row(part));
            }
        }
        sections.insert(section.path.to_owned(), standing(section, of_row));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The configuration of a Volley router",
        "type": "object",
        "properties": sections,
        "additionalProperties": false,
    })
}

/// A section as it stands in the file: once, by names, or listed.
fn standing(section: &Described, row: Value) -> Value {
    match section.stands {
        Stands::Once | Stands::Elsewhere(_) => row,
        Stands::Named(name) => json!({
            "type": "object",
            "propertyNames": name.schema(&[]),
            "additionalProperties": row,
        }),
        Stands::Listed(_) => json!({ "type": "array", "items": row }),
    }
}

/// A table: the fields that all kinds have, and what each kind has beside them.
fn row(section: &Described) -> Value {
    if let Stands::Elsewhere(schema) = section.stands {
        return schema();
    }
    let mut table = of_fields(&section.infos, "");
    let words = section.infos.iter().find(|info| info.name == "kind").map(|kind| kind.words);
    let kinds = words.filter(|_| section.infos.iter().any(|info| !info.of.is_empty()));
    table["description"] = told((section.about)("")).into();
    let Some(kinds) = kinds else {
        table["additionalProperties"] = false.into();
        return table;
    };
    let of_kind = |kind: &&str| {
        let mut table = of_fields(&section.infos, kind);
        table["description"] = told((section.about)(kind)).into();
        table["properties"]["kind"] = json!({ "const": kind });
        table
    };
    table["oneOf"] = kinds.iter().map(of_kind).collect();
    table["unevaluatedProperties"] = false.into();
    table
}

/// The fields of a kind, or those of all.
fn of_fields(infos: &[Info], kind: &str) -> Value {
    let infos = infos.iter().filter(|info| info.is_field() && info.of == kind);
    let (mut properties, mut required, mut one_of) = (Map::new(), Vec::new(), Vec::new());
    for info in infos {
        properties.insert(info.name.to_owned(), of_field(info));
        match (info.is_required, info.or) {
            (true, []) => required.push(info.name),
            (true, or) => {
                let names = [&[info.name], or].concat();
                let any: Value = names.iter().map(|name| json!({ "required": [name] })).collect();
                one_of.push(json!({ "anyOf": any }));
            }
            (false, _) => {}
        }
    }
    let mut table = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    if !one_of.is_empty() {
        table["allOf"] = json!(one_of);
    }
    table
}

/// One field, with all that is declared of it.
fn of_field(info: &Info) -> Value {
    let mut one = info.form.schema(info.words);
    if let Form::Table(short) = info.form {
        let mut table = of_fields(&(info.inner)(), "");
        table["additionalProperties"] = false.into();
        one = match short {
            Some(short) => json!({ "anyOf": [short.schema(&[]), table] }),
            None => table,
        };
    }
    if let Some((least, most)) = info.range {
        one["minimum"] = least.into();
        one["maximum"] = most.into();
    }
    let mut field = match info.is_list {
        true => json!({ "anyOf": [one, { "type": "array", "items": one }] }),
        false => one,
    };
    field["description"] = told(&info.help).into();
    if !info.unit.is_empty() {
        field["x-unit"] = info.unit.into();
    }
    match info.default.as_deref().and_then(of_toml) {
        Some(default) => field["default"] = default,
        None => field["examples"] = of_toml(&example(info)).into_iter().collect(),
    }
    field
}

/// A line of help as it is printed.
fn told(help: &str) -> &str {
    help.trim().trim_end_matches('.')
}
