//! `volley show acl`.

use control::view;

use crate::output::Style;
use crate::table::Table;

/// Access lists, a line for each rule and one for what none fitted.
pub(crate) fn acls(acls: &[view::Acl], style: Style) -> String {
    let mut table = Table::new(&["list", "number", "rule", "packets", "bytes"]);
    for acl in acls {
        for (number, rule) in acl.rules.iter().enumerate() {
            table.row([
                acl.name.clone(),
                number.to_string(),
                rule.rule.clone(),
                rule.packets.to_string(),
                rule.bytes.to_string(),
            ]);
        }
        table.row([
            acl.name.clone(),
            "other".to_owned(),
            acl.default.clone(),
            acl.other_packets.to_string(),
            acl.other_bytes.to_string(),
        ]);
    }
    table.render(style)
}
