//! A function checked over capture files: the lab writes what goes in, the device reads it, the lab
//! reads what came out.
//!
//! ```text
//! probes ─▶ in0.pcap, in1.pcap ─▶ device ─▶ out0.pcap, out1.pcap ─▶ judge
//!           before it starts       until it has read all             when it has ended
//! ```
//! Loss, duplicates, order and every octet are told exactly, the same on every run. How fast it
//! went is not told: a file has no time of its own, and the device takes from it whenever it likes.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use lab_record::{CheckRecord, DeviceFacts, Subject};
use lab_traffic::sender::STREAM_SHIFT;
use lab_traffic::template::Template;
use lab_traffic::test_frame::Signature;
use lab_traffic::{Rate, Stream};
use wire::pcap::{LINK_ETHERNET, Reader, Writer};

use crate::check::PPS;
use crate::check::judge::{Order, Span, judge};
use crate::link::{self, DeviceEnd};
use crate::load::frames::Load;
use crate::load::shape::Probe;
use crate::place::Place;
use crate::trial::rig::{Bench, Wish};
use crate::trial::wish::refuse_what_it_does_not_speak;
use crate::{Error, dut};

/// Longest wait for a device to read its files.
const PATIENCE: Duration = Duration::from_secs(20);
/// So long without another frame counted means that none comes any more.
const QUIET: Duration = Duration::from_millis(500);
/// Between two looks at the counters.
const LOOK: Duration = Duration::from_millis(50);

/// Starts a device on files of so many seconds' worth of probes, and checks what it made of them.
pub(crate) fn check(
    bench: &Bench<'_>,
    (name, wish): (&str, &Wish),
    load: &Load,
    duration_s: f64,
    subject: Subject,
    at_s: f64,
) -> Result<(CheckRecord, DeviceFacts), Error> {
    let mut device = dut::named(name)?;
    let version = device.version()?;
    refuse_what_it_does_not_speak(&*device, wish, bench.link)?;
    let cores = wish.cores(&*device, &bench.cores, bench.link)?;
    let mut place = Place::new(&bench.folder, &cores)?;
    let job = wish.job(bench.link, link::lay(bench.link, &mut place, wish.mtu(), None)?);
    device.check_settings(&job, &cores)?;
    let probes = load.probes(Rate::Pps(PPS));
    let each = ((duration_s * PPS) as u64).max(1);
    let from_ns = bench.clock.now_ns();
    let files = |side: usize| match &job.ends[side] {
        DeviceEnd::Pcap { rx, tx } => Ok((rx.clone(), tx.clone())),
        _ => Err(device.refuse(&job, "its links are no files")),
    };
    let files = [files(0)?, files(1)?];
    let mut written = 0;
    for (side, (input, _)) in files.iter().enumerate() {
        written += write(input, &probes, side, each, from_ns)?;
    }
    device.start(&job, &mut place)?;
    let (began, mut counted, mut since) = (Instant::now(), (0, 0), Instant::now());
    loop {
        let counters = device.counters(&mut place)?;
        if counted != (counters.received, counters.sent) {
            (counted, since) = ((counters.received, counters.sent), Instant::now());
        }
        let all = counted.0 >= written;
        if all && since.elapsed() > QUIET || began.elapsed() > PATIENCE {
            break;
        }
        if !(bench.go_on)() {
            return Err(Error::Stopped);
        }
        std::thread::sleep(LOOK);
    }
    let facts = DeviceFacts { name: name.to_owned(), version, commands: place.commands().to_vec() };
    // What it still holds it writes when it ends.
    place.stop();
    let seen = [read(&files[0].1)?, read(&files[1].1)?];
    let span = Span { from_ns, to_ns: from_ns + intended_ns(each) };
    let judgement = judge(&probes, &vec![each; probes.len()], &seen, span, Order::Kept)?;
    let record = CheckRecord {
        subject,
        at_s,
        load_pps: 0.0,
        streams: judgement.streams,
        strangers: judgement.strangers,
        fault: judgement.fault,
    };
    Ok((record, facts))
}

/// When a packet of each stream is meant to leave, since the first.
fn intended_ns(number: u64) -> u64 {
    (number as f64 * 1e9 / PPS) as u64
}

