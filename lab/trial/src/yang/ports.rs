//! The testers' own part: two interfaces, a generator on each that sends, an analyzer on each that
//! receives.
//!
//! ```text
//! first   traffic-generator { frame-size 64, interframe-gap 20, frame-data 0600… }
//!         traffic-analyzer                                          only with both directions
//! second  traffic-analyzer
//!
//! imix 7a4d    streams: 7 frames of 64, then 4 of 512               frames-per-stream
//! burst 8      frames-per-burst 8
//! ```
//! A search chooses the load, so that every gap is the smallest that there is. The headers of the
//! frames follow from the first function of the scenario; they are told to testers that know no
//! functions, and must be right where they are told to us.

use lab_record::axes::Entries;
use lab_traffic::Rate;
use lab_traffic::arrivals::{Imix, Process};
use lab_traffic::rate::OVERHEAD_BYTES;
use lab_traffic::template::Template;
use serde_json::{Value, json};

use super::document::Document;
use super::node::{Node, Wrong};
use crate::load::frames::Load;
use crate::scenario::Scenario;

/// Name of the testers in the document.
pub(super) const INTERFACES: &str = "ietf-interfaces:interfaces";
pub(super) const GENERATOR: &str = "ietf-traffic-generator:traffic-generator";
pub(super) const ANALYZER: &str = "ietf-traffic-analyzer:traffic-analyzer";
const NAMES: [&str; 2] = ["first", "second"];
/// The smallest gap: preamble, start of frame and the gap of Ethernet, in octets.
const GAP: u32 = OVERHEAD_BYTES as u32;
/// Letters of RFC 6985 and their sizes.
const GENOME: [(char, u32); 8] = [
    ('a', 64),
    ('b', 128),
    ('c', 256),
    ('d', 512),
    ('e', 1_024),
    ('f', 1_280),
    ('g', 1_518),
    ('h', 2_112),
];

/// Frames of one size in a row.
#[derive(Debug)]
struct Run {
    at: String,
    frame_bytes: u32,
    frames: u32,
    /// Path and digits of the frame's front, where they are told.
    data: Option<(String, String)>,
}

/// What a generator says.
#[derive(Debug)]
struct Generator {
    at: String,
    /// One, or in several streams a mix.
    runs: Vec<Run>,
    single: bool,
    burst: Option<(String, u32)>,
}

/// What the interfaces say of a scenario.
#[derive(Debug)]
pub(super) struct Ports {
    forth: Generator,
    back: Option<Generator>,
}

/// The interfaces for a scenario.
pub(super) fn interfaces(scenario: &Scenario) -> Value {
    let both = scenario.traffic.both_directions;
    let port = |side: usize| {
        let mut port = json!({ "name": NAMES[side], "type": "iana-if-type:ethernetCsmacd" });
        if side == 0 || both {
            port[GENERATOR] = generator(scenario, side == 1);
        }
        if side == 1 || both {
            port[ANALYZER] = json!({});
        }
        port
    };
    json!([port(0), port(1)])
}

fn generator(scenario: &Scenario, back: bool) -> Value {
    let traffic = &scenario.traffic;
    let burst = |frame_bytes: u16| {
        let mut burst = json!({
            "testframe-type": "ietf-traffic-generator:dynamic",
            "frame-size": frame_bytes,
            "interframe-gap": GAP,
        });
        if let Process::Burst { packets } = traffic.arrivals {
            burst["frames-per-burst"] = packets.into();
        }
        if let Some(data) = frame_data(scenario, frame_bytes, back) {
            burst["frame-data"] = data.into();
        }
        burst
    };
    let genome = traffic.imix.as_ref();
    // The scenario was checked: its genome is good.
    let Some(mix) = genome.and_then(|genome| Imix::parse(genome.get_ref(), 1_518).ok()) else {
        return burst(*traffic.frame_bytes.get_ref());
    };
    let stream = |(id, run): (u32, &[u16])| {
        let mut stream = burst(run[0]);
        stream["id"] = id.into();
        stream["frames-per-stream"] = run.len().into();
        stream["interstream-gap"] = GAP.into();
        stream
    };
    let runs = mix.sequence().chunk_by(|one, next| one == next);
    let streams: Vec<Value> = (1..).zip(runs).map(stream).collect();
    json!({ "streams": { "stream": streams } })
}

