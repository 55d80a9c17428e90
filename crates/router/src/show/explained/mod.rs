//! What would become of a packet: it is tried on a graph that leads nowhere, and what nodes decided
//! is put into words.

mod decisions;
mod entry;
mod flows;
mod told;
mod translated;

use super::observe::{described, hex};
use crate::aside::aside;
use crate::router::Router;
use control::engine::EngineError;
use control::view;
use dataplane::{Rehearsal, Rehearsed};
use decisions::Look;
use graph::TraceRecord;
use nodes::tables::Setup;
use std::collections::{BTreeMap, BTreeSet};
use wire::craft::Words;
use wire::describe;

/// The exit number that says that the node took the packet.
const TAKEN: u8 = u8::MAX;
/// Steps of traces that are put into words in a turn.
const TRACED: usize = 128;

impl Router {
    /// Puts into words what decided at the next steps of packets that workers traced, by the tables
    /// as they are now; true if there are more.
    pub(crate) fn explain_traced(&mut self) -> bool {
        let reports = BTreeMap::new();
        for _ in 0..TRACED {
            let Some((place, step, next)) = self.parts.observing.next_asked() else { return false };
            let next = next.as_deref();
            let look = Look { router: self, step: &step, next, reports: &reports, was: true };
            let mut decisions = look.decisions(self.node(&step).spec.name);
            if let Some(why) = self.reason(&step) {
                decisions.push(decision("dropped", &why.about));
            }
            if !decisions.is_empty() {
                self.parts.observing.tell_decided(place, decisions);
            }
        }
        true
    }

    pub(super) fn show_explained(
        &mut self,
        filter: &view::ExplainFilter,
    ) -> Result<view::Explained, EngineError> {
        let wrong = |why: String| EngineError::Wrong(why);
        let words = Words::read(&filter.packet).map_err(|error| wrong(error.to_string()))?;
        let entry = self.entry_of(words.port.as_deref())?;
        let frame = words.frame(&entry.unsaid).map_err(|error| wrong(error.to_string()))?;
        let frame = entry.tagged(frame);
        let mut stage = self.rehearsal()?;
        let mut brought = BTreeSet::new();
        let mut run = |router: &Self, stage: &mut Rehearsal| {
            stage.run(entry.interface, &frame, |punt| {
                brought.insert(router.would(punt));
            })
        };
        let mut seen = run(self, &mut stage);
        // Schedulers take memory: those that it came to are made now, and it goes once more.
        let shaped = self.shaped_on(&seen.steps);
        if !shaped.is_empty() {
            for port in &shaped {
                if let Some(config) = self.core.dataplane.shape_of(*port) {
                    stage.shape(*port, config).map_err(|error| wrong(error.to_string()))?;
                }
            }
            seen = run(self, &mut stage);
        }
        let reports = shaped.into_iter().filter_map(|port| Some((port, stage.shaped(port)?)));
        let reports: BTreeMap<_, _> = reports.collect();
        let outcome = self.outcome_of(&seen);
        let mut walks: BTreeMap<u32, Vec<&TraceRecord>> = BTreeMap::new();
        for step in &seen.steps {
            walks.entry(step.packet).or_default().push(step);
        }
        let walks = walks.into_iter().map(|(number, steps)| {
            let look = |(at, step): (usize, &&TraceRecord)| {
                let next = steps.get(at + 1).copied();
                let was = false;
                self.explained_step(&Look { router: self, step, next, reports: &reports, was })
            };
            let steps = steps.iter().enumerate().filter_map(look).collect();
            view::ExplainedWalk { number, steps }
        });
        let walks = walks.collect();
        let by_port = |(port, frame): (u16, Vec<u8>)| shown(self.port_named(port), &frame);
        let by_interface = |(id, frame): (u16, Vec<u8>)| shown(self.name_of(id), &frame);
        Ok(view::Explained {
            port: entry.name,
            packet: describe::frame(&frame).to_string(),
            hex: hex(&frame),
            outcome,
            walks,
            sent: seen.sent.into_iter().map(by_port).collect(),
            twins: seen.twins.into_iter().map(by_interface).collect(),
            brings_about: brought.into_iter().collect(),
        })
    }