/// Writes what goes in at a side: a packet of each stream in turn. How many there are.
fn write(
    path: &Path,
    probes: &[Probe],
    side: usize,
    each: u64,
    from_ns: u64,
) -> Result<u64, Error> {
    let wrong =
        |error: wire::Error| Error::Capture { path: path.into(), reason: error.to_string() };
    let file = File::create(path).map_err(Error::file(path))?;
    let mut capture = Writer::new(BufWriter::new(file), LINK_ETHERNET).map_err(wrong)?;
    let here: Vec<(u64, &Stream, Vec<Template>)> = (0..)
        .zip(probes)
        .filter(|(_, probe)| probe.side == side)
        .map(|(id, Probe { sent, .. })| {
            let sizes = sent.frame_bytes.sequence().iter();
            let templates =
                sizes.map(|&size| Template::new(sent, size)).collect::<Result<_, _>>()?;
            Ok((id, sent, templates))
        })
        .collect::<Result<_, Error>>()?;
    let mut written = 0;
    for number in 0..each {
        let time_ns = from_ns + intended_ns(number);
        for (id, _, templates) in &here {
            let template = &templates[(number % templates.len() as u64) as usize];
            let mut frame = template.bytes().to_vec();
            let sequence = id << STREAM_SHIFT | number;
            template.write(
                &mut frame,
                number,
                &Signature { sequence, intended_ns: time_ns, flow: None },
            )?;
            capture.write(time_ns, &frame).map_err(wrong)?;
            written += 1;
        }
    }
    capture.finish().map_err(wrong)?;
    Ok(written)
}

/// The frames that came out at a side.
fn read(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let wrong =
        |error: wire::Error| Error::Capture { path: path.into(), reason: error.to_string() };
    let file = match File::open(path) {
        // Nothing ever came out there.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(Error::file(path))?,
    };
    let frames = Reader::new(BufReader::new(file)).map_err(wrong)?;
    frames.map(|record| Ok(record.map_err(wrong)?.bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Ethertype, FunctionKind, Traffic};
    use lab_record::Fault;
    use lab_traffic::arrivals::Imix;

    /// What is said of a cross-connect whose outgoing files are what `passes` makes of the incoming
    /// ones.
    fn fault(number: u32, passes: impl Fn(&mut Vec<Vec<u8>>)) -> Option<Fault> {
        let folder =
            std::env::temp_dir().join(format!("volley-captures-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let sizes = Imix::parse("ab", 1_518).unwrap();
        let load =
            Load::new(FunctionKind::CrossConnect, Ethertype::Udp4, &Traffic::default(), sizes);
        let (probes, each) = (load.probes(Rate::Pps(PPS)), 9);
        let through = [0, 1].map(|side| {
            let path = folder.join(format!("in{side}.pcap"));
            assert_eq!(write(&path, &probes, side, each, 77).unwrap(), each);
            let mut frames = read(&path).unwrap();
            passes(&mut frames);
            frames
        });
        assert_eq!(read(&folder.join("none.pcap")).unwrap(), Vec::<Vec<u8>>::new());
        std::fs::remove_dir_all(&folder).unwrap();
        let [first, second] = through;
        let span = Span { from_ns: 77, to_ns: 77 + intended_ns(each) };
        let sent = vec![each; probes.len()];
        judge(&probes, &sent, &[second, first], span, Order::Kept).unwrap().fault
    }

    #[test]
    fn what_goes_through_as_it_is_has_no_fault() {
        assert_eq!(fault(0, |_| {}), None);
    }

    #[test]
    fn a_packet_that_is_lost_doubled_overtaken_or_changed_is_found() {
        let reason = |number, passes: fn(&mut Vec<Vec<u8>>)| fault(number, passes).unwrap().reason;
        assert_eq!(reason(1, |it| drop(it.remove(4))), "1 of 9 packets did not come out");
        assert_eq!(reason(2, |it| it.push(it[8].clone())), "came out twice");
        assert_eq!(reason(3, |it| it.swap(2, 3)), "came out after a later one");
        assert_eq!(reason(4, |it| it[5][20] ^= 1), "is not what it must be");
    }
}
