//! Results as `volley-lab:results`, with what the analyzers saw in the testers' own words.

use lab_record::{
    AnswerRecord, Blame, Campaign, CheckRecord, Checked, ComparisonRecord, FailureRecord, Finding,
    QuantityRecord, RatioReading, Results, StreamRecord, Subject, TrialRecord, Verdict,
};
use serde_json::{Map, Value, json};

use crate::words;

/// Results as instance data.
pub fn results(results: &Results) -> Value {
    json!({ "volley-lab:results": {
        "campaign": results.campaigns.iter().map(campaign).collect::<Vec<_>>(),
        "trial": results.trials.iter().map(trial).collect::<Vec<_>>(),
        "answer": results.answers.iter().map(answer).collect::<Vec<_>>(),
        "quantity": results.quantities.iter().map(quantity).collect::<Vec<_>>(),
        "comparison": results.comparisons.iter().map(comparison).collect::<Vec<_>>(),
        "stream": results.streams.iter().map(stream).collect::<Vec<_>>(),
        "check": results.checks.iter().map(check).collect::<Vec<_>>(),
        "failure": results.failures.iter().map(failure).collect::<Vec<_>>(),
    } })
}

/// A number of 64 bits: a string in JSON.
fn whole(number: u64) -> Value {
    number.to_string().into()
}

/// A fraction; none where it is no number.
fn fraction(number: f64) -> Option<Value> {
    number.is_finite().then(|| number.to_string().into())
}

fn named<'a>(entries: impl Iterator<Item = (&'a String, &'a String)>) -> Value {
    entries.map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

/// An object of what is there.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect::<Map<_, _>>())
}

/// The same object with what was measured in it.
fn about(subject: &Subject, mut record: Value) -> Value {
    record["device"] = subject.device.as_str().into();
    record["function"] = subject.function.as_str().into();
    record["run"] = whole(subject.run.into());
    if !subject.axes.is_empty() {
        record["axis"] = named(subject.axes.iter());
    }
    record
}

fn verdicts(verdicts: &[Verdict]) -> Option<Value> {
    (!verdicts.is_empty()).then(|| verdicts.iter().map(words::verdict).collect())
}

fn campaign(campaign: &Campaign) -> Value {
    let devices = campaign.devices.iter().map(|device| {
        json!({ "name": device.name, "version": device.version, "command": device.commands })
    });
    let mut host = campaign.host.clone();
    if !campaign.cut.is_empty() {
        host.insert("the scenario in short".into(), campaign.cut.join("; "));
    }
    json!({
        "scenario": campaign.scenario,
        "title": campaign.title,
        "started": campaign.started,
        "seed": whole(campaign.seed),
        "host": named(host.iter()),
        "device": devices.collect::<Vec<_>>(),
    })
}

fn trial(record: &TrialRecord) -> Value {
    let outcome = &record.outcome;
    let sequence = record.sequence.as_ref();
    let back = record.back.as_ref().map(|back| &back.sequence);
    let latency = record.latency.as_ref().filter(|latency| latency.count() > 0);
    let percentiles = latency.map(|latency| {
        let at = |percent| whole(latency.percentile_ns(percent));
        json!({ "p50": at(50.0), "p90": at(90.0), "p99": at(99.0), "p999": at(99.9) })
    });
    let seen = latency.map(|latency| {
        json!({
            "samples": whole(latency.count()),
            "min": whole(latency.min_ns()),
            "max": whole(latency.max_ns()),
            "average": whole(latency.mean_ns().round() as u64),
        })
    });
    let testframes = object([
        ("testframe-pkts", Some(whole(sequence.map_or(outcome.received, |it| it.received)))),
        ("latency", seen),
    ]);
    let fields = object([
        ("index", Some(whole(record.index.into()))),
        ("purpose", Some(record.purpose.as_str().into())),
        ("at-s", fraction(record.at_s)),
        ("load-pps", fraction(outcome.trial.load_pps)),
        ("duration-s", fraction(outcome.trial.duration_s)),
        ("intended", Some(whole(outcome.intended))),
        ("offered", Some(whole(outcome.offered))),
        ("lost", Some(whole(outcome.lost()))),
        ("duplicates", sequence.map(|it| whole(it.duplicates))),
        ("reordered", sequence.map(|it| whole(it.reordered))),
        ("lost-back", back.map(|it| whole(it.lost))),
        ("duplicates-back", back.map(|it| whole(it.duplicates))),
        ("reordered-back", back.map(|it| whole(it.reordered))),
        ("latency-percentiles", percentiles),
        ("analyzer", Some(json!({ "testframe-stats": testframes }))),
        ("verdict", verdicts(&record.verdicts)),
    ]);
    about(&record.subject, fields)
}

