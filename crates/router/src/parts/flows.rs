//! What tells flows apart, where several next hops share them.

use crate::core::Core;
use crate::part::{Makes, Part};
use control::config::change::Replaced;
use control::config::field::Field;
use control::config::objects::flows::{self, FlowField, Flows};
use control::engine::ApplyError;
use control::view;
use nodes::tables::{FlowRule, MOST_VXLAN_PORTS, flow_field};

/// What can be configured fits what workers read.
const _: () = assert!(flows::MOST_VXLAN_PORTS == MOST_VXLAN_PORTS);

/// See the module.
#[derive(Default)]
pub(crate) struct FlowFields;

impl Part for FlowFields {}

impl Makes<Replaced<Flows>> for FlowFields {
    fn make(&mut self, core: &mut Core, change: &Replaced<Flows>) -> Result<(), ApplyError> {
        core.dataplane.flows.set(rule(&change.new));
        Ok(())
    }
}

impl FlowFields {
    /// What workers look at by now.
    pub(crate) fn show(&self, core: &Core) -> view::Flows {
        let rule = core.dataplane.flows.get();
        let all = FlowField::WORDS.iter().filter_map(|word| FlowField::from_text(word).ok());
        let fields = all.filter(|field| rule.has(bit(*field)));
        view::Flows {
            fields: fields.map(|field| field.word().to_owned()).collect(),
            inner: rule.has(flow_field::INNER),
            symmetric: rule.has(flow_field::SYMMETRIC),
            vxlan_ports: rule.vxlan_ports.into_iter().filter(|port| *port != 0).collect(),
            groups: core.dataplane.groups.memory().groups as u64,
        }
    }
}

fn rule(flows: &Flows) -> FlowRule {
    let fields = flows.fields.iter().fold(0, |bits, field| bits | bit(*field));
    let inner = if flows.inner { flow_field::INNER } else { 0 };
    let symmetric = if flows.symmetric { flow_field::SYMMETRIC } else { 0 };
    let port = |at: usize| flows.vxlan_ports.get(at).copied().unwrap_or_default();
    FlowRule { bits: fields | inner | symmetric, vxlan_ports: std::array::from_fn(port) }
}

fn bit(field: FlowField) -> u32 {
    match field {
        FlowField::Source => flow_field::SOURCE,
        FlowField::Destination => flow_field::DESTINATION,
        FlowField::Protocol => flow_field::PROTOCOL,
        FlowField::SourcePort => flow_field::SOURCE_PORT,
        FlowField::DestinationPort => flow_field::DESTINATION_PORT,
        FlowField::FlowLabel => flow_field::FLOW_LABEL,
        FlowField::Ingress => flow_field::INGRESS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_configuration_is_the_usual_rule() {
        assert_eq!(rule(&Flows::default()), FlowRule::USUAL);
        let fields = vec![FlowField::Ingress, FlowField::Protocol];
        let said = Flows { fields, inner: true, symmetric: true, vxlan_ports: vec![8472, 9] };
        let bits =
            flow_field::INGRESS | flow_field::PROTOCOL | flow_field::INNER | flow_field::SYMMETRIC;
        assert_eq!(rule(&said), FlowRule { bits, vxlan_ports: [8472, 9, 0, 0] });
    }
}
