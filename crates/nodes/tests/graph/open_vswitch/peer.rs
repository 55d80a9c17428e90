//! Open vSwitch's own daemon, as Debian has it: bridges of its userspace datapath with ports that
//! are Unix sockets, in a folder of its own. Nothing of it is the kernel's, so it needs no rights.

use super::case::{Case, Fate, Outcome, PORTS, error_of, names_tables};
use super::connections::ZONES;
use super::trace;
use openflow::action::Output;
use openflow::message::{Command as Mod, FlowMod, GroupMod, Kind, message};
use openflow::{Field, Match, PortNumber, Version, port};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Cases that are played at once, each in a bridge of its own.
pub(crate) const BRIDGES: usize = 16;
/// What it may take to answer, on a machine that has much to do.
const PATIENCE: Duration = Duration::from_secs(60);
/// Frames of ours, sent behind a case's: when they are back, all before them are.
const MARK: u16 = 0x88b6;
const SERVER: &str = "ovsdb-server";
const DAEMON: &str = "ovs-vswitchd";

pub(crate) struct Peer {
    folder: PathBuf,
    daemons: Vec<Child>,
    control: Control,
    bridges: Vec<PeerBridge>,
}

struct PeerBridge {
    name: String,
    talks: Vec<Talk>,
    ports: Vec<Framed>,
}

/// Whether it is installed.
pub(crate) fn is_there() -> bool {
    Command::new(DAEMON).arg("--version").stdout(Stdio::null()).status().is_ok()
}

