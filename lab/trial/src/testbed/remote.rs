//! A device on another host, as the lab's own parts see it: what they ask an agent answers.

use std::sync::{Arc, Mutex, MutexGuard};

use lab_record::{Counters, NodeCost};

use super::protocol::{Ask, PlainWish, Told};
use super::session::Session;
use crate::Error;
use crate::dut::device::{Device, Job};
use crate::place::Place;
use crate::trial::rig::Wish;

/// See the module.
pub(crate) struct Remote {
    name: &'static str,
    kind: String,
    session: Arc<Mutex<Session>>,
}

impl Remote {
    pub(crate) fn new(name: &str, kind: &str, session: Arc<Mutex<Session>>) -> Self {
        // A few, for as long as the program runs.
        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        Self { name, kind: kind.to_owned(), session }
    }

    fn session(&self) -> Result<MutexGuard<'_, Session>, Error> {
        self.session.lock().map_err(|_| Error::Contradiction("a session panicked".into()))
    }

    /// Asks; a refusal is this device's.
    fn ask(&self, ask: &Ask, job: &str) -> Result<Told, Error> {
        match self.session()?.ask(ask)? {
            Told::Failed { reason, .. } => {
                Err(Error::Refused { device: self.name.into(), job: job.to_owned(), reason })
            }
            told => Ok(told),
        }
    }

    fn amiss(&self, told: &Told) -> Error {
        self.session().map_or_else(|error| error, |session| session.amiss(told))
    }
}

impl Device for Remote {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> Result<String, Error> {
        match self.ask(&Ask::Version { kind: self.kind.clone() }, "any job")? {
            Told::Version { version } => Ok(version),
            other => Err(self.amiss(&other)),
        }
    }

    /// Its own host knows, and says so when it is started.
    fn check_settings(&self, _: &Job, _: &str) -> Result<(), Error> {
        Ok(())
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let Job { function, entries, workers, settings, mtu, .. } = job.clone();
        let wish = Wish { function, entries, workers, settings, max_frame_bytes: mtu + 18 };
        let ask = Ask::Start { kind: self.kind.clone(), wish: PlainWish::of(&wish) };
        let what = format!("{} over {}", job.function.name(), job.link);
        match self.ask(&ask, &what)? {
            Told::Done { commands } => {
                commands.iter().for_each(|command| place.note_command(command));
                Ok(())
            }
            other => Err(self.amiss(&other)),
        }
    }

    fn counters(&mut self, _: &mut Place) -> Result<Counters, Error> {
        match self.ask(&Ask::Counters, "any job")? {
            Told::Counters { counters } => Ok(counters),
            other => Err(self.amiss(&other)),
        }
    }

    fn nodes(&mut self, _: &mut Place) -> Result<Vec<NodeCost>, Error> {
        match self.ask(&Ask::Nodes, "any job")? {
            Told::Nodes { nodes } => Ok(nodes),
            other => Err(self.amiss(&other)),
        }
    }

    fn can_restart(&self) -> bool {
        false
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if let Ok(mut session) = self.session() {
            let _ = session.ask(&Ask::Stop);
        }
    }
}
