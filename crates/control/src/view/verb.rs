//! What the router can be asked to do, and to tell where that is no view. One line each, in the
//! list below, with the right that it takes.
//!
//! ```text
//!  a line ─┬─▶ GET or POST path, and its place in /openapi.json
//!          └─▶ what the command line sends, and what it reads of the answer
//!  impl Serve for ConfigApply (api): how it is done
//! ```

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::answer::JSON;
use super::query::query;
use super::{
    Applied, Bulk, Capture, CaptureRequest, Checked, ConfigText, ConnectionClear, ConnectionCount,
    Diff, EditText, EventStream, EventsAsked, PingLine, PingRequest, Right, RollbackTo, RouteFlush,
    RouteLoad, RouteRange, Saved, StationCount, StationFill, StationFlush, Taken, Trace,
    TraceRequest, TracerouteLine, TracerouteRequest,
};

/// How a request says whether it only asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It asks for what is there.
    Get,
    /// It has something done.
    Post,
}

/// Something that the router can be asked to do or to tell.
pub trait Verb: 'static {
    /// What must be said.
    type Request: Asked;
    /// What is answered.
    type Reply: Told + 'static;
    /// Whether it changes nothing.
    const METHOD: Method;
    /// What whoever asks must be allowed.
    const RIGHT: Right;
    /// Where the API has it.
    const PATH: &'static str;
    /// The API's group of paths that it is among.
    const TAG: &'static str;
    /// What it is, in one line.
    const ABOUT: &'static str;
    /// What it comes to.
    const DONE: &'static str;
}

macro_rules! verbs {
    ($($Verb:ident: $method:ident $right:ident $path:literal, $tag:literal, $Request:ty => $Reply:ty, $about:literal, $done:literal;)*) => {$(
        #[doc = $about]
        pub struct $Verb;

        impl Verb for $Verb {
            type Request = $Request;
            type Reply = $Reply;
            const METHOD: Method = Method::$method;
            const RIGHT: Right = Right::$right;
            const PATH: &'static str = $path;
            const TAG: &'static str = $tag;
            const ABOUT: &'static str = $about;
            const DONE: &'static str = $done;
        }
    )*};
}

/// Hands every verb to a macro: method, right, path, group, what is said, what is answered, what it
/// is, what it comes to.
macro_rules! every_verb {
    ($do:ident) => {
        $do! {
            ConfigCheck: Post See "/v1/config/check", "config", Fields<ConfigText> => Checked,
                "Says whether a configuration is right.", "It is right.";
            ConfigDiff: Post See "/v1/config/diff", "config", Fields<ConfigText> => Diff,
                "Says what a configuration would change.", "The steps.";
            ConfigApply: Post Change "/v1/config/apply", "config", Fields<ConfigText> => Applied,
                "Makes a configuration the running one: all of it or nothing.", "It runs.";
            ConfigEdit: Post Change "/v1/config/edit", "config", Fields<EditText> => Applied,
                "Runs commands that edit the running configuration: all of them or none.", "It runs.";
            ConfigConfirm: Post Change "/v1/config/confirm", "config", Nothing => Applied,
                "Keeps the change that waits to be confirmed.", "It stays.";
            ConfigRollback: Post Change "/v1/config/rollback", "config", Fields<RollbackTo> => Applied,
                "Goes back to an earlier configuration.", "It runs.";
            ConfigSave: Post Change "/v1/config/save", "config", Nothing => Saved,
                "Writes the running configuration to its file.", "It is written.";
            RoutesLoad: Post Change "/v1/routes/load", "routes", File<RouteLoad> => Lines<Bulk>,
                "Adds the routes of a file, which is the body: lines of text (prefix and next hop) or an MRT table dump, plain or compressed (zstd, gzip). They are no part of the configuration.",
                "How it goes, one object a line.";
            RoutesRange: Post Change "/v1/routes/range", "routes", Fields<RouteRange> => Lines<Bulk>,
                "Adds routes to networks in a row, for measurements.", "How it goes, one object a line.";
            RoutesFlush: Post Change "/v1/routes/flush", "routes", Fields<RouteFlush> => Lines<Bulk>,
                "Removes the routes of a source that were loaded.", "How it goes, one object a line.";
            TraceStart: Post Change "/v1/trace/start", "observe", Fields<TraceRequest> => Trace,
                "Traces the next packets.", "Tracing.";
            TraceStop: Post Change "/v1/trace/stop", "observe", Nothing => Trace,
                "Ends a trace.", "What was traced.";
            CaptureStart: Post Change "/v1/capture/start", "observe", Fields<CaptureRequest> => Capture,
                "Captures the next packets at a node's exit.", "Capturing.";
            CaptureStop: Post Change "/v1/capture/stop", "observe", Nothing => Capture,
                "Ends a capture.", "How it stands.";
            CaptureTake: Post Change "/v1/capture/take", "observe", Nothing => Taken,
                "Hands out what was captured since the last time, and makes room for as many more: so a capture goes on for as long as somebody asks.", "The packets.";
            StationsFlush: Post Change "/v1/stations/flush", "observe", Fields<StationFlush> => StationCount,
                "Forgets learned stations.", "How many went.";
            StationsFill: Post Change "/v1/stations/fill", "observe", Fields<StationFill> => StationCount,
                "Has stations learned that nobody has heard, for measurements.", "How many came.";
            Ping: Post Change "/v1/ping", "observe", Fields<PingRequest> => Lines<PingLine>,
                "Asks somebody for echoes, from the router itself. It ends with its last request, or when whoever asked hangs up.",
                "What comes back, one object a line.";
            Traceroute: Post Change "/v1/traceroute", "observe", Fields<TracerouteRequest> => Lines<TracerouteLine>,
                "Finds the routers on a way, by echo requests that come a hop further each. It ends with the last hop, or when whoever asked hangs up.",
                "The hops, one object a line.";
            ConnectionsClear: Post Change "/v1/connections/clear", "observe", Fields<ConnectionClear> => ConnectionCount,
                "Ends connections that translations, access lists and flows know.", "How many ended.";
            CountersClear: Post Change "/v1/counters/clear", "observe", Nothing => Nothing,
                "Sets every counter to zero.", "They are zero.";
            ConfigSchema: Get See "/v1/config/schema", "config", Nothing => JsonSchema,
                "What stands in a configuration: JSON Schema, draft 2020-12.", "The schema.";
            CapturePcap: Get Change "/v1/capture/pcap", "observe", Nothing => Pcap,
                "What was captured, as a pcap file.", "A pcap file.";
            EventList: Get See "/v1/events", "observe", EventsAsked => EventStream,
                "What happened lately, oldest first. With `follow=true` also what happens from now on, as server-sent events: `data` is an event, `id` its number; one of the type `missed` says how many were lost to a reader that was too slow. `Last-Event-ID` goes on behind an event.",
                "Events.";
            Counters: Get See "/metrics", "show", Nothing => OpenMetrics,
                "Every counter in OpenMetrics text.", "OpenMetrics 1.0.";
        }
    };
}
#[cfg(feature = "server")]
pub(crate) use every_verb;

