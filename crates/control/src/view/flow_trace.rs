//! A packet's way through the tables of a bridge of flows, as Open vSwitch tells it.

use super::answer::*;

/// Which packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct FlowTraceFilter {
    /// The bridge.
    pub bridge: String,
    /// The flow, as in `in_port=p1,tcp,nw_dst=10.0.0.1,tcp_dst=80`.
    pub flow: String,
    /// A frame in hexadecimal, whose fields go before those of the flow but for its port.
    #[serde(default)]
    #[param(format = "octets")]
    pub packet: Option<String>,
    /// What connection tracking says each time, as in `trk,est;trk,new`; `trk,new` where nothing is
    /// said.
    #[serde(default)]
    #[param(format = "states")]
    pub ct_next: Option<String>,
    /// Ports by their names.
    #[serde(default)]
    pub names: bool,
}

/// Its way, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlowTrace {
    /// The first part, and one for each time that it begins again behind connection tracking.
    pub parts: Vec<FlowTracePart>,
}

/// A part of its way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlowTracePart {
    /// Why it begins again; empty for the first.
    pub again: String,
    /// The packet.
    pub flow: String,
    /// What was looked up and done, line by line.
    pub walk: Vec<String>,
    /// The packet at the end; null where it is as it came.
    pub final_flow: Option<String>,
    /// What packets have in common that go the same way.
    pub megaflow: String,
    /// What is done with it.
    pub actions: String,
    /// Why nothing is.
    pub problem: Option<String>,
}

impl View for FlowTrace {
    view!("show flow-trace", "/v1/flow-trace", FlowTraceFilter => Self,
        "A packet's way through the tables of a bridge of flows: nothing is sent, learned or counted");

    fn text(trace: &Self, _: Style) -> String {
        trace.parts.iter().map(part).collect()
    }
}

fn part(part: &FlowTracePart) -> String {
    let mut text = String::new();
    if !part.again.is_empty() {
        let line = "=".repeat(79);
        text += &format!("\n{line}\n{}\n{line}\n\n", part.again);
    }
    text += &format!("Flow: {}\n\n", part.flow);
    part.walk.iter().for_each(|line| text += &format!("{line}\n"));
    let end = part.final_flow.as_deref().unwrap_or("unchanged");
    text += &format!("\nFinal flow: {end}\nMegaflow: {}\n", part.megaflow);
    text += &format!("Datapath actions: {}\n", part.actions);
    if let Some(problem) = &part.problem {
        text += &format!("Translation failed ({problem}), packet is dropped.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_the_layout_of_open_vswitch() {
        let first = FlowTracePart {
            flow: "udp,in_port=1".into(),
            walk: vec!["bridge(\"br0\")".into(), "-------------".into(), " 0. No match.".into()],
            megaflow: "recirc_id=0,eth,udp,in_port=1".into(),
            actions: "drop".into(),
            problem: Some("Recursion too deep".into()),
            ..FlowTracePart::default()
        };
        let again = FlowTracePart {
            again: "recirc(0x1) - resume".into(),
            final_flow: Some("x".into()),
            problem: None,
            ..first.clone()
        };
        let line = "=".repeat(79);
        let wanted = format!(
            "Flow: udp,in_port=1\n\nbridge(\"br0\")\n-------------\n 0. No match.\n\nFinal flow: unchanged\n\
             Megaflow: recirc_id=0,eth,udp,in_port=1\nDatapath actions: drop\n\
             Translation failed (Recursion too deep), packet is dropped.\n\
             \n{line}\nrecirc(0x1) - resume\n{line}\n\n\
             Flow: udp,in_port=1\n\nbridge(\"br0\")\n-------------\n 0. No match.\n\nFinal flow: x\n\
             Megaflow: recirc_id=0,eth,udp,in_port=1\nDatapath actions: drop\n"
        );
        assert_eq!(
            FlowTrace::text(&FlowTrace { parts: vec![first, again] }, Style::new(false)),
            wanted
        );
    }
}
