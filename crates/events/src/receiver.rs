//! What `tracing`'s macros hand over, taken into the hub.

use crate::heard::Heard;
use crate::{Hub, Level};
use std::fmt;
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

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

struct FaultOf<'a>(&'a Hub);

impl Visit for FaultOf<'_> {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == FAULT {
            self.0.counts.fault(value);
        }
    }
}
