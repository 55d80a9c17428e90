//! Traces and captures on their way from the workers to whoever asked.

use crate::core::Core;
use crate::part::Part;
use control::view::Decision;
use dataplane::Dataplane;
use graph::{CaptureRequest, Captured, Mail, TraceRecord, TraceRequest};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Instant;

/// Steps of a walk that a channel holds for each packet: more than the graph is deep.
const STEPS: usize = 32;
/// Copies that may wait until the control thread looks.
const COPIES: usize = 4096;
/// The exit number that says that the node took the packet.
const TAKEN: u8 = u8::MAX;

/// How a worker tells what it traced.
pub(crate) type TraceChannel = (SyncSender<TraceRecord>, Receiver<TraceRecord>);

/// A channel for each worker, with room for all that it may tell of so many packets: that takes a
/// while.
pub(crate) fn trace_channels(workers: usize, packets: u32) -> Vec<TraceChannel> {
    (0..workers).map(|_| sync_channel(packets as usize * STEPS)).collect()
}

/// What is being watched, and what was seen.
#[derive(Default)]
pub(crate) struct Observing {
    trace: Option<Vec<Receiver<TraceRecord>>>,
    wanted: u32,
    /// In order of arrival.
    pub(crate) steps: Vec<Traced>,
    /// How many of them were looked at for what they decided.
    asked: usize,
    /// The last of those, if its node took the packet and it was not asked yet.
    taken: Option<usize>,
    /// The last step of each packet, by worker and number.
    last: HashMap<(usize, u32), usize>,
    capture: Option<Receiver<Captured>>,
    pub(crate) capturing: Capturing,
}

/// A step with its place among all, and the one that followed it.
pub(crate) type Asked = (usize, Arc<TraceRecord>, Option<Arc<TraceRecord>>);

/// A step that a worker told.
#[derive(Clone)]
pub(crate) struct Traced {
    pub(crate) worker: usize,
    pub(crate) record: Arc<TraceRecord>,
    /// What decided.
    pub(crate) decisions: Arc<[Decision]>,
}

/// A capture that was asked for.
#[derive(Clone, Default)]
pub(crate) struct Capturing {
    pub(crate) node: String,
    pub(crate) exit: Option<String>,
    pub(crate) count: u32,
    pub(crate) copies: Vec<Arc<Captured>>,
}

impl Part for Observing {
    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        self.collect();
        if self.capture_is_full() {
            self.stop_capture(&core.dataplane);
        }
        false
    }
}

impl Observing {
    pub(crate) fn is_tracing(&self) -> bool {
        self.trace.is_some()
    }

    pub(crate) fn is_capturing(&self) -> bool {
        self.capture.is_some()
    }

    /// Forgets earlier traces; what they were is for the caller to drop.
    pub(crate) fn forget_trace(&mut self) -> impl Send + use<> {
        (self.asked, self.taken) = (0, None);
        (self.trace.take(), std::mem::take(&mut self.steps), std::mem::take(&mut self.last))
    }

    /// Follows the next packets on every worker.
    pub(crate) fn start_trace(
        &mut self,
        dataplane: &Dataplane,
        request: TraceRequest,
        channels: Vec<TraceChannel>,
    ) {
        self.wanted = request.count;
        let workers = (0..).map_while(|number| dataplane.worker(number));
        let channels = workers.zip(channels).map(|(worker, (into, records))| {
            worker.tell(Mail::StartTrace(request.clone(), into));
            records
        });
        self.trace = Some(channels.collect());
    }

    pub(crate) fn stop_trace(&mut self, dataplane: &Dataplane) {
        self.collect();
        self.trace = None;
        tell_all(dataplane, || Mail::StopTrace);
    }

    /// Copies what takes an exit, on every worker.
    pub(crate) fn start_capture(
        &mut self,
        dataplane: &Dataplane,
        capturing: Capturing,
        slot: usize,
        exit: Option<u8>,
        snap_bytes: usize,
    ) {
        self.stop_capture(dataplane);
        let (into, copies) = sync_channel(COPIES);
        self.capturing = capturing;
        self.capture = Some(copies);
        tell_all(dataplane, || {
            Mail::StartCapture(CaptureRequest { slot, exit, snap_bytes, into: into.clone() })
        });
    }

    pub(crate) fn stop_capture(&mut self, dataplane: &Dataplane) {
        self.collect();
        self.capture = None;
        tell_all(dataplane, || Mail::StopCaptures);
    }

    /// What was captured since the last time, which makes room for more.
    pub(crate) fn take_captured(&mut self) -> Vec<Arc<Captured>> {
        self.collect();
        std::mem::take(&mut self.capturing.copies)
    }

    /// Takes in what the workers have seen since.
    fn collect(&mut self) {
        for (worker, channel) in self.trace.iter().flatten().enumerate() {
            let none: Arc<[Decision]> = Arc::default();
            let traced =
                |record| Traced { worker, record: Arc::new(record), decisions: Arc::clone(&none) };
            self.steps.extend(channel.try_iter().map(traced));
        }
        if let Some(copies) = &self.capture {
            let room = (self.capturing.count as usize).saturating_sub(self.capturing.copies.len());
            self.capturing.copies.extend(copies.try_iter().take(room).map(Arc::new));
        }
    }

    /// The next step to be asked for what decided, its place, and the step that followed: one is
    /// asked when another follows it, or when its node took the packet.
    pub(crate) fn next_asked(&mut self) -> Option<Asked> {
        if let Some(place) = self.taken.take() {
            return Some((place, Arc::clone(&self.steps.get(place)?.record), None));
        }
        while let Some(Traced { worker, record, .. }) = self.steps.get(self.asked) {
            let at = self.asked;
            self.asked += 1;
            self.taken = (record.exit == TAKEN).then_some(at);
            if let Some(before) = self.last.insert((*worker, record.packet), at) {
                let followed = Arc::clone(&self.steps[before].record);
                return Some((before, followed, Some(Arc::clone(record))));
            }
            if let Some(place) = self.taken.take() {
                return Some((place, Arc::clone(record), None));
            }
        }
        None
    }

    /// Writes down what a step decided.
    pub(crate) fn tell_decided(&mut self, place: usize, decisions: Vec<Decision>) {
        if let Some(step) = self.steps.get_mut(place) {
            step.decisions = decisions.into();
        }
    }

    /// True when a capture has all it wants and can be stopped.
    fn capture_is_full(&self) -> bool {
        self.is_capturing() && self.capturing.copies.len() >= self.capturing.count as usize
    }

    /// How many packets each worker follows.
    pub(crate) fn wanted(&self) -> u32 {
        self.wanted
    }
}

fn tell_all(dataplane: &Dataplane, mail: impl Fn() -> Mail) {
    for number in 0..dataplane.worker_cores().len() {
        if let Some(worker) = dataplane.worker(number) {
            worker.tell(mail());
        }
    }
}
