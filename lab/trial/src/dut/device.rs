//! What a device under test can be asked: one job, in words that every switch's adapter translates.

use std::ops::Range;
use std::path::Path;

use lab_record::{Counters, NodeCost};

use crate::Error;
use crate::dut::settings::{Settings, core_numbers};
use crate::link::{DeviceEnd, LinkKind, Needs};
use crate::load::added::Added;
use crate::place::Place;
use crate::scenario::Function;

/// What a device is to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The function, with its switches.
    pub function: Function,
    /// Entries of its table.
    pub entries: u64,
    /// Worker threads.
    pub workers: u64,
    /// What else it is set to.
    pub settings: Settings,
    /// Kind of the links.
    pub link: LinkKind,
    /// Largest packet on them, in octets.
    pub mtu: u16,
    /// Its ends of them.
    pub ends: [DeviceEnd; 2],
}

/// Entries for the table of a device that runs, or those to be taken away again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where they lie.
    pub added: Added,
    /// Which of them.
    pub entries: Range<u64>,
    /// Whether they are to go: then all that were added.
    pub remove: bool,
}

/// Who gives a Docker engine's containers networks on a device: a plugin of the device's own.
pub trait NetworkDriver {
    /// What `docker network create -d` calls it.
    fn driver(&self) -> &'static str;

    /// Starts the device without ports, and its plugin, which is to listen there.
    fn serve(&mut self, job: &Job, listen: &Path, place: &mut Place) -> Result<(), Error>;

    /// What `docker network create -o` is told of each network, as `NAME=VALUE`.
    fn options(&self, job: &Job) -> Vec<String>;

    /// Sets what the job says of the ports that the plugin made for the two containers.
    fn joined(&mut self, job: &Job, ports: &[String; 2], place: &mut Place) -> Result<(), Error>;
}

/// A kind of device under test.
pub trait Device {
    /// Name in results.
    fn name(&self) -> &'static str;

    /// Its version as it says itself; an error if it is not installed.
    fn version(&self) -> Result<String, Error>;

    /// What its adapter can set, by the names of axes and of switches; all else is refused before
    /// it is started.
    fn settable(&self) -> &'static [&'static str] {
        &[]
    }

    /// What it needs of the lab's ends to do the job.
    fn needs(&self, _: &Job) -> Needs {
        Needs::default()
    }

    /// Makes it do the job; it may not be ready yet when this returns.
    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error>;

    /// What it counted since it started.
    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error>;

    /// What each of its nodes cost since it started; none of a device that does not tell.
    fn nodes(&mut self, _: &mut Place) -> Result<Vec<NodeCost>, Error> {
        Ok(Vec::new())
    }

    /// What the name of the function has and ends with that a node is, if the node is called with
    /// packets alone; none of a device that does not tell.
    fn function_of(&self, _node: &str) -> Option<[String; 2]> {
        None
    }

    /// The command by which a user would change its table while it runs. What it reads is written
    /// into files first, so that the command alone is the change. Entries that are there already
    /// are taken again.
    fn change(&mut self, job: &Job, _: &Change, _: &mut Place) -> Result<String, Error> {
        Err(self.refuse(job, "its adapter cannot change its table while it runs"))
    }

    /// Whether it knows endpoints from locators (RFC 9300).
    fn speaks_lisp(&self) -> bool {
        false
    }

    /// Whether it is the kernel of a virtual machine, which is between the ends: for streams alone.
    fn in_guest(&self) -> bool {
        false
    }

    /// Of which kind its links to virtual machines are.
    fn guests_link(&self) -> LinkKind {
        LinkKind::Tap
    }

    /// Who gives containers networks on it that do the job; none where the lab lays wires.
    fn network_driver(&mut self, _: &Job) -> Option<&mut dyn NetworkDriver> {
        None
    }

    /// Whether it can be started anew, as a process can.
    fn can_restart(&self) -> bool {
        true
    }

    /// Whether it leaves its cores to others while it has no packets: then another can be measured
    /// beside it.
    fn rests(&self) -> bool {
        false
    }

    /// Cores that it keeps for itself where a job asks for several workers.
    fn cores_beside_workers(&self) -> u64 {
        0
    }

    /// An error where a job asks for what cannot be set here; `cores` are what devices have.
    fn check_settings(&self, job: &Job, cores: &str) -> Result<(), Error> {
        let switches = job.function.switches().map(|(name, _)| name);
        let mut asked = job.settings.asked(job.workers).chain(switches);
        if let Some(setting) = asked.find(|it| !self.settable().contains(it)) {
            return Err(self.refuse(job, &format!("its adapter cannot set its {setting}")));
        }
        let beside = if job.workers > 1 { self.cores_beside_workers() } else { 0 };
        match (core_numbers(cores).len() as u64, job.workers.saturating_add(beside)) {
            (count, wanted) if wanted > count => {
                let taken =
                    if beside > 0 { format!(" take {wanted} cores") } else { String::new() };
                let workers = job.workers;
                let what =
                    format!("{workers} workers{taken}, and devices have {count} of the cores");
                Err(self.refuse(job, &what))
            }
            _ => Ok(()),
        }
    }

    /// A refusal of a job.
    fn refuse(&self, job: &Job, what: &str) -> Error {
        Error::Refused {
            device: self.name().to_owned(),
            job: format!("{} over {}", job.function.name(), job.link),
            reason: what.to_owned(),
        }
    }
}

