//! A test bed whose hosts were reached: sessions, and the generator's ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::TestBed;
use super::protocol::{Ask, Told};
use super::remote::Remote;
use super::session::Session;
use super::wires::LabEnds;
use crate::Error;
use crate::dut::device::Device;

/// Octets of preamble, start and gap between two frames.
const BETWEEN_BYTES: f64 = 20.0;

/// A test bed as long as it is allocated.
pub struct Reached {
    bed: TestBed,
    sessions: BTreeMap<String, Arc<Mutex<Session>>>,
    facts: BTreeMap<String, String>,
    _ends: LabEnds,
}

impl Reached {
    /// Reaches the hosts of these devices, and allocates them.
    pub fn reach(bed: TestBed, devices: &[String]) -> Result<Self, Error> {
        let [first, second] = [0, 1].map(|side| bed.wires[side].clone());
        let (mut sessions, mut facts) = (BTreeMap::new(), BTreeMap::new());
        for name in devices {
            let device = bed.device(name)?;
            let hosts = bed.hosts.iter().filter(|it| it.name == device.host);
            for host in hosts.filter(|it| !sessions.contains_key(&it.name)).collect::<Vec<_>>() {
                let mut session = Session::start(host)?;
                let own = match session.ask(&Ask::Hello)? {
                    Told::Hello { version, facts } => (
                        version,
                        facts.get("processor").cloned().unwrap_or_default(),
                        facts.get("kernel").cloned().unwrap_or_default(),
                    ),
                    other => return Err(session.amiss(&other)),
                };
                let offset = session.compare_clocks()?;
                let ports = [first.device.clone(), second.device.clone()];
                session.ask(&Ask::Allocate { ports, cores: host.cores.clone() })?;
                facts.insert(
                    format!("host {}", host.name),
                    format!("{}, kernel {}; agent {}; cores {}", own.1, own.2, own.0, host.cores),
                );
                facts.insert(
                    format!("clock of {}", host.name),
                    format!(
                        "{:+.1} µs of ours, ± {:.1} µs",
                        offset.ahead_us, offset.uncertainty_us
                    ),
                );
                sessions.insert(host.name.clone(), Arc::new(Mutex::new(session)));
            }
        }
        let ends = LabEnds::take([&first.generator, &second.generator])?;
        Ok(Self { bed, sessions, facts, _ends: ends })
    }

    /// What is known of its hosts, for the campaign.
    pub fn facts(&self) -> &BTreeMap<String, String> {
        &self.facts
    }

    /// The device of a name.
    pub(crate) fn device(&self, name: &str) -> Result<Box<dyn Device>, Error> {
        let device = self.bed.device(name)?;
        let session = self.sessions.get(&device.host);
        let session = session
            .ok_or_else(|| Error::Contradiction(format!("{} was not reached", device.host)))?;
        Ok(Box::new(Remote::new(&device.name, &device.kind, Arc::clone(session))))
    }

    /// Frames a second that fill a wire: the lab cannot be tested without the device in between.
    pub(crate) fn line_rate_pps(&self, frame_bytes: u16) -> f64 {
        self.bed.gbps * 1e9 / 8.0 / (f64::from(frame_bytes) + BETWEEN_BYTES)
    }

    /// Makes room for packets of a size.
    pub(crate) fn widen(mtu: u16) -> Result<(), Error> {
        LabEnds::widen(mtu)
    }
}
