//! What `tracing`'s macros hand over, taken into the hub.

use crate::{Hub, Level};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

/// Longest text of a message or field: an event fits one datagram.
const LONGEST: usize = 4 << 10;
/// The field that is counted for metrics.
const FAULT: &str = "fault";

/// Takes events; knows no spans.
pub struct Receiver(pub Arc<Hub>);

impl Subscriber for Receiver {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && Level::from(*metadata.level()) <= self.0.level()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.0.level().into())
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let metadata = event.metadata();
        if metadata.fields().field(FAULT).is_some() {
            event.record(&mut FaultOf(&self.0));
        }
        self.0.take(metadata, || {
            let mut heard = Heard::default();
            event.record(&mut heard);
            heard
        });
    }
}

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

struct FaultOf<'a>(&'a Hub);

impl Visit for FaultOf<'_> {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == FAULT {
            self.0.counts.fault(value);
        }
    }
}