/// Counters of kernel devices, out of the text of `/proc/net/dev`.
pub fn kernel_counters(text: &str, devices: &[&str]) -> Counters {
    let mut counters = Counters::default();
    for line in text.lines() {
        let Some((name, numbers)) = line.split_once(':') else { continue };
        let name = name.trim();
        if !devices.contains(&name) {
            continue;
        }
        let numbers: Vec<u64> =
            numbers.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        // bytes packets errs drop fifo frame compressed multicast, then the same of sending.
        let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
        counters.receive(number(1));
        counters.send(number(9));
        counters.drop(format!("{name} rx"), number(3));
        counters.drop(format!("{name} rx errors"), number(2));
        counters.drop(format!("{name} tx"), number(11));
        counters.drop(format!("{name} tx errors"), number(10));
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_too_large_to_be_added_stay_at_the_largest() {
        let line = format!("d0: 1 {0} 0 {0} 0 0 0 0 1 {0} 0 0\n", u64::MAX);
        let counters = kernel_counters(&line.repeat(2), &["d0"]);
        assert_eq!((counters.received, counters.sent), (u64::MAX, u64::MAX));
        assert_eq!(counters.drops, [("d0 rx".to_owned(), u64::MAX)].into());
    }

    #[test]
    fn the_kernels_table_is_read_by_device_and_way() {
        let text = "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop …\n\
                    \x20   g0:  60 1 0 7 0 0 0 0  120 2 0 9 0 0 0 0\n    lo: 0 0 0 5 0 0 0 0 0 0 0 0 0 0 0 0\n";
        let counters = kernel_counters(text, &["g0", "g1"]);
        assert_eq!((counters.received, counters.sent), (1, 2));
        assert_eq!(counters.drops, [("g0 rx".to_owned(), 7), ("g0 tx".to_owned(), 9)].into());
        let drops = [("g0 tx".to_owned(), 9)].into();
        let before = Counters { received: 1, drops, ..Counters::default() };
        let mut twice = counters.clone();
        twice.drops.extend([("d0 rx".into(), 4), ("d1 tx".into(), 2)]);
        twice.tell_once([("g0", "d0"), ("g1", "d1")]);
        let once = [("g0 rx", 7), ("g0 tx", 5), ("d0 rx", 4), ("d1 tx", 2)];
        assert_eq!(twice.drops, once.map(|(reason, count)| (reason.to_owned(), count)).into());
        let since = counters.since(&before);
        assert_eq!((since.received, since.sent), (0, 2));
        assert_eq!(since.drops, [("g0 rx".to_owned(), 7)].into());
    }
}