/// The front of the frames that the first case sends, as the model has it; none where a frame of
/// this size has no room for its headers.
fn frame_data(scenario: &Scenario, frame_bytes: u16, back: bool) -> Option<String> {
    let function = scenario.functions.first()?.get_ref();
    let ethertype = scenario.traffic.ethertype.first().copied().unwrap_or_default();
    let sizes = Imix::single(frame_bytes);
    let swept =
        scenario.sweep.numbers::<Entries>().and_then(|it| it.get_ref().values().first().copied());
    let entries = swept.or(function.entries).unwrap_or(1);
    let load = Load { entries, ..Load::new(function.kind, ethertype, &scenario.traffic, sizes) };
    let stream = if back { load.stream_back(Rate::Max) } else { load.stream(Rate::Max) };
    let template = Template::new(&stream, frame_bytes).ok()?;
    let front = &template.bytes()[..template.header_bytes()];
    Some(front.iter().map(|octet| format!("{octet:02X}")).collect())
}

impl Ports {
    /// Reads the interfaces.
    pub(super) fn read(interfaces: &Node<'_>) -> Result<Self, Wrong> {
        interfaces.only(&["interface"])?;
        let (mut generators, mut analyzers) = (Vec::new(), Vec::new());
        for port in interfaces.needed("interface")?.entries()? {
            port.only(&["name", "type", "description", "enabled", GENERATOR, ANALYZER])?;
            if let Some(generator) = port.member(GENERATOR)? {
                generators.push((port.path.clone(), Generator::read(&generator)?));
            }
            if let Some(analyzer) = port.member(ANALYZER)? {
                analyzer.only(&[])?;
                analyzers.push((port.path.clone(), analyzer));
            }
        }
        let mut generators = generators.into_iter();
        let (at, forth) =
            generators.next().ok_or_else(|| interfaces.wrong("no interface has a generator"))?;
        let back = generators.next();
        if let Some((at, _)) = generators.next() {
            return Err(Wrong { at, reason: "a third generator: a scenario has two ports".into() });
        }
        if back.is_none()
            && let Some((_, analyzer)) = analyzers.iter().find(|(port, _)| *port == at)
        {
            return Err(analyzer.wrong("what is sent here is received at the other port"));
        }
        let back = back.map(|(_, back)| back);
        if let Some(back) = &back {
            forth.same(back)?;
        }
        Ok(Self { forth, back })
    }

    /// As lines of `[traffic]`.
    pub(super) fn write(&self, document: &mut Document) {
        let Generator { at, runs, single, burst } = &self.forth;
        match (&runs[..], single) {
            ([run], true) => document.line(&format!("frame_bytes = {}", run.frame_bytes), &run.at),
            _ => document.line(&format!("imix = \"{}\"", genome(runs)), at),
        }
        if let Some((at, packets)) = burst {
            let line = format!("arrivals = {{ process = \"burst\", packets = {packets} }}");
            document.line(&line, at);
        }
        if let Some(back) = &self.back {
            document.line("both_directions = true", &back.at);
        }
    }

    /// Whether the frames told are those that the scenario sends.
    pub(super) fn agree(&self, scenario: &Scenario) -> Result<(), Wrong> {
        for (generator, back) in [(Some(&self.forth), false), (self.back.as_ref(), true)] {
            for run in generator.iter().flat_map(|generator| &generator.runs) {
                let Some((at, told)) = &run.data else { continue };
                let sent = frame_data(scenario, run.frame_bytes as u16, back);
                if sent.as_ref() != Some(told) {
                    let reason = match sent {
                        Some(sent) => format!("the scenario's first function is sent {sent}"),
                        None => "a frame of this size has no room for its headers".into(),
                    };
                    return Err(Wrong { at: at.clone(), reason });
                }
            }
        }
        Ok(())
    }
}

