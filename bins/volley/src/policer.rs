//! `volley show policers`.

use control::view;

use crate::output::Style;
use crate::table::Table;

/// Policers, a line for each colour.
pub(crate) fn policers(policers: &[view::Policer], style: Style) -> String {
    let mut table =
        Table::new(&["policer", "agreed", "in", "out", "colour", "action", "packets", "bytes"]);
    for policer in policers {
        for colour in &policer.colours {
            table.row([
                policer.name.clone(),
                agreed(policer),
                policer.ports_in.join(" "),
                policer.ports_out.join(" "),
                colour.colour.clone(),
                colour.action.clone(),
                colour.packets.to_string(),
                colour.bytes.to_string(),
            ]);
        }
    }
    table.render(style)
}

/// Rates with their bursts.
fn agreed(policer: &view::Policer) -> String {
    let more = match (&policer.excess_burst, &policer.peak_rate, &policer.peak_burst) {
        (Some(excess), ..) => format!(" +{excess}"),
        (_, Some(rate), Some(burst)) => format!(", {rate} {burst}"),
        _ => String::new(),
    };
    format!("{} {}{more}", policer.rate, policer.burst)
}
