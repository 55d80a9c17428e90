//! Tables of a bridge of flows: their names, and how many flows they may have.

use super::bridge::{Bridge, BridgeName};
use crate::config::declare::{as_field, object};
use crate::config::report::{Problem, Report};

/// Octets of a name, at most: messages of OpenFlow have 32, a zero among them.
const NAME_BYTES: usize = 31;
/// The last table there is.
const LAST: u8 = 253;

object! {
    /// A table of a bridge of flows
    pub struct FlowTable {
        /// Its number
        pub number: u8 as "0" [0..=LAST],
        /// How tools call it; by its number when left out
        pub name: Option<String> as "acl" = None,
        /// Flows that it may have; as many as the bridge when left out
        pub flow_limit: Option<u32> as "1000" [0..=1_000_000] = None,
        /// Whether flows with a timeout make room for others beyond that; else those are refused
        pub evict: bool = false,
        /// What such flows are told apart by: one of the largest group goes
        pub groups: Vec<String> as "NXM_OF_IN_PORT[]" = Vec::new(),
    }
}
as_field!(FlowTable table);

/// Whether a text may say bits of a field: `NAME[]`, `NAME[3]`, `NAME[0..11]`. Which fields there
/// are the flow switch knows.
pub fn is_of_bits(text: &str) -> bool {
    let Some((name, bits)) = text.strip_suffix(']').and_then(|it| it.split_once('[')) else {
        return false;
    };
    let (first, last) = bits.split_once("..").unwrap_or((bits, bits));
    let is_number = |it: &str| it.parse::<u16>().is_ok();
    !name.is_empty()
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        && (bits.is_empty() || is_number(first) && is_number(last))
}

/// Finds what is wrong with the tables of a bridge.
pub(super) fn check(name: &BridgeName, bridge: &Bridge, report: &mut Report) {
    let field = |index: usize| format!("bridge.{name}.tables[{index}]");
    for (index, table) in bridge.tables.iter().enumerate() {
        let before = &bridge.tables[..index];
        for said in table.groups.iter().filter(|said| !is_of_bits(said)) {
            let message = format!("`{said}` is no bits of a field");
            let problem = Problem::new(format!("{}.groups", field(index)), message);
            report.push(problem.expected("fields as in \"NXM_OF_IN_PORT[]\", \"vlan_tci[0..11]\""));
        }
        if before.iter().any(|other| other.number == table.number) {
            let message = format!("table {} is listed twice", table.number);
            report.push(Problem::new(field(index), message).expected("each table once"));
        }
        let Some(said) = &table.name else { continue };
        let is_word = said.bytes().all(|it| it.is_ascii_graphic());
        let is_number = said.bytes().all(|it| it.is_ascii_digit());
        if said.is_empty() || said.len() > NAME_BYTES || !is_word || is_number {
            let problem = Problem::new(field(index), format!("`{said}` is no name of a table"));
            report.push(problem.expected("1 to 31 characters without spaces, not digits alone"));
        }
        if before.iter().any(|other| other.name == table.name) {
            let message = format!("`{said}` is another table's name");
            report.push(Problem::new(field(index), message).expected("each name once"));
        }
    }
    if !bridge.has_flows() && !bridge.tables.is_empty() {
        let message = format!("{name} is no bridge of flows, which `tables` are for");
        let problem = Problem::new(format!("bridge.{name}.tables"), message);
        report.push(problem.expected("`tables` with `mode = \"flow\"`"));
    }
}

#[cfg(test)]
mod tests {
    use crate::config::tests::read;

    #[test]
    fn tables_have_a_number_and_a_name_each_of_its_own() {
        let with = |mode: &str, tables: &str| {
            let read = read(&format!("[bridge.br0]\nmode = \"{mode}\"\ntables = [{tables}]\n"));
            read.map(|config| config.bridges.iter().next().map(|it| it.1.tables.clone()))
        };
        let one = "{ number = 3, name = \"acl\", flow_limit = 9 }";
        let tables = with("flow", one).unwrap().unwrap();
        assert_eq!((tables[0].number, tables[0].flow_limit), (3, Some(9)));
        assert!(!tables[0].evict && tables[0].groups.is_empty());
        let groups = r#"["NXM_OF_IN_PORT[]", "vlan_tci[0..11]", "reg0[3]"]"#;
        let tables = with("flow", &format!("{{ number = 3, evict = true, groups = {groups} }}"));
        let tables = tables.unwrap().unwrap();
        assert_eq!((tables[0].evict, tables[0].groups.len()), (true, 3));
        for wrong in
            ["in_port", "in_port[", "[]", "in port[]", "in_port[a]", "in_port[1..]", "x[1]y"]
        {
            let table = format!("{{ number = 3, groups = [\"{wrong}\"] }}");
            let error = with("flow", &table).unwrap_err();
            assert!(error.contains("is no bits of a field"), "{error}");
        }
        for (tables, told) in [
            ("{ number = 3 }, { number = 3 }", "table 3 is listed twice"),
            ("{ number = 3, name = \"a b\" }", "`a b` is no name of a table"),
            ("{ number = 3, name = \"17\" }", "`17` is no name of a table"),
            ("{ number = 3, name = \"a\" }, { number = 4, name = \"a\" }", "another table's name"),
            ("{ number = 254 }", "254"),
        ] {
            let error = with("flow", tables).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
        let told = with("learning", one).unwrap_err();
        assert!(told.contains("br0 is no bridge of flows, which `tables` are for"), "{told}");
    }
}
