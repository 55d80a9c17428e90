//! A file of the testers' own model alone, without a scenario: what its generators say is sent as
//! it is.
//!
//! ```text
//! first interface with a generator     ▶ streams from the first port
//! second                               ▶ streams from the second port
//!
//! frame-size 512, interframe-gap 512   a rate: (512 + 20) / (512 + 512) of the link
//! frame-data 0200…                     the headers, told by their octets
//! total-frames, frames-per-burst       after which it ends; how many follow each other at once
//! ```
//! Several streams of a generator take turns: frames of several sizes, with one header and one gap.

use lab_traffic::arrivals::{Imix, Process};
use lab_traffic::rate::OVERHEAD_BYTES;
use lab_traffic::stream::FRAME_BYTES;
use lab_traffic::{Header, Rate, Stream, dissect};
use serde_json::Value;

use super::node::{Node, Wrong, json};
use super::ports::{ANALYZER, GENERATOR, INTERFACES};
use crate::Error;

/// Most frames of a round through the streams of a generator.
const LONGEST_ROUND: usize = 4_096;

/// Streams from the first port, and those from the second where a second generator is told; `path`
/// is only for messages.
pub fn streams(text: &str, path: &str) -> Result<[Vec<Stream>; 2], Error> {
    let root: Value = json(text, path)?;
    let refuse = |Wrong { at, reason }| Error::Instance { path: path.into(), at, reason };
    read(&Node::root(&root)).map_err(refuse)
}

fn read(root: &Node<'_>) -> Result<[Vec<Stream>; 2], Wrong> {
    root.only(&[INTERFACES])?;
    let interfaces = root.needed(INTERFACES)?;
    interfaces.only(&["interface"])?;
    let mut found = Vec::new();
    for port in interfaces.needed("interface")?.entries()? {
        port.only(&["name", "type", "description", "enabled", GENERATOR, ANALYZER])?;
        let name = port.needed("name")?.text()?.to_owned();
        if let Some(analyzer) = port.member(ANALYZER)? {
            analyzer.only(&[])?;
        }
        if let Some(generator) = port.member(GENERATOR)? {
            if found.len() == 2 {
                return Err(generator.wrong("a third generator: there are two ports"));
            }
            found.push(vec![stream(&generator, &name)?]);
        }
    }
    let mut found = found.into_iter();
    let there = found.next().ok_or_else(|| interfaces.wrong("no interface has a generator"))?;
    Ok([there, found.next().unwrap_or_default()])
}

/// Frames of one size in a row.
struct Run<'v> {
    node: Node<'v>,
    frame_bytes: u16,
    frames: usize,
    gap: u32,
    burst: Option<(u32, u32)>,
    headers: Vec<Header>,
}

fn stream(generator: &Node<'_>, name: &str) -> Result<Stream, Wrong> {
    let runs = match generator.member("streams")? {
        None => {
            generator.only(&[
                "testframe-type",
                "frame-size",
                "frame-data",
                "interframe-gap",
                "interburst-gap",
                "frames-per-burst",
                "total-frames",
            ])?;
            vec![run(generator, 1)?]
        }
        Some(streams) => {
            generator.only(&["streams", "total-frames"])?;
            streams.only(&["stream"])?;
            turns(&streams.needed("stream")?)?
        }
    };
    let [first, ..] = &runs[..] else { return Err(generator.wrong("no stream is in it")) };
    let sequence = runs.iter().flat_map(|run| std::iter::repeat_n(run.frame_bytes, run.frames));
    let sizes = Imix::list(sequence.map(Ok::<u16, std::num::ParseIntError>));
    let sizes = sizes.ok_or_else(|| generator.wrong("no frames are in it"))?;
    let mean_bytes = sizes.mean_bytes();
    let gap = match first.burst {
        None => f64::from(first.gap),
        Some((frames, between)) => {
            let within = f64::from(frames - 1) * f64::from(first.gap);
            (within + f64::from(between)) / f64::from(frames)
        }
    };
    let rate = Rate::LinkPercent(100.0 * (mean_bytes + OVERHEAD_BYTES) / (mean_bytes + gap));
    let headers = first.headers.clone();
    if let Some(other) = runs.iter().find(|run| run.headers != headers) {
        return Err(other.node.wrong("streams that take turns have the same headers"));
    }
    let mut stream = Stream::new(name, headers, sizes, rate);
    if let Some((packets, _)) = first.burst {
        stream.arrivals = Process::Burst { packets };
    }
    if let Some(total) = generator.member("total-frames")? {
        let count = total.digits()?.parse();
        stream.packets =
            Some(count.map_err(|_| total.wrong("a whole number below 2^64 belongs here"))?);
    }
    stream.check().map_err(|error| first.node.wrong(error.to_string()))?;
    Ok(stream)
}