fn answer(record: &AnswerRecord) -> Value {
    let packets = |of: fn(&Blame) -> u64| record.limit.map(|limit| whole(of(&limit.blame)));
    let fields = object([
        ("metric", Some(record.metric.as_str().into())),
        ("directions", record.directions.map(|it| it.name().into())),
        ("low-pps", fraction(record.low_pps)),
        ("high-pps", fraction(record.high_pps)),
        ("conditional-pps", record.conditional_pps.and_then(fraction)),
        ("limited-by", Some(record.limiter().name().into())),
        ("lost-by-device", packets(|blame| blame.device)),
        ("unsent-by-generator", packets(|blame| blame.generator)),
        ("lost-to-host", packets(|blame| blame.host)),
        ("verdict", verdicts(&record.verdicts)),
    ]);
    about(&record.subject, fields)
}

fn quantity(record: &QuantityRecord) -> Value {
    let repetition =
        |(id, &value): (u64, &f64)| object([("id", Some(whole(id))), ("value", fraction(value))]);
    let fields = object([
        ("metric", Some(record.metric.as_str().into())),
        ("unit", Some(record.unit.name().into())),
        ("repetition", Some((1..).zip(&record.values).map(repetition).collect())),
        ("note", record.note.as_deref().map(Value::from)),
    ]);
    about(&record.subject, fields)
}

fn stream(record: &StreamRecord) -> Value {
    let directions = (1u64..).zip(&record.ways).map(|(id, way)| {
        object([
            ("id", Some(whole(id))),
            ("bits-per-second", fraction(way.bps)),
            ("retransmits", Some(whole(way.retransmits))),
        ])
    });
    let directions = directions.collect::<Vec<_>>();
    let round_trips = &record.round_trips;
    let at = |percent| {
        (round_trips.answered > 0).then(|| whole(round_trips.histogram.percentile_ns(percent)))
    };
    let round_trips = object([
        ("asked", Some(whole(round_trips.asked))),
        ("answered", Some(whole(round_trips.answered))),
        ("jitter-ns", fraction(round_trips.jitter_ns)),
        ("p50", at(50.0)),
        ("p90", at(90.0)),
        ("p99", at(99.0)),
        ("p999", at(99.9)),
    ]);
    let fields = object([
        ("index", Some(whole(record.index.into()))),
        ("at-s", fraction(record.at_s)),
        ("duration-s", fraction(record.duration_s)),
        ("direction", (!directions.is_empty()).then(|| directions.into())),
        ("ceiling-bps", record.ceiling_bps.and_then(fraction)),
        ("round-trips", Some(round_trips)),
        ("verdict", verdicts(&record.verdicts)),
    ]);
    about(&record.subject, fields)
}

fn comparison(record: &ComparisonRecord) -> Value {
    let found = &record.comparison;
    let finding = match found.finding {
        Finding::Higher => "higher",
        Finding::Lower => "lower",
        Finding::NoDifference => "no-difference",
    };
    let reading = match record.reading() {
        RatioReading::Exact => "exact",
        RatioReading::AtLeast => "at-least",
        RatioReading::AtMost => "at-most",
        RatioReading::Nothing => "nothing",
    };
    let told = |number| fraction(number).filter(|_| record.reading() != RatioReading::Nothing);
    object([
        ("base", Some(record.base.as_str().into())),
        ("other", Some(record.other.as_str().into())),
        ("case", Some(record.case.as_str().into())),
        ("blocks", Some(whole(found.blocks as u64))),
        ("reading", Some(reading.into())),
        ("ratio", told(found.ratio)),
        ("low", told(found.ratio_95.low)),
        ("high", told(found.ratio_95.high)),
        ("p", fraction(found.p)),
        ("finding", Some(finding.into())),
    ])
}

fn check(record: &CheckRecord) -> Value {
    let stream = |stream: &Checked| {
        json!({
            "name": stream.name,
            "must-emerge": stream.must_emerge,
            "sent": whole(stream.sent),
            "came": whole(stream.came),
        })
    };
    let fault = record.fault.as_ref().map(|fault| {
        let difference = fault.difference.as_ref();
        object([
            ("stream", Some(fault.stream.as_str().into())),
            ("packet", fault.packet.map(whole)),
            ("reason", Some(fault.reason.as_str().into())),
            ("at", difference.map(|it| whole(it.at as u64))),
            ("field", difference.map(|it| it.field.as_str().into())),
            ("expected", difference.map(|it| it.expected.as_str().into())),
            ("got", difference.map(|it| it.got.as_str().into())),
        ])
    });
    let fields = object([
        ("at-s", fraction(record.at_s)),
        ("load-pps", fraction(record.load_pps)),
        ("passed", Some(record.passed().into())),
        ("stream", Some(record.streams.iter().map(stream).collect())),
        ("strangers", Some(whole(record.strangers))),
        ("fault", fault),
    ]);
    about(&record.subject, fields)
}

fn failure(record: &FailureRecord) -> Value {
    let fields = json!({ "refused": record.refused, "reason": record.reason });
    about(&record.subject, fields)
}
