//! FastClick: the job as a graph of elements, read through its control socket.
//!
//! ```text
//! FromDPDKDevice(0) ─▶ … ─▶ ToDPDKDevice(1)          READ out1.count  ◀▶  unix socket
//! FromDPDKDevice(1) ─▶ … ─▶ ToDPDKDevice(0)
//! ```
//! Debian has no package of it (its `click` packs programs for phones); `fastclick=FOLDER` is one
//! that was built, its `click` in the folder or in `FOLDER/bin`.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lab_record::Counters;

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Device, Job};
use crate::link::{DEVICE_MACS, LAB_MACS, LinkKind};
use crate::load::frames::{self, Route};
use crate::place::{Place, has_program, output, program_of};
use crate::scenario::FunctionKind;
use crate::watch::probe::first;

/// As the list has it.
pub(super) const ADAPTER: Adapter = Adapter {
    of_folder: Some(|folder| Box::new(FastClick::of(Some(Path::new(folder))))),
    ..Adapter::new(
        "fastclick",
        || Box::new(FastClick::of(None)),
        "build it from source, docs/peers.md says how (fastclick=FOLDER)",
    )
};

/// See the module.
pub(super) struct FastClick {
    click: String,
}

impl FastClick {
    /// That of the search path, or of a folder.
    fn of(folder: Option<&Path>) -> Self {
        Self { click: program_of(folder, "click").display().to_string() }
    }
}

/// Its packets, and as many again for its ports.
const MEMORY_MIB: u32 = 1_024;
/// Longest wait for an answer of the control socket.
const ANSWER: Duration = Duration::from_secs(10);
/// A number, and the status before it, are far shorter.
const LONGEST_ANSWER_BYTES: u64 = 4096;

impl Device for FastClick {
    fn name(&self) -> &'static str {
        "fastclick"
    }

    fn version(&self) -> Result<String, Error> {
        // Builds that abort at their end lose what they said unless each line is written at once.
        let line = format!("stdbuf -oL {} --version || true", self.click);
        let told = match has_program(&self.click) {
            true => output(&["sh", "-c", &line]).unwrap_or_default(),
            false => String::new(),
        };
        match told.lines().next().filter(|line| line.contains("Click)")) {
            Some(line) => Ok(format!("fastclick, {line}")),
            None => Err(Error::Refused {
                device: self.name().into(),
                job: "any job".into(),
                reason: format!(
                    "{} is not installed (Debian's package of this name is another program)",
                    self.click
                ),
            }),
        }
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let graph =
            graph(job).ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        let file = place.write("job.click", &graph)?;
        let socket = socket(place);
        if job.link == LinkKind::Pcap {
            return Err(self.refuse(job, "its adapter knows no capture files"));
        }
        let devices = super::eal::devices(job);
        let core = first(place.cores()).to_owned();
        place.spawn(
            "click",
            &format!(
                "{} --dpdk -l {core} -m {MEMORY_MIB} {devices} \
                 --file-prefix=volley-lab-click -- -u {} {}",
                self.click,
                socket.display(),
                file.display()
            ),
        )?;
        let started =
            place.wait_for_start("click listens", |_| UnixStream::connect(&socket).is_ok());
        started.map_err(|error| match missing(&place.log("click")) {
            Some(element) => self.refuse(job, &format!("this build of it has no {element}")),
            None => error,
        })
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let mut control = Control::open(&socket(place))?;
        let mut counters = Counters::default();
        for side in 0..2 {
            counters.receive(control.read(&format!("in{side}.hw_count"))?);
            counters.send(control.read(&format!("out{side}.count"))?);
            counters
                .drop(format!("in{side} dropped"), control.read(&format!("in{side}.hw_dropped"))?);
            counters
                .drop(format!("out{side} dropped"), control.read(&format!("out{side}.dropped"))?);
        }
        Ok(counters)
    }
}

fn socket(place: &Place) -> PathBuf {
    place.folder().join("click.sock")
}

/// The first element of a graph that a build does not have.
fn missing(log: &str) -> Option<&str> {
    log.split_once("unknown element class '")?.1.split('\'').next()
}

/// The graph of a job; none if it cannot be said.
fn graph(job: &Job) -> Option<String> {
    let mut text = String::new();
    for side in 0..2 {
        let _ = writeln!(text, "in{side} :: FromDPDKDevice({side}, PROMISC true);");
        let _ = writeln!(text, "out{side} :: ToDPDKDevice({side});");
    }
    match job.function.kind {
        FunctionKind::CrossConnect => text += "in0 -> out1;\nin1 -> out0;\n",
        FunctionKind::Bridge if job.entries <= 1 => {
            text += "bridge :: EtherSwitch;\nin0 -> [0]bridge[0] -> out0;\nin1 -> [1]bridge[1] -> out1;\n";
        }
        FunctionKind::Ip4 => router(&mut text, job),
        _ => return None,
    }
    Some(text)
}