/// Several streams, in the order of their numbers.
fn turns<'v>(list: &Node<'v>) -> Result<Vec<Run<'v>>, Wrong> {
    let mut runs: Vec<Run<'v>> = Vec::new();
    for stream in list.entries_by_id()? {
        stream.only(&[
            "id",
            "testframe-type",
            "frame-size",
            "frame-data",
            "interframe-gap",
            "frames-per-stream",
            "interstream-gap",
        ])?;
        let frames = stream.needed("frames-per-stream")?;
        let count = frames.short()? as usize;
        let made: usize = runs.iter().map(|run| run.frames).sum();
        if count == 0 || made + count > LONGEST_ROUND {
            return Err(frames.wrong(format!("1 to {LONGEST_ROUND} frames make a round")));
        }
        let run = run(&stream, count)?;
        let between = stream.needed("interstream-gap")?;
        if between.short()? != run.gap || runs.first().is_some_and(|first| first.gap != run.gap) {
            return Err(
                between.wrong("streams that take turns have one gap, between each other too")
            );
        }
        runs.push(run);
    }
    Ok(runs)
}

fn run<'v>(node: &Node<'v>, frames: usize) -> Result<Run<'v>, Wrong> {
    let kind = node.needed("testframe-type")?;
    if !["dynamic", "ietf-traffic-generator:dynamic"].contains(&kind.text()?) {
        return Err(kind.wrong("only dynamic frames, with sequence and time, can be measured"));
    }
    let size = node.needed("frame-size")?;
    let frame_bytes = u16::try_from(size.short()?).ok().filter(|it| FRAME_BYTES.contains(it));
    let frame_bytes = frame_bytes.ok_or_else(|| {
        size.wrong(format!(
            "frames of {} to {} octets are possible",
            FRAME_BYTES.start(),
            FRAME_BYTES.end()
        ))
    })?;
    let smallest = OVERHEAD_BYTES as u32;
    let gap_of = |gap: &Node<'_>| match gap.short()? {
        octets if octets >= smallest => Ok(octets),
        _ => Err(gap.wrong(format!("the smallest gap of Ethernet is {smallest} octets"))),
    };
    let gap = gap_of(&node.needed("interframe-gap")?)?;
    let burst = match (node.member("frames-per-burst")?, node.member("interburst-gap")?) {
        (None, None) => None,
        (Some(frames), Some(between)) if gap == smallest => match frames.short()? {
            0 => return Err(frames.wrong("a burst has frames")),
            count => Some((count, gap_of(&between)?)),
        },
        (Some(frames), Some(_)) => {
            return Err(frames
                .wrong(format!("within a burst frames follow at the smallest gap, {smallest}")));
        }
        (Some(only), None) | (None, Some(only)) => {
            return Err(only.wrong("frames-per-burst and interburst-gap go together"));
        }
    };
    let data = node.needed("frame-data")?;
    let octets = octets(data.text()?)
        .ok_or_else(|| data.wrong("pairs of the digits 0-9 and A-F belong here"))?;
    let headers = dissect::headers(&octets).map_err(|reason| data.wrong(reason))?;
    Ok(Run { node: node.clone(), frame_bytes, frames, gap, burst, headers })
}