impl Peer {
    /// One in a folder of this name.
    pub(crate) fn start(name: &str) -> Self {
        let folder = format!("volley-ovs-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let run = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            for name in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"] {
                command.env(name, &folder);
            }
            command
                .args(arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command
        };
        let (db, schema) = (at("conf.db"), "/usr/share/openvswitch/vswitch.ovsschema");
        assert!(run("ovsdb-tool", &["create", &db, schema]).status().unwrap().success());
        // Who starts them may be killed: they end with it.
        let spawn = |arguments: &[&str]| {
            let all = [&["--pdeathsig", "KILL", "--"], arguments].concat();
            run("setpriv", &all).spawn().unwrap()
        };
        let remote = format!("--remote=punix:{}", at("db.sock"));
        let mut daemons = Vec::new();
        daemons.push(spawn(&[SERVER, &db, &remote, &format!("--unixctl={}", at("db.ctl"))]));
        // It hears nobody yet when its socket is there.
        drop(connect(&folder.join("db.sock")));
        let db = format!("unix:{}", at("db.sock"));
        let to_db = format!("--db={db}");
        assert!(run("ovs-vsctl", &[&to_db, "--no-wait", "init"]).status().unwrap().success());
        let unixctl = format!("--unixctl={}", at("daemon.ctl"));
        let alone = ["--enable-dummy=override", "--disable-system", "--disable-system-route"];
        daemons.push(spawn(&[&[DAEMON, &db, &unixctl][..], &alone].concat()));
        let mut words = vec![to_db, format!("--timeout={}", PATIENCE.as_secs())];
        for bridge in 0..BRIDGES {
            let versions = "protocols=OpenFlow10,OpenFlow13,OpenFlow14,OpenFlow15";
            let settings = format!("datapath-type=dummy fail-mode=secure {versions}");
            words.extend(
                format!("-- add-br br{bridge} -- set bridge br{bridge} {settings}")
                    .split(' ')
                    .map(str::to_owned),
            );
            for number in 1..=PORTS {
                let name = port_name(bridge, number);
                let socket = format!("options:pstream=punix:{}", at(&name));
                let text = format!(
                    "-- add-port br{bridge} {name} -- set interface {name} type=dummy ofport_request={number} {socket}"
                );
                words.extend(text.split(' ').map(str::to_owned));
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(run("ovs-vsctl", &words).status().unwrap().success(), "bridges of the daemon");
        let control = Control { stream: connect(&folder.join("daemon.ctl")), held: Vec::new() };
        let bridges = (0..BRIDGES).map(|bridge| PeerBridge::open(&folder, bridge)).collect();
        let mut it = Self { folder, daemons, control, bridges };
        it.control.ask(&[("time/stop", vec![])]);
        it
    }

    /// What it makes of cases, each in a bridge of its own. `is_told` sees what it says about each
    /// packet of each case.
    pub(crate) fn play(
        &mut self,
        cases: &[Case],
        mut is_told: impl FnMut(usize, usize, &str),
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let zones = (0..).step_by(usize::from(ZONES));
        let cases: Vec<Case> =
            cases.iter().zip(zones).map(|(it, first)| it.in_zones(first)).collect();
        for (case, bridge) in cases.iter().zip(&mut self.bridges) {
            outcomes.push(Outcome {
                errors: bridge.tell(case),
                packets: vec![Fate::default(); case.packets.len()],
            });
        }
        // What it remembers of the tables before is found out by threads of its own, some time.
        self.control.ask(&[("revalidator/purge", vec![])]);
        let mut asked = Vec::new();
        self.send_in_turn(&cases, &mut outcomes);
        for (case, bridge) in cases.iter().zip(&mut self.bridges) {
            for (number, frame) in &case.packets {
                if !case.is_tracked {
                    bridge.ports[usize::from(*number) - 1].send(frame);
                }
                let flow = format!("in_port={number}");
                asked.push(("ofproto/trace", vec![bridge.name.clone(), flow, hex(frame)]));
            }
            (1..=PORTS).for_each(|number| bridge.send_mark(number));
        }
        for (bridge, outcome) in self.bridges.iter_mut().zip(&mut outcomes) {
            bridge.receive(outcome, PORTS);
            outcome.packets.iter_mut().flat_map(|it| &mut it.sent).for_each(|sent| sent.sort());
        }
        let mut told = self.control.ask(&asked).into_iter();
        for (at, (case, outcome)) in cases.iter().zip(&mut outcomes).enumerate() {
            for (number, fate) in outcome.packets.iter_mut().enumerate().take(case.packets.len()) {
                let text = told.next().unwrap();
                is_told(at, number, &text);
                fate.verdict = trace::verdict(&text, PORTS);
            }
        }
        outcomes
    }

    /// Packets that hang on each other, each when the one before is through: so is a mark behind
    /// it.
    fn send_in_turn(&mut self, cases: &[Case], outcomes: &mut [Outcome]) {
        let tracked = |case: &&Case| case.is_tracked;
        let Some(most) = cases.iter().filter(tracked).map(|it| it.packets.len()).max() else {
            return;
        };
        self.control.ask(&[("dpctl/flush-conntrack", vec![])]);
        for turn in 0..most {
            for (case, bridge) in cases.iter().zip(&mut self.bridges) {
                if let Some((number, frame)) = case.packets.get(turn) {
                    bridge.ports[usize::from(*number) - 1].send(frame);
                    bridge.send_mark(*number);
                }
            }
            for ((case, bridge), outcome) in cases.iter().zip(&mut self.bridges).zip(&mut *outcomes)
            {
                if turn < case.packets.len() {
                    bridge.receive(outcome, 1);
                }
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            _ = daemon.kill();
            _ = daemon.wait();
        }
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Its datapath gives a port the number that is in its name.
fn port_name(bridge: usize, number: PortNumber) -> String {
    format!("p{}", bridge * usize::from(PORTS) + usize::from(number))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A socket that a daemon makes and then listens at.
fn connect(path: &Path) -> UnixStream {
    let end = Instant::now() + PATIENCE;
    let stream = loop {
        match UnixStream::connect(path) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < end, "{}: {error}", path.display()),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

impl PeerBridge {
    fn open(folder: &Path, bridge: usize) -> Self {
        let name = format!("br{bridge}");
        let socket = folder.join(format!("{name}.mgmt"));
        let talks = Version::ALL.map(|version| Talk::begin(connect(&socket), version)).into();
        let open = |number| Framed {
            stream: connect(&folder.join(port_name(bridge, number))),
            held: Vec::new(),
        };
        Self { name, talks, ports: (1..=PORTS).map(open).collect() }
    }

    /// Begins anew and tells it a case: what it finds wrong.
    fn tell(&mut self, case: &Case) -> Vec<(u32, Vec<u8>)> {
        let version = Version::V13;
        let mut all = FlowMod::add(0, 0, Match::any(), vec![]);
        (all.command, all.table) = (Mod::Delete, None);
        let groups = [&[0, 2, 0, 0][..], &GroupMod::ALL.to_be_bytes()].concat();
        let back: Vec<_> =
            (1..=PORTS).chain([port::IN_PORT]).map(|to| Output::to(to).into()).collect();
        let mark = Match::any().with(Field::EthType, MARK.into());
        let anew = [
            all.encode(version, 1),
            message(version, Kind::GroupMod, 2, &groups),
            FlowMod::add(0, u16::MAX, mark, back).encode(version, 3),
        ];
        let talk = |version: Version| Version::ALL.iter().position(|it| *it == version).unwrap();
        assert_eq!(self.talks[talk(version)].say(&anew.concat()), [], "beginning anew");
        let said: Vec<u8> = case.messages().into_iter().flat_map(|it| it.1).collect();
        self.talks[talk(case.version)].say(&said)
    }

    fn send_mark(&mut self, number: PortNumber) {
        let mut frame = vec![2; 12];
        frame.extend(MARK.to_be_bytes());
        frame.resize(60, 0);
        self.ports[usize::from(number) - 1].send(&frame);
    }

    /// What left, until so many marks are back at every port.
    fn receive(&mut self, outcome: &mut Outcome, sent: PortNumber) {
        for (at, port) in self.ports.iter_mut().enumerate() {
            let mut marks = 0;
            while marks < sent {
                let frame = port.receive();
                if frame[12..14] == MARK.to_be_bytes() && frame.len() == 60 {
                    marks += 1;
                    continue;
                }
                let number = u16::from_be_bytes(frame[frame.len() - 2..].try_into().unwrap());
                outcome.packets[usize::from(number)].sent[at].push(frame);
            }
        }
    }
}

/// A port: frames behind their length.
struct Framed {
    stream: UnixStream,
    held: Vec<u8>,
}

impl Framed {
    fn send(&mut self, frame: &[u8]) {
        let length = (frame.len() as u16).to_be_bytes();
        self.stream.write_all(&[&length[..], frame].concat()).unwrap();
    }

    fn receive(&mut self) -> Vec<u8> {
        loop {
            if let Some((length, rest)) = self.held.split_first_chunk() {
                let length = usize::from(u16::from_be_bytes(*length));
                if rest.len() >= length {
                    let frame = rest[..length].to_vec();
                    self.held.drain(..2 + length);
                    return frame;
                }
            }
            read_more(&mut self.stream, &mut self.held);
        }
    }
}

fn read_more(stream: &mut UnixStream, held: &mut Vec<u8>) {
    let mut chunk = vec![0; 1 << 16];
    let count = loop {
        match stream.read(&mut chunk) {
            // Who was stopped waits anew.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            count => break count.unwrap(),
        }
    };
    assert!(count > 0, "the daemon ended a connection");
    held.extend(&chunk[..count]);
}

/// A controller's connection.
struct Talk {
    stream: UnixStream,
    version: Version,
}

impl Talk {
    fn begin(mut stream: UnixStream, version: Version) -> Self {
        let number = version as u8;
        let hello = [number, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 1 << number];
        stream.write_all(&hello).unwrap();
        stream.write_all(&names_tables(version)).unwrap();
        Self { stream, version }
    }

    /// Says something, and waits until it is done: the errors.
    fn say(&mut self, said: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let end = message(self.version, Kind::BarrierRequest, u32::MAX, &[]);
        self.stream.write_all(&[said, &end].concat()).unwrap();
        let (mut held, mut errors) = (Vec::new(), Vec::new());
        loop {
            while held.len() >= 8 {
                let length = usize::from(u16::from_be_bytes([held[2], held[3]]));
                if held.len() < length {
                    break;
                }
                let one: Vec<u8> = held.drain(..length).collect();
                match Kind::of(self.version, one[1]) {
                    Some(Kind::Error) => errors.push(error_of(&one)),
                    Some(Kind::BarrierReply) => return errors,
                    _ => {}
                }
            }
            read_more(&mut self.stream, &mut held);
        }
    }
}

/// What `ovs-appctl` speaks with.
struct Control {
    stream: UnixStream,
    held: Vec<u8>,
}

impl Control {
    /// What it says to each.
    fn ask(&mut self, asked: &[(&str, Vec<String>)]) -> Vec<String> {
        let quoted = |words: &[String]| {
            words.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(",")
        };
        let requests: String = asked
            .iter()
            .map(|(method, words)| {
                format!("{{\"id\":1,\"method\":\"{method}\",\"params\":[{}]}}", quoted(words))
            })
            .collect();
        self.stream.write_all(requests.as_bytes()).unwrap();
        asked.iter().map(|_| self.answer()).collect()
    }

    fn answer(&mut self) -> String {
        loop {
            if let Some(length) = trace::object_length(&self.held) {
                let text = String::from_utf8(self.held.drain(..length).collect()).unwrap();
                return text.replace("\\n", "\n");
            }
            read_more(&mut self.stream, &mut self.held);
        }
    }
}
