//! `volley show reassembly`.

use control::view;

use crate::output::Style;
use crate::table::Table;

/// What is held, and a line for each counter.
pub(crate) fn reassembly(reassembly: &view::Reassembly, style: Style) -> String {
    let mut table = Table::new(&["what", "count"]);
    table.row(["held".to_owned(), reassembly.datagrams.to_string()]);
    table.row(["held-bytes".to_owned(), reassembly.bytes.to_string()]);
    for (name, count) in reassembly.counters() {
        table.row([name.to_owned(), count.to_string()]);
    }
    table.render(style)
}