fn octets(digits: &str) -> Option<Vec<u8>> {
    let digit = |octet: u8| match octet {
        b'0'..=b'9' => Some(octet - b'0'),
        b'A'..=b'F' => Some(octet - b'A' + 10),
        _ => None,
    };
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use serde_json::json;

    const GENERATOR_AT: &str =
        "/ietf-interfaces:interfaces/interface/0/ietf-traffic-generator:traffic-generator";

    /// What a scenario's generators say, without the scenario.
    fn generators(traffic: &str) -> Value {
        let text = format!(
            "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n[traffic]\n{traffic}\n\
             [measure]\nsearch = 'mlr'\n"
        );
        let mut data = crate::yang::export(&Scenario::parse(&text, "x").unwrap()).unwrap();
        data.as_object_mut().unwrap().remove("volley-lab:scenario");
        data
    }

    fn told(data: &Value) -> String {
        streams(&data.to_string(), "x.json").unwrap_err().to_string()
    }

    #[test]
    fn what_a_scenario_exports_is_sent_without_it() {
        let data = generators("frame_bytes = 100\nboth_directions = true");
        let [there, back] = streams(&data.to_string(), "x.json").unwrap();
        assert_eq!((there[0].name.as_str(), there[0].rate), ("first", Rate::LinkPercent(100.0)));
        assert_eq!((there[0].headers.len(), there[0].frame_bytes.sequence()), (3, &[100][..]));
        assert_eq!(back[0].name, "second");
        let mixed = generators("imix = '7a4d'");
        let [mixed, none] = streams(&mixed.to_string(), "x.json").unwrap();
        assert_eq!((mixed[0].frame_bytes.sequence().len(), none.len()), (11, 0));
    }

    #[test]
    fn gaps_and_bursts_are_rates() {
        let mut data = generators("frame_bytes = 512");
        let set = |data: &mut Value, name: &str, value: Value| {
            data.pointer_mut(GENERATOR_AT).unwrap()[name] = value;
        };
        set(&mut data, "interframe-gap", json!(512));
        set(&mut data, "total-frames", json!("12345678901"));
        let [there, _] = streams(&data.to_string(), "x.json").unwrap();
        assert_eq!(there[0].rate, Rate::LinkPercent(100.0 * 532.0 / 1_024.0));
        assert_eq!(there[0].packets, Some(12_345_678_901));
        set(&mut data, "frames-per-burst", json!(4));
        assert!(
            told(&data)
                .ends_with("/frames-per-burst: frames-per-burst and interburst-gap go together")
        );
        set(&mut data, "interburst-gap", json!(2_068));
        assert!(told(&data).contains("within a burst frames follow at the smallest gap, 20"));
        set(&mut data, "interframe-gap", json!(20));
        let [there, _] = streams(&data.to_string(), "x.json").unwrap();
        assert_eq!(there[0].rate, Rate::LinkPercent(100.0 * 532.0 / 1_044.0));
        assert_eq!(there[0].arrivals, Process::Burst { packets: 4 });
    }

    #[test]
    fn what_is_not_sent_here_is_refused_at_its_path() {
        let at =
            "/ietf-interfaces:interfaces/interface[1]/ietf-traffic-generator:traffic-generator";
        for (name, value, reason) in [
            ("frame-size", json!(9), "/frame-size: frames of 64 to 9022 octets"),
            (
                "interframe-gap",
                json!(12),
                "/interframe-gap: the smallest gap of Ethernet is 20 octets",
            ),
            ("frame-data", json!("02G0"), "/frame-data: pairs of the digits"),
            ("frame-data", json!("0200"), "/frame-data: ethernet is cut off after 2 octets"),
            ("testframe-type", json!("static"), "/testframe-type: only dynamic"),
            ("modifiers", json!({}), "/modifiers: the lab has no use for this"),
            ("total-frames", json!("x"), "/total-frames: a number in quotes"),
        ] {
            let mut data = generators("frame_bytes = 100");
            data.pointer_mut(GENERATOR_AT).unwrap()[name] = value;
            let error = told(&data);
            assert!(error.starts_with(&format!("x.json: {at}{reason}")), "{error}");
        }
        assert!(
            told(&json!({ "volley-lab:scenario": {} }))
                .contains("/volley-lab:scenario: the lab has no use")
        );
        assert!(streams("{\n 7", "cut.json").unwrap_err().to_string().starts_with("cut.json:2:"));
    }

    #[test]
    fn whatever_stands_where_the_reader_finds_a_reason_or_streams() {
        let data = generators("imix = '7a4d'\nboth_directions = true").to_string();
        for at in (0..data.len()).filter(|at| data.is_char_boundary(*at)) {
            for with in ["", "9", "\"", "null", "[]", "{}", "-"] {
                let spoilt = format!("{}{with}{}", &data[..at], &data[at + 1..]);
                if let Err(error) = streams(&spoilt, "x.json") {
                    assert!(error.to_string().starts_with("x.json:"), "{error}");
                }
            }
        }
    }
}
