//! What happened, and which of it is asked for.

pub use events::{Event, Level};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ArrayBuilder, RefOr, Schema};
use utoipa::{IntoParams, PartialSchema};

use super::answer::JSON;
use super::query::query;
use super::verb::{Asked, Schemas, Told, named};

/// Which events to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EventFilter {
    /// As grave as this, or graver.
    #[serde(default)]
    #[param(inline)]
    pub level: Option<Level>,
    /// Of those that happened, the latest so many.
    #[serde(default)]
    pub last: Option<u32>,
    /// Those to come as well, for ever, as server-sent events.
    #[serde(default)]
    pub follow: bool,
}

/// Which events, and behind which of them to go on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsAsked {
    /// Which events.
    pub filter: EventFilter,
    /// The number of the last that was seen.
    pub seen: Option<u64>,
}

impl EventsAsked {
    /// The header that has the number of the last that was seen.
    pub const SEEN: &'static str = "Last-Event-ID";
}

impl Asked for EventsAsked {
    fn parameters() -> Vec<Parameter> {
        let seen = ParameterBuilder::new()
            .name(Self::SEEN)
            .parameter_in(ParameterIn::Header)
            .description(Some(
                "The number of the last event that was seen; another text is as none",
            ))
            .schema(Some(String::schema()));
        let mut parameters = EventFilter::into_params(|| Some(ParameterIn::Query));
        parameters.push(seen.build());
        parameters
    }

    fn query(&self) -> String {
        query(&self.filter)
    }
}

/// Events as a list, or as they happen.
#[derive(Clone, Copy, Debug)]
pub struct EventStream;

impl Told for EventStream {
    fn contents(schemas: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)> {
        let list = ArrayBuilder::new().items(named::<Event>(schemas)).build();
        vec![(JSON, list.into()), (Self::MEDIA, String::schema())]
    }
}

impl EventStream {
    /// The media type of events as they happen.
    pub const MEDIA: &'static str = "text/event-stream";
}

/// Told to a follower that was too slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Events that it will not get.
    pub missed: u64,
}
