//! Tables of bridges of flows: the rows of Flow_Table, as the router has them.

use control::config::objects::bridge_tables::is_of_bits;
use ovsdb::{Atom, Datum, Row, Rows};

/// The last table there is.
const LAST: i64 = 253;
/// Flows of a bridge.
const MOST_FLOWS: i64 = 1_000_000;

/// What `bridge set BRIDGE tables` says of each table of a bridge, and what is wrong with rows.
pub(super) fn words(rows: &Rows, name: &str, bridge: &Row) -> (Vec<String>, Vec<String>) {
    let (mut made, mut wrong) = (Vec::new(), Vec::new());
    let Datum::Map(pairs) = bridge.get("flow_tables") else { return (made, wrong) };
    for (number, uuid) in pairs {
        let (Atom::Whole(number), Atom::Uuid(uuid)) = (number, uuid) else { continue };
        let Some(table) = rows.get("Flow_Table", uuid) else { continue };
        if !(0..=LAST).contains(number) {
            wrong.push(format!("{name}: there is no table {number}, {LAST} is the last"));
            continue;
        }
        let mut words = number.to_string();
        if let Some(text) = table.text("name").filter(|text| !text.is_empty()) {
            // It is said in a command.
            let is_word = text.bytes().all(|it| it.is_ascii_graphic() && !b"\"'\\".contains(&it));
            match is_word && text.len() <= 31 {
                true => words.push_str(&format!(" name {text}")),
                false => wrong.push(format!("{name}: `{text}` is no name of a table")),
            }
        }
        if let Some(limit) = table.whole("flow_limit") {
            words.push_str(&format!(" flow_limit {}", limit.clamp(0, MOST_FLOWS)));
        }
        if table.text("overflow_policy") == Some("evict") {
            words.push_str(" evict true");
        }
        for group in table.get("groups").atoms() {
            let group = group.to_string();
            match is_of_bits(&group) {
                true => words.push_str(&format!(" groups {group}")),
                // As in Open vSwitch it makes no groups.
                false => wrong.push(format!("{name}: table {number}: `{group}` is no field")),
            }
        }
        made.push(words);
    }
    made.sort();
    (made, wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_become_words_and_what_is_not_done_is_told() {
        let mut rows = Rows::default();
        let row = |row| json!({ "new": row });
        let tables = json!({
            "a": row(json!({ "name": "acl", "flow_limit": 9, "overflow_policy": "refuse" })),
            "b": row(json!({ "flow_limit": 5, "overflow_policy": "evict",
                "groups": ["set", ["NXM_OF_IN_PORT[]", "NXM_OF_VLAN_TCI[0..11]", "in port"]] })),
            "c": row(json!({ "name": "two words", "groups": "reg0[]" })),
        });
        let of = |uuid: &str| json!(["uuid", uuid]);
        let map = json!(["map", [[3, of("a")], [0, of("b")], [7, of("c")], [254, of("a")]]]);
        let bridge = json!({ "br": row(json!({ "name": "br0", "flow_tables": map })) });
        rows.update(&json!({ "Flow_Table": tables, "Bridge": bridge })).unwrap();
        let bridge = rows.get("Bridge", "br").unwrap();
        let (made, wrong) = words(&rows, "br0", bridge);
        assert_eq!(
            made,
            [
                "0 flow_limit 5 evict true groups NXM_OF_IN_PORT[] groups NXM_OF_VLAN_TCI[0..11]",
                "3 name acl flow_limit 9",
                "7 groups reg0[]",
            ]
        );
        assert_eq!(
            wrong,
            [
                "br0: table 0: `in port` is no field",
                "br0: there is no table 254, 253 is the last",
                "br0: `two words` is no name of a table",
            ]
        );
    }
}
