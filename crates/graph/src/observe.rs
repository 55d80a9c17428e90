//! Following and copying packets as the engine moves them. Costs one branch a call while idle.

use crate::capture::{CaptureRequest, Captured};
use crate::clock::tsc;
use crate::context::Emitted;
use crate::exit::ExitIndex;
use crate::trace::{TRACE_BYTES, TraceRecord, TraceRequest};
use crate::walks::Walks;
use packet::{ExitBytes, Frame, PacketView};
use std::sync::mpsc::{SyncSender, TrySendError};

/// A worker's tracing and capture.
#[derive(Default)]
pub struct Observer {
    request: Option<TraceRequest>,
    given: u32,
    records: Option<SyncSender<TraceRecord>>,
    /// Walks that are kept back, where the request asks for something of them.
    walks: Option<Walks>,
    /// What nodes make is followed, too.
    follows_made: bool,
    captures: Vec<CaptureRequest>,
    /// Of the call under way: the traced packets as the node will see them, and its start.
    seen: Vec<(usize, TraceRecord)>,
    start_tsc: u64,
}

impl Observer {
    /// True while there is anything to do.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.records.is_some() || !self.captures.is_empty()
    }

    /// True while packets are copied, or looked for that are to be followed. Those that are
    /// followed are known by themselves ([`Frame::is_traced`]).
    pub(crate) fn is_looking(&self) -> bool {
        !self.captures.is_empty() || self.may_choose()
    }

    /// Whether more packets may be chosen to be followed.
    fn may_choose(&self) -> bool {
        self.request.as_ref().is_some_and(|request| match &self.walks {
            Some(walks) => walks.has_room(),
            None => self.given < request.count,
        })
    }

    /// Follows packets from now on, numbered from 1; records go to `into` (a full channel loses
    /// records, never packets). Ends what was followed before.
    pub fn start_trace(&mut self, request: TraceRequest, into: SyncSender<TraceRecord>) {
        self.walks = Walks::of(&request);
        (self.request, self.given, self.records) = (Some(request), 0, Some(into));
        self.follows_made = false;
    }

    /// Follows every packet from now on, those too that nodes make: each gets a number of its own,
    /// and its walk begins with who made it.
    pub fn follow_all(&mut self, into: SyncSender<TraceRecord>) {
        self.start_trace(TraceRequest { count: u32::MAX, ..TraceRequest::default() }, into);
        self.follows_made = true;
    }

    /// Follows no more packets.
    pub fn stop_trace(&mut self) {
        (self.request, self.records, self.walks) = (None, None, None);
    }

    /// Copies packets from now on.
    pub fn start_capture(&mut self, request: CaptureRequest) {
        self.captures.push(request);
    }

    /// Copies no more packets.
    pub fn stop_captures(&mut self) {
        self.captures.clear();
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn before(&mut self, slot: usize, frame: &mut Frame) {
        self.start_tsc = tsc();
        self.seen.clear();
        if self.records.is_some() && frame.is_traced() {
            self.note_traced(slot, frame);
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn after(
        &mut self,
        slot: usize,
        input: bool,
        frame: &mut Frame,
        bytes: &ExitBytes,
        uniform: Option<ExitIndex>,
    ) {
        let now_tsc = tsc();
        let exit_of = |index: usize| uniform.map_or(bytes.0[index], |exit| exit.0);
        if input && self.records.is_some() {
            self.choose(frame);
            self.note_traced(slot, frame);
        }
        self.write_down(frame, now_tsc, exit_of);
        for index in 0..frame.len() {
            let exit = exit_of(index);
            let wanted = |capture: &CaptureRequest| {
                capture.slot == slot && capture.exit.is_none_or(|number| number == exit)
            };
            if exit == ExitIndex::TAKEN.0 || !self.captures.iter().any(wanted) {
                continue;
            }
            let view = frame.view(index);
            // A capture whose reader is gone ends.
            self.captures.retain(|capture| !wanted(capture) || send(capture, &view, now_tsc));
        }
    }

    /// What the node in `slot` made in the call that is over.
    #[cold]
    #[inline(never)]
    pub(crate) fn emitted(&mut self, slot: usize, emitted: &mut Emitted) {
        let Some(into) = self.records.as_ref().filter(|_| self.follows_made) else { return };
        for index in 0..emitted.frame.len() {
            let mut view = emitted.frame.view(index);
            if view.trace() == 0 {
                self.given += 1;
                view.set_trace(self.given);
            }
            let mut record = record(view.trace(), slot, &view);
            (record.exit, record.made, record.tsc) = (emitted.exits.0[index], true, tsc());
            // As above.
            let _lost = into.try_send(record);
            emitted.frame.mark_traced();
        }
    }

    /// Numbers the packets that the trace wants among those an input just brought.
    fn choose(&mut self, frame: &mut Frame) {
        for index in 0..frame.len() {
            let may_be = self.may_choose();
            let Some(request) = &self.request else { return };
            let mut view = frame.view(index);
            let wanted = may_be
                && request.rx.is_none_or(|rx| rx == view.rx())
                && request.wants.as_ref().is_none_or(|wants| wants(view.whole()));
            if wanted {
                self.given = self.given.wrapping_add(1).max(1);
            }
            view.set_trace(if wanted { self.given } else { 0 });
            if wanted {
                frame.mark_traced();
            }
        }
    }

    fn note_traced(&mut self, slot: usize, frame: &mut Frame) {
        for index in 0..frame.len() {
            let view = frame.view(index);
            let packet = view.trace();
            if packet != 0 {
                self.seen.push((index, record(packet, slot, &view)));
            }
        }
    }

    fn write_down(&mut self, frame: &mut Frame, now_tsc: u64, exit_of: impl Fn(usize) -> u8) {
        let call_packets = frame.left() + frame.len();
        for (index, mut record) in self.seen.drain(..) {
            if index < frame.len() {
                let view = frame.view(index);
                (record.tx, record.adjacency) = (view.tx(), view.adjacency());
            }
            record.exit = exit_of(index);
            record.tsc = now_tsc;
            record.call_cycles = now_tsc - self.start_tsc;
            record.call_packets = call_packets;
            let Some(into) = &self.records else { continue };
            // A reader that is slow or gone loses records, never packets.
            let tell = |record| drop(into.try_send(record));
            match &mut self.walks {
                Some(walks) => walks.step(record, tell),
                None => tell(record),
            }
        }
    }
}

fn record(packet: u32, slot: usize, view: &PacketView<'_>) -> TraceRecord {
    let whole = view.whole();
    TraceRecord {
        packet,
        slot,
        exit: 0,
        made: false,
        tsc: 0,
        call_cycles: 0,
        call_packets: 0,
        rx: view.rx(),
        tx: view.tx(),
        adjacency: view.adjacency(),
        remote: view.remote(),
        local: view.local(),
        length: view.length(),
        consumed: view.consumed(),
        bytes: whole[..whole.len().min(TRACE_BYTES)].to_vec(),
    }
}

/// False when nobody will ever read this capture again.
fn send(capture: &CaptureRequest, view: &PacketView<'_>, now_tsc: u64) -> bool {
    let whole = view.whole();
    let bytes = whole[..whole.len().min(capture.snap_bytes)].to_vec();
    let copy = Captured { tsc: now_tsc, rx: view.rx(), length: whole.len(), bytes };
    !matches!(capture.into.try_send(copy), Err(TrySendError::Disconnected(_)))
}