/// The genome of a mix; a size without a letter was refused before.
fn genome(runs: &[Run]) -> String {
    let letter = |run: &Run| GENOME.iter().find(|(_, bytes)| *bytes == run.frame_bytes);
    let part = |run: &Run| letter(run).map(|(letter, _)| format!("{}{letter}", run.frames));
    runs.iter().filter_map(part).collect()
}

impl Generator {
    fn read(node: &Node<'_>) -> Result<Self, Wrong> {
        let at = node.path.clone();
        let Some(streams) = node.member("streams")? else {
            node.only(&[
                "testframe-type",
                "frame-size",
                "frame-data",
                "interframe-gap",
                "frames-per-burst",
            ])?;
            let (run, burst) = read_run(node, 1)?;
            return Ok(Self { at, runs: vec![run], single: true, burst });
        };
        node.only(&["streams"])?;
        streams.only(&["stream"])?;
        let (mut runs, mut bursts) = (Vec::new(), Vec::new());
        for stream in streams.needed("stream")?.entries_by_id()? {
            stream.only(&[
                "id",
                "testframe-type",
                "frame-size",
                "frame-data",
                "interframe-gap",
                "frames-per-burst",
                "frames-per-stream",
                "interstream-gap",
            ])?;
            smallest(&stream.needed("interstream-gap")?)?;
            let frames = stream.needed("frames-per-stream")?;
            let (run, burst) = read_run(&stream, frames.short()?)?;
            if !GENOME.iter().any(|(_, bytes)| *bytes == run.frame_bytes) {
                let reason =
                    "a mix has sizes of RFC 6985: 64, 128, 256, 512, 1024, 1280, 1518, 2112";
                return Err(Wrong { at: run.at, reason: reason.into() });
            }
            runs.push(run);
            bursts.push((stream.path, burst));
        }
        let mut bursts = bursts.into_iter();
        let (_, burst) = bursts.next().ok_or_else(|| streams.wrong("no stream is in it"))?;
        let length = |burst: &Option<(String, u32)>| burst.as_ref().map(|(_, packets)| *packets);
        if let Some((at, _)) = bursts.find(|(_, other)| length(other) != length(&burst)) {
            return Err(Wrong {
                at,
                reason: "all streams of a mix have bursts of one length".into(),
            });
        }
        Ok(Self { at, runs, single: false, burst })
    }

    /// Refuses a generator that sends other frames than this one.
    fn same(&self, back: &Self) -> Result<(), Wrong> {
        let sizes = |it: &Self| {
            let runs = it.runs.iter().map(|run| (run.frame_bytes, run.frames)).collect::<Vec<_>>();
            (runs, it.burst.as_ref().map(|(_, packets)| *packets))
        };
        let reason = "both directions have frames of the same sizes, in the same bursts";
        match sizes(self) == sizes(back) {
            true => Ok(()),
            false => Err(Wrong { at: back.at.clone(), reason: reason.into() }),
        }
    }
}

fn read_run(node: &Node<'_>, frames: u32) -> Result<(Run, Option<(String, u32)>), Wrong> {
    let kind = node.needed("testframe-type")?;
    if !["dynamic", "ietf-traffic-generator:dynamic"].contains(&kind.text()?) {
        return Err(kind.wrong("only dynamic frames, with sequence and time, can be measured"));
    }
    smallest(&node.needed("interframe-gap")?)?;
    let size = node.needed("frame-size")?;
    let frame_bytes = size.short()?;
    let data = match node.member("frame-data")? {
        Some(data) => Some((data.path.clone(), data.text()?.to_owned())),
        None => None,
    };
    let burst = match node.member("frames-per-burst")? {
        Some(burst) => Some((burst.path.clone(), burst.short()?)),
        None => None,
    };
    Ok((Run { at: size.path, frame_bytes, frames, data }, burst))
}

fn smallest(gap: &Node<'_>) -> Result<(), Wrong> {
    match gap.short()? == GAP {
        true => Ok(()),
        false => {
            Err(gap.wrong(format!("a search chooses the load: {GAP}, the smallest gap, goes here")))
        }
    }
}
