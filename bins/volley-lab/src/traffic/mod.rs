//! `volley-lab traffic PORT [PORT]`: sends test frames and says what came of every one of them.
//!
//! ```text
//! PORT PORT     what is sent at the first is awaited at the second, and with two directions back
//! PORT          what is sent is awaited at the same port
//! memory        a link of our own, with the faults one wants: what the generator is tried on
//! ```

mod flags;
mod told;

use std::path::Path;

pub(crate) use flags::Traffic;
use lab_traffic::clock::Clock;
use lab_traffic::memory::{self, Account, Line};
use lab_traffic::port_times::LatencyClock;
use lab_traffic::ports::{self, Ports};
use lab_traffic::{End, Side, Stream, TrafficResult, drive};

use crate::Failure;
use crate::interrupt::Interrupt;

/// Sends, receives, tells.
pub(crate) fn run(arguments: &Traffic) -> Result<(), Failure> {
    let [streams, told_back] = flags::streams(arguments)?;
    streams.iter().try_for_each(Stream::check)?;
    let plan = flags::plan(arguments, &streams)?;
    let both = arguments.directions == 2;
    let clock = Clock::real();
    let back: Vec<Stream> = match both && told_back.is_empty() {
        true => streams.iter().map(Stream::reversed).collect(),
        false => told_back,
    };
    let times = flags::timestamps(arguments);
    let link = Link::open(&arguments.ports, &clock, times, streams.iter().chain(&back))?;
    let (mut ends, account) = (link.ends, link.account);
    if ends.len() < 2 && !back.is_empty() {
        return Err(Failure::Usage("two directions need two ports".into()));
    }
    let interrupt = Interrupt::listen()?;
    let mut sides: Vec<Side<'_>> =
        ends.iter_mut().map(|end| Side { end, streams: Vec::new() }).collect();
    if let [_, second, ..] = &mut sides[..] {
        second.streams = back;
    }
    if let [first, ..] = &mut sides[..] {
        first.streams = streams;
    }
    let mut progress = told::Progress::new(plan.duration_ns);
    let result = drive(&clock, sides, &plan, &mut |elapsed_ns| {
        progress.tell(elapsed_ns);
        !interrupt.came()
    })?;
    progress.finish();
    told::tell(&result);
    if let Some(account) = account {
        told::tell_line(&account.of(0));
    }
    match &arguments.out {
        Some(file) => save(file, &result),
        None => Ok(()),
    }
}

/// Ends of a link; the ports are closed before DPDK ends.
struct Link {
    ends: Vec<End>,
    account: Option<Account>,
}

impl Link {
    fn open<'s>(
        words: &[String],
        clock: &Clock,
        times: LatencyClock,
        streams: impl Iterator<Item = &'s Stream>,
    ) -> Result<Self, Failure> {
        let usage =
            || Failure::Usage("traffic needs one port or two; see volley-lab help traffic".into());
        if let [word] = words
            && let Some(faults) = memory_line(word)
        {
            if times == LatencyClock::Port {
                let reason = "a link in memory has no ports that could tell the time".to_owned();
                return Err(lab_record::Error::Port { port: word.clone(), reason }.into());
            }
            let line: Line = faults.parse()?;
            let (ends, account) = memory::pair(clock, line.clone(), line)?;
            return Ok(Self { ends: ends.into(), account: Some(account) });
        }
        if words.is_empty() || words.len() > 2 {
            return Err(usage());
        }
        let specs = words.iter().map(|word| ports::parse(word)).collect::<Result<Vec<_>, _>>()?;
        let largest = streams.map(Stream::largest_bytes).max();
        let pci = specs.iter().any(|spec| spec.kind() == "pci");
        let opened = Ports::start(largest.unwrap_or(64), pci)?
            .toward_hosts()
            .with_port_times(times == LatencyClock::Port);
        let mut ends = specs.iter().map(|spec| opened.open(spec)).collect::<Result<Vec<_>, _>>()?;
        ports::wait_for_links(&mut ends, ports::LINK_PATIENCE)?;
        Ok(Self { ends, account: None })
    }
}

fn memory_line(word: &str) -> Option<&str> {
    if word == "memory" { Some("") } else { word.strip_prefix("memory:") }
}

fn save(file: &Path, result: &TrafficResult) -> Result<(), Failure> {
    let text = serde_json::to_string(result)
        .map_err(|error| lab_record::Error::file(file)(error.into()))?;
    std::fs::write(file, text + "\n").map_err(lab_record::Error::file(file))?;
    Ok(())
}
