//! `[flows]`: what tells flows apart, where several next hops share them.

use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;

/// Most ports that VXLAN is looked for at.
pub const MOST_VXLAN_PORTS: usize = 4;
/// Where VXLAN usually is (RFC 7348).
const VXLAN_PORT: u16 = 4789;

word_field! {
    /// What can tell flows apart.
    FlowField {
        /// The source address.
        Source = "source",
        /// The destination address.
        Destination = "destination",
        /// The protocol, or the next header.
        Protocol = "protocol",
        /// The source port of TCP, UDP and SCTP.
        SourcePort = "source_port",
        /// Their destination port.
        DestinationPort = "destination_port",
        /// The flow label of IPv6.
        FlowLabel = "flow_label",
        /// The port or VLAN that the packet came in by.
        Ingress = "ingress",
    }
}

/// Those that are looked at unless told otherwise.
const USUAL: [FlowField; 6] = [
    FlowField::Source,
    FlowField::Destination,
    FlowField::Protocol,
    FlowField::SourcePort,
    FlowField::DestinationPort,
    FlowField::FlowLabel,
];

object! {
    /// What tells flows apart, where several next hops share them
    pub struct Flows {
        /// What of a packet; packets that are alike in all of these take one way
        pub fields: Vec<FlowField> as "source,destination" = USUAL.to_vec(),
        /// Whether packets of tunnels that only pass are told apart by what they carry: VXLAN, GRE,
        /// IP in IP, GTP-U
        pub inner: bool = false,
        /// Whether both directions of a flow take the same of a group's ways
        pub symmetric: bool = false,
        /// UDP ports of VXLAN, for `inner`
        pub vxlan_ports: Vec<u16> as "4789,8472" = vec![VXLAN_PORT],
    }
}

impl Row for Flows {
    const KIND: &'static str = "flows";
}

impl Section for Flows {}

impl Object for Flows {
    fn check(&self, _: &Config, _: &Host, report: &mut Report) {
        let mut wrong = |field: &str, message: String, expected: &str| {
            report.push(Problem::new(format!("flows.{field}"), message).expected(expected));
        };
        let has = |field| self.fields.contains(&field);
        if self.fields.is_empty() {
            let message = "nothing would tell flows apart: all packets would take one way";
            wrong("fields", message.to_owned(), "one field or more");
        }
        if let Some(twice) = first_twice(&self.fields) {
            let message = format!("`{}` is there twice", twice.word());
            wrong("fields", message, "each field once");
        }
        let pairs = [
            (FlowField::Source, FlowField::Destination),
            (FlowField::SourcePort, FlowField::DestinationPort),
        ];
        for (one, other) in pairs.into_iter().filter(|_| self.symmetric) {
            if has(one) != has(other) {
                let message = format!(
                    "`{}` without `{}` differs between the directions of a flow",
                    if has(one) { one.word() } else { other.word() },
                    if has(one) { other.word() } else { one.word() },
                );
                wrong("symmetric", message, "both of them, or neither");
            }
        }
        if self.symmetric && has(FlowField::Ingress) {
            let message = "the directions of a flow come in by different ports".to_owned();
            wrong("symmetric", message, "fields without `ingress`");
        }
        if self.vxlan_ports.len() > MOST_VXLAN_PORTS {
            let message = format!("{} ports of VXLAN", self.vxlan_ports.len());
            wrong("vxlan_ports", message, "4 or fewer");
        }
        if self.vxlan_ports.contains(&0) {
            wrong("vxlan_ports", "no datagram goes to port 0".to_owned(), "1 to 65535");
        }
        if let Some(twice) = first_twice(&self.vxlan_ports) {
            wrong("vxlan_ports", format!("{twice} is there twice"), "each port once");
        }
    }
}

fn first_twice<T: Copy + PartialEq>(list: &[T]) -> Option<T> {
    let twice = (1..list.len()).find(|&at| list[..at].contains(&list[at]));
    twice.map(|at| list[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::read;
    use crate::config::{Source, edit, render};

    #[test]
    fn the_usual_fields_need_not_be_said() {
        let usual = read("").unwrap();
        assert_eq!(usual.flows.fields, USUAL);
        assert_eq!(render(&usual), render(&read("[flows]\nvxlan_ports = [4789]\n").unwrap()));
        let said = read("[flows]\nfields = [\"source\", \"ingress\"]\ninner = true\n").unwrap();
        assert_eq!(said.flows.fields, [FlowField::Source, FlowField::Ingress]);
        assert_eq!(read(&render(&said)).unwrap(), said);
        let none = read("[flows]\nvxlan_ports = []\n").unwrap();
        assert_eq!(read(&render(&none)).unwrap().flows.vxlan_ports, Vec::<u16>::new());
    }

    #[test]
    fn they_are_said_in_commands() {
        let change = |config: &Config, command: &str| {
            edit(config, &Source::new("test", command), &Host::any()).unwrap()
        };
        let said = change(&Config::default(), "flows set fields source,destination inner");
        assert_eq!(said.flows.fields, USUAL[..2]);
        assert!(said.flows.inner);
        assert_eq!(change(&said, "flows set fields default inner off"), Config::default());
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let wrong = |text: &str| read(&format!("[flows]\n{text}\n")).unwrap_err();
        assert!(wrong("fields = []").contains("would tell flows apart"));
        assert!(wrong("fields = [\"source\", \"source\"]").contains("`source` is there twice"));
        assert!(wrong("fields = [\"src\"]").contains("`src` is not known here"));
        let half =
            wrong("fields = [\"source\", \"source_port\", \"destination_port\"]\nsymmetric = true");
        assert!(half.contains("`source` without `destination`"), "{half}");
        let half = wrong("fields = [\"destination_port\"]\nsymmetric = true");
        assert!(half.contains("`destination_port` without `source_port`"), "{half}");
        assert!(wrong("fields = [\"ingress\"]\nsymmetric = true").contains("different ports"));
        assert!(wrong("vxlan_ports = [1, 2, 3, 4, 5]").contains("5 ports of VXLAN"));
        assert!(wrong("vxlan_ports = [0]").contains("port 0"));
        assert!(wrong("vxlan_ports = [7, 7]").contains("7 is there twice"));
    }
}
