//! Traces and captures on their way from the workers to whoever asked.

use crate::core::Core;
use crate::part::Part;
use dataplane::Dataplane;
use graph::{CaptureRequest, Captured, Mail, TraceRecord, TraceRequest};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

/// Steps of a walk that a channel holds for each packet: more than the graph is deep.
const STEPS: usize = 32;
/// Copies that may wait until the control thread looks.
const COPIES: usize = 4096;

/// What is being watched, and what was seen.
#[derive(Default)]
pub(crate) struct Observing {
    trace: Option<Vec<Receiver<TraceRecord>>>,
    wanted: u32,
    /// Worker and record, in order of arrival.
    pub(crate) records: Vec<(usize, TraceRecord)>,
    capture: Option<Receiver<Captured>>,
    pub(crate) capturing: Capturing,
}

/// A capture that was asked for.
#[derive(Clone, Default)]
pub(crate) struct Capturing {
    pub(crate) node: String,
    pub(crate) exit: Option<String>,
    pub(crate) count: u32,
    pub(crate) copies: Vec<Captured>,
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

    /// Follows the next packets on every worker.
    pub(crate) fn start_trace(&mut self, dataplane: &Dataplane, request: TraceRequest) {
        self.records.clear();
        self.wanted = request.count;
        let workers = 0..dataplane.worker_cores().len();
        let channels = workers.filter_map(|number| dataplane.worker(number)).map(|worker| {
            let (into, records) = sync_channel(request.count as usize * STEPS);
            worker.tell(Mail::StartTrace(request, into));
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

    /// Takes in what the workers have seen since.
    fn collect(&mut self) {
        for (worker, channel) in self.trace.iter().flatten().enumerate() {
            self.records.extend(channel.try_iter().map(|record| (worker, record)));
        }
        if let Some(copies) = &self.capture {
            let room = (self.capturing.count as usize).saturating_sub(self.capturing.copies.len());
            self.capturing.copies.extend(copies.try_iter().take(room));
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