fn router(text: &mut String, job: &Job) {
    let hosts = [0, 1].map(|side| format!("    {}/32 {side}", frames::lab_address(false, side)));
    let routes =
        frames::routes(false, job.entries).map(|Route { prefix, .. }| format!("    {prefix} 1"));
    let routes: Vec<String> = routes.chain(hosts).collect();
    // Its table of the fewest looks.
    let _ = writeln!(text, "route :: DirectIPLookup(\n{});", routes.join(",\n"));
    for side in 0..2 {
        let (own, peer) = (DEVICE_MACS[side], LAB_MACS[side]);
        let _ = writeln!(
            text,
            "in{side} -> c{side} :: Classifier(12/0800, -) -> Strip(14) -> CheckIPHeader -> route;\n\
             c{side}[1] -> Discard;\n\
             route[{side}] -> DecIPTTL -> EtherEncap(0x0800, {own}, {peer}) -> out{side};"
        );
    }
}

/// Click's control socket: lines in, a status and counted octets out.
struct Control(BufReader<UnixStream>);

impl Control {
    fn open(path: &Path) -> Result<Self, Error> {
        let stream = UnixStream::connect(path).map_err(Error::file(path))?;
        stream.set_read_timeout(Some(ANSWER)).map_err(Error::file(path))?;
        let mut control = Self(BufReader::new(stream));
        // Click::ControlSocket/1.3
        control.line().map_err(Error::file(path))?;
        Ok(control)
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        self.0.by_ref().take(LONGEST_ANSWER_BYTES).read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// The number that a handler tells.
    fn read(&mut self, handler: &str) -> Result<u64, Error> {
        let line = format!("READ {handler}");
        let refuse = |reason: String| Error::Command { line: line.clone(), reason };
        self.ask(&line).map_err(|error| refuse(error.to_string()))?.map_err(refuse)
    }

    fn ask(&mut self, line: &str) -> std::io::Result<Result<u64, String>> {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes())?;
        let status = self.line()?;
        if !status.starts_with("200") {
            return Ok(Err(status));
        }
        let count = self.line()?;
        let count = count.strip_prefix("DATA ").and_then(|count| count.parse().ok()).unwrap_or(0);
        if count > LONGEST_ANSWER_BYTES {
            return Ok(Err(format!("an answer of {count} octets is no number")));
        }
        let mut data = Vec::new();
        if self.0.by_ref().take(count).read_to_end(&mut data)? < count as usize {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&data).trim().to_owned();
        Ok(text.parse().map_err(|_| format!("{text:?} is no number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::job;

    #[test]
    fn a_job_is_a_graph_of_elements() {
        let head = "in0 :: FromDPDKDevice(0, PROMISC true);\nout0 :: ToDPDKDevice(0);\n\
                    in1 :: FromDPDKDevice(1, PROMISC true);\nout1 :: ToDPDKDevice(1);\n";
        let cross = graph(&job(FunctionKind::CrossConnect, 1)).unwrap();
        assert_eq!(cross, format!("{head}in0 -> out1;\nin1 -> out0;\n"));
        let route = graph(&job(FunctionKind::Ip4, 1)).unwrap();
        assert!(
            route.contains("    16.0.0.0/24 1,\n    198.18.0.2/32 0,\n    198.18.1.2/32 1);\n")
        );
        assert!(route.contains(
            "route[1] -> DecIPTTL -> EtherEncap(0x0800, 02:44:00:00:00:02, 02:4c:00:00:00:02) -> out1;"
        ));
        assert!(
            graph(&job(FunctionKind::Ip6, 1)).is_none()
                && graph(&job(FunctionKind::Bridge, 9)).is_none()
        );
    }

    #[test]
    fn a_build_may_lack_an_element() {
        let log = "EAL: x\n/f/job.click:5: unknown element class 'EtherSwitch'\nunknown element class 'X'\n";
        assert_eq!(missing(log), Some("EtherSwitch"));
        assert_eq!(missing("Initializing DPDK\n"), None);
    }

    #[test]
    fn handlers_are_read_as_the_control_socket_tells_them() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let speaks = std::thread::spawn(move || {
            let mut theirs = BufReader::new(theirs);
            let mut asked = String::new();
            theirs.get_mut().write_all(b"Click::ControlSocket/1.3\r\n").unwrap();
            theirs.read_line(&mut asked).unwrap();
            theirs
                .get_mut()
                .write_all(b"200 Read handler 'in0.hw_count' OK\r\nDATA 5\r\n40000")
                .unwrap();
            theirs.read_line(&mut asked).unwrap();
            theirs.get_mut().write_all(b"511 No handler named 'in0.nothing'\r\n").unwrap();
            theirs.read_line(&mut asked).unwrap();
            theirs.get_mut().write_all(b"200 OK\r\nDATA 18446744073709551615\r\n").unwrap();
            asked
        });
        let mut control = Control(BufReader::new(ours));
        assert_eq!(control.line().unwrap(), "Click::ControlSocket/1.3");
        assert_eq!(control.read("in0.hw_count").unwrap(), 40_000);
        let refused = control.read("in0.nothing").unwrap_err().to_string();
        assert!(refused.contains("511 No handler"), "{refused}");
        let endless = control.read("in0.endless").unwrap_err().to_string();
        assert!(endless.contains("18446744073709551615 octets"), "{endless}");
        assert_eq!(
            speaks.join().unwrap(),
            "READ in0.hw_count\r\nREAD in0.nothing\r\nREAD in0.endless\r\n"
        );
    }
}
