//! What one call of `tracing`'s macros says.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use tracing::field::{Field, Visit};

/// Longest text of a message or field: an event fits one datagram.
const LONGEST: usize = 4 << 10;

/// The message and the fields of an event.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) message: String,
    pub(crate) fields: BTreeMap<String, Value>,
}

impl Heard {
    fn put(&mut self, field: &Field, value: Value) {
        self.fields.insert(field.name().to_owned(), value);
    }
}

impl Visit for Heard {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let value = shortened(value);
        match field.name() {
            "message" => self.message = value,
            _ => self.put(field, value.into()),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().find(|(at, _)| *at >= LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
