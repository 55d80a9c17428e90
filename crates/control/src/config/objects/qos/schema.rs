//! What stands in `[port.NAME.qos]`, as JSON Schema: the settings that `sched` declares.
//!
//! A discipline may stand below another, as a leaf or a band: what one is stands once, and is
//! referred to by an anchor, which is found in the document of the API, too: this is a part of it.

use sched::units::Rate;
use sched::{ClassId, ClassShape, Place, Setting, Settings, Shape, Slot, TbfShape, each_slot};
use serde_json::{Map, Value, json};

use super::filter;
use crate::config::field::Field;
use crate::config::toml_text::of_toml;

/// The schema of the section.
pub(in crate::config::objects) fn schema() -> Value {
    let kinds: Vec<Value> = Shape::kinds().into_iter().map(of_kind).collect();
    let mut beside = Table::default();
    beside
        .field::<Rate>("link_rate", "The link's rate: promises that it cannot keep are warned of");
    beside.field::<u32>("pool_packets", "Most packets that may wait, all classes together");
    beside.list("filter", "Which packets go to which class: the first that fits", of_filter());
    let mut schema = below();
    schema["description"] = "How packets wait before they leave by the port".into();
    schema["properties"] = beside.properties.into();
    schema["$defs"] = json!({ "discipline": { "$anchor": "discipline", "oneOf": kinds } });
    schema
}

/// A discipline: its kind, and what that can be set to.
fn below() -> Value {
    json!({ "$ref": "#discipline", "unevaluatedProperties": false })
}

/// A table in the making.
#[derive(Default)]
struct Table {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Table {
    fn field<T: Field>(&mut self, name: &str, about: &str) {
        let mut field = T::FORM.schema(T::WORDS);
        field["description"] = about.into();
        self.properties.insert(name.to_owned(), field);
    }

    /// A setting by its name, or by a word for several.
    fn setting(&mut self, name: &str, setting: &Setting, slot: &Slot<'_>) {
        if let Slot::Bands(_) = slot {
            let band = u8::FORM.schema(&[]);
            let bands = json!({ "type": "array", "items": band, "description": setting.about });
            self.properties.insert(name.to_owned(), bands);
            return;
        }
        each_slot!(slot, place => self.place(name, setting, place));
    }

    fn place<T: Field + Clone>(&mut self, name: &str, setting: &Setting, place: &Place<'_, T>) {
        let range = setting.range().map(|range| format!(" [{range}]")).unwrap_or_default();
        self.field::<T>(name, &format!("{}{range}", setting.about));
        let field = &mut self.properties[name];
        match place {
            Place::Usual(_, usual) => field["default"] = of_toml(&usual.to_toml()).into(),
            Place::Needed(_) => self.required.push(name.to_owned()),
            Place::Maybe(_) => {}
        }
    }

    fn settings<S: Settings + ?Sized>(&mut self, settings: &mut S) {
        settings.each(&mut |setting, slot| self.setting(setting.name, setting, &slot));
    }

    fn list(&mut self, name: &str, about: &str, item: Value) {
        let list = json!({ "type": "array", "items": item, "description": about });
        self.properties.insert(name.to_owned(), list);
    }

    fn schema(self) -> Value {
        json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
        })
    }

    fn closed(self) -> Value {
        let mut schema = self.schema();
        schema["additionalProperties"] = false.into();
        schema
    }
}

/// A discipline of a kind. Whoever refers to it says what else may stand beside.
fn of_kind(kind: &str) -> Value {
    let mut table = Table::default();
    table.settings(&mut TbfShape::default());
    // Any discipline may stand under a token bucket, which its own `rate` makes.
    table.required.retain(|name| kind == TbfShape::default().kind() && name == "rate");
    if let Some(mut shape) = Shape::of_kind(kind) {
        if let Shape::Tbf(_) = shape {
            table.settings(Shape::bfifo(0).settings());
            table.required.retain(|name| name != "limit");
        } else {
            table.settings(shape.settings());
        }
        if let Some(classes) = shape.classes_mut() {
            let class = of_class(classes.add(ClassId::NONE));
            table.list("class", "The tree of classes", class);
        }
        if let Shape::Prio(_) = shape {
            table.field::<u16>("bands", "How many bands");
            table.list("band", "What waits in each band, the first one's packets first", below());
        }
    }
    table.properties.insert("kind".to_owned(), json!({ "const": kind }));
    table.required.push("kind".to_owned());
    table.schema()
}

fn of_class(class: &mut dyn ClassShape) -> Value {
    let mut table = Table::default();
    table.field::<ClassId>("id", "Its name");
    table.field::<ClassId>("parent", "The class above it");
    table.settings(class);
    for (short, names) in class.shorthands() {
        class.each(&mut |setting, slot| {
            if names.contains(&setting.name) {
                table.setting(short, setting, &slot);
            }
        });
    }
    table.properties.insert("leaf".to_owned(), below());
    table.required.push("id".to_owned());
    table.closed()
}

fn of_filter() -> Value {
    let mut table = Table::default();
    table.field::<ClassId>("class", "Where they go");
    for info in filter::infos() {
        let mut field = info.form.schema(info.words);
        field["description"] = info.help.into();
        table.properties.insert(info.name.to_owned(), field);
    }
    table.required.push("class".to_owned());
    table.closed()
}