    /// A graph to try it on; made beside, as that takes some milliseconds.
    fn rehearsal(&mut self) -> Result<Rehearsal, EngineError> {
        let Self { core, parts, .. } = self;
        let none = || EngineError::Conflict("there is no worker".to_owned());
        let stage = core.dataplane.stage().ok_or_else(none)?;
        let made = aside(parts, core, move || stage.rehearsal());
        made.map_err(|error| EngineError::Conflict(error.to_string()))
    }

    /// Ports whose schedulers the walk came to.
    fn shaped_on(&self, steps: &[TraceRecord]) -> BTreeSet<u16> {
        let dataplane = &self.core.dataplane;
        let slot = dataplane.layout.slot("shape");
        let at_shape = steps.iter().filter(|step| Some(step.slot) == slot);
        let ports = at_shape.filter_map(|step| Some(dataplane.interfaces().get(step.tx)?.port));
        ports.filter(|port| dataplane.is_shaped(*port)).collect()
    }

    /// A step, unless it only frees what was dropped, which the step before it has told.
    fn explained_step(&self, look: &Look<'_>) -> Option<view::ExplainedStep> {
        let node = self.node(look.step);
        if node.spec.name == "drop" {
            return None;
        }
        let edge = node.edges.get(usize::from(look.step.exit));
        let mut decisions = look.decisions(node.spec.name);
        if let Some(why) = self.reason(look.step) {
            decisions.push(decision("dropped", &why.about));
            decisions.push(decision("help", why.mend));
        }
        Some(view::ExplainedStep {
            node: node.spec.name.to_owned(),
            exit: edge.map_or_else(|| "taken".to_owned(), |edge| edge.name.clone()),
            meaning: edge.map(|edge| edge.about.clone()).unwrap_or_default(),
            detail: described(&look.step.bytes, look.step.consumed, look.step.length),
            decisions,
        })
    }

    fn node(&self, step: &TraceRecord) -> &graph::LayoutNode<Setup> {
        &self.core.dataplane.layout.nodes[step.slot]
    }

    /// The exit of a step; empty where it kept the packet.
    fn exit_of(&self, step: &TraceRecord) -> &str {
        self.node(step).edges.get(usize::from(step.exit)).map_or("", |edge| &edge.name)
    }

    /// Why a step drops the packet, or has its sender told, if it does.
    fn reason(&self, step: &TraceRecord) -> Option<&graph::Reason> {
        let (layout, node) = (&self.core.dataplane.layout, self.node(step));
        let edge = node.edges.get(usize::from(step.exit))?;
        let mut reasons = layout.reasons.iter();
        reasons.find(|it| it.node == node.spec.name && it.exit == edge.name)
    }

    /// What became of it, and of what was made of it, in one line.
    fn outcome_of(&self, seen: &Rehearsed) -> String {
        let mut all: Vec<String> = Vec::new();
        let mut say = |what: String| {
            if !all.contains(&what) {
                all.push(what);
            }
        };
        seen.sent.iter().for_each(|(port, _)| say(format!("sent by {}", self.port_named(*port))));
        for (interface, _) in &seen.twins {
            say(format!("handed to the twin of {}", self.name_of(*interface)));
        }
        for step in &seen.steps {
            let node = self.node(step).spec;
            if let Some(why) = self.reason(step) {
                let how = if why.answer.is_some() { "refused" } else { "dropped" };
                say(format!("{how} by {}: {}", why.node, why.exit));
            } else if step.exit == TAKEN
                && !matches!(node.name, "port-tx" | "twin-output" | "drop" | "shape")
            {
                say(format!("taken by {}, which {}", node.name, node.about));
            }
        }
        if all.is_empty() {
            return "it waits".to_owned();
        }
        all.join("; ")
    }

    /// What an interface is called.
    fn name_of(&self, id: u16) -> String {
        let port = self.core.port_of(id);
        port.map_or_else(|| format!("interface {id}"), |(name, _)| name.to_string())
    }

    /// What the port of a device is called.
    fn port_named(&self, port: u16) -> String {
        self.name_of(port)
    }
}

fn decision(what: &str, said: &str) -> view::Decision {
    view::Decision { what: what.to_owned(), said: said.to_owned() }
}

/// A frame that leaves.
fn shown(port: String, frame: &[u8]) -> view::ExplainedFrame {
    view::ExplainedFrame {
        port,
        bytes: frame.len() as u32,
        packet: describe::frame(frame).to_string(),
        hex: hex(frame),
    }
}