every_verb!(verbs);

/// Nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing;

/// A JSON object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields<T>(pub T);

/// A file, and what is to be done with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File<T>(pub T, pub Vec<u8>);

/// JSON objects, one a line, as it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Lines<T>(PhantomData<T>);

/// A JSON Schema.
#[derive(Clone, Copy, Debug)]
pub struct JsonSchema;

/// A capture file.
#[derive(Clone, Copy, Debug)]
pub struct Pcap;

/// Counters as Prometheus reads them.
#[derive(Clone, Copy, Debug)]
pub struct OpenMetrics;

/// Schemas by name, which others refer to.
pub type Schemas = Vec<(String, RefOr<Schema>)>;

/// What is said of a verb: parameters of its path, and a body.
pub trait Asked: Sized + Send + 'static {
    /// The media type of the body, if there is one.
    const MEDIA: Option<&'static str> = None;

    /// What the body is; `None`: anything.
    fn schema(_: &mut Schemas) -> Option<RefOr<Schema>> {
        None
    }

    /// The parameters of the path.
    fn parameters() -> Vec<Parameter> {
        Vec::new()
    }

    /// The parameters as a URL has them.
    fn query(&self) -> String {
        String::new()
    }

    /// The body.
    fn body(self) -> serde_json::Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// What is answered.
pub trait Told {
    /// What it is, by media type; empty: nothing is.
    fn contents(schemas: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)>;
}

/// A reference to a type's schema, which is put among the others.
pub(super) fn named<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
    Ref::from_schema_name(T::name()).into()
}

impl Asked for Nothing {}

impl<T: ToSchema + Serialize + Send + 'static> Asked for Fields<T> {
    const MEDIA: Option<&'static str> = Some("application/json");

    fn schema(schemas: &mut Schemas) -> Option<RefOr<Schema>> {
        Some(named::<T>(schemas))
    }

    fn body(self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&self.0)
    }
}

impl<T: IntoParams + Serialize + Send + 'static> Asked for File<T> {
    const MEDIA: Option<&'static str> = Some("application/octet-stream");

    fn parameters() -> Vec<Parameter> {
        T::into_params(|| Some(ParameterIn::Query))
    }

    fn query(&self) -> String {
        query(&self.0)
    }

    fn body(self) -> serde_json::Result<Vec<u8>> {
        Ok(self.1)
    }
}

impl Told for Nothing {
    fn contents(_: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)> {
        Vec::new()
    }
}

impl<T: ToSchema> Told for T {
    fn contents(schemas: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)> {
        vec![(JSON, named::<T>(schemas))]
    }
}

impl<T: ToSchema> Told for Lines<T> {
    fn contents(schemas: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)> {
        vec![("application/x-ndjson", named::<T>(schemas))]
    }
}

impl Told for JsonSchema {
    fn contents(_: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)> {
        vec![(JSON, serde_json::Value::schema())]
    }
}

impl Pcap {
    /// Its media type.
    pub const MEDIA: &'static str = "application/vnd.tcpdump.pcap";
}

impl Told for Pcap {
    fn contents(_: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)> {
        vec![(Self::MEDIA, Vec::<u8>::schema())]
    }
}

impl OpenMetrics {
    /// Its media type, of version 1.0.
    pub const MEDIA: &'static str = "application/openmetrics-text";
}

impl Told for OpenMetrics {
    fn contents(_: &mut Schemas) -> Vec<(&'static str, RefOr<Schema>)> {
        vec![(Self::MEDIA, String::schema())]
    }
}
