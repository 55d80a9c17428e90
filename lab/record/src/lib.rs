//! What is written down: a line of `raw.jsonl` for each thing that happened, and the types that
//! lines are made of.
//!
//! ```text
//! searches, trials, campaigns ──▶ Record ──▶ Line ──▶ raw.jsonl ──▶ Results ──▶ report
//! ```
//! Everything that is ever reported is a function of these lines. This crate is below all others of
//! the lab: it knows no search, no device, no figure. A record is one file here and one line of the
//! list.

mod answer;
pub mod axes;
mod campaign;
mod ceiling;
mod check;
mod comparison;
mod counters;
mod delay_variation;
mod directions;
mod done;
mod error;
mod failure;
mod histogram;
pub mod host;
mod interval;
mod limit;
mod line;
mod memory;
mod method;
mod modelled;
mod outcome;
mod probe;
mod quantity;
mod rates;
mod recorder;
mod round_trips;
mod sequence;
mod spike;
mod stream;
mod subject;
mod telemetry;
mod trial;
mod verdict;
mod who;

pub use answer::AnswerRecord;
pub use campaign::{Campaign, DeviceFacts};
pub use ceiling::CeilingRecord;
pub use check::{CheckRecord, Checked, Difference, Fault};
pub use comparison::{ComparedCost, Comparison, ComparisonRecord, Finding, RatioReading};
pub use counters::{AwayAt, Counters, Drops, Stalls};
pub use delay_variation::DelayVariation;
pub use directions::Directions;
pub use done::DoneRecord;
pub use error::Error;
pub use failure::FailureRecord;
pub use histogram::Histogram;
pub use interval::Interval;
pub use limit::{Blame, Limit, Limiter};
pub use line::{Record, SCHEMA};
pub use memory::{MemoryRecord, MemorySample};
pub use method::MethodRecord;
pub use modelled::{ModelledCost, ModelledRecord};
pub use outcome::{Changed, Latency, Outcome, Overload, Trial};
pub use probe::ProbeRecord;
pub use quantity::{QuantityRecord, Unit};
pub use rates::ScaleRates;
pub use recorder::{RAW_FILE, Recorder};
pub use round_trips::RoundTrips;
pub use sequence::SequenceCounts;
pub use spike::Spike;
pub use stream::{StreamRecord, Way};
pub use subject::Subject;
pub use telemetry::{NodeCost, Share, TelemetryRecord};
pub use trial::{Back, Stall, TrialRecord};
pub use verdict::{Accounts, EMULATED_DEVICE, EMULATED_ENDS, Mode, Reference, Stalled, Verdict};
pub use who::{Account, Who};

line::records! {
    lists {
        /// Host, versions, seed: what the rest was measured with.
        "campaign" Campaign(Campaign) => campaigns,
        /// A trial with all that was counted in it.
        "trial" Trial(TrialRecord) => trials,
        /// What a search said of one run.
        "answer" Answer(AnswerRecord) => answers,
        /// One device held against another.
        "comparison" Comparison(ComparisonRecord) => comparisons,
        /// What could not be measured, and why.
        "failure" Failure(FailureRecord) => failures,
        /// What a search said that is no rate.
        "quantity" Quantity(QuantityRecord) => quantities,
        /// TCP streams and round trips between two endpoints.
        "stream" Stream(StreamRecord) => streams,
        /// What other tools saw, apart from the timed trials.
        "telemetry" Telemetry(TelemetryRecord) => telemetry,
        /// What devices cost by valgrind.
        "modelled" Modelled(ModelledRecord) => modelled,
        /// Whether a device does what its function says.
        "check" Check(CheckRecord) => checks,
        /// What an idle core lost.
        "probe" Probe(ProbeRecord) => probes,
        /// What the lab itself could do when the campaign began.
        "ceiling" Ceiling(CeilingRecord) => ceilings,
        /// How loads were decided.
        "method" Method(MethodRecord) => methods,
        /// What memory devices held.
        "memory" Memory(MemoryRecord) => memory,
    }
    joined {
        "device" Device(DeviceFacts) => campaign::meet,
        "done" Done(DoneRecord) => done::meet,
    }
}
