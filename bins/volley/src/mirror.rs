//! `volley show mirror`.

use control::view;

use crate::output::Style;
use crate::table::Table;

/// Mirrors, a line for each source.
pub(crate) fn mirrors(mirrors: &[view::Mirror], style: Style) -> String {
    let heading = ["mirror", "to", "from", "copies", "received", "sent", "lost"];
    let mut table = Table::new(&heading);
    for mirror in mirrors {
        for source in &mirror.sources {
            table.row([
                mirror.name.clone(),
                mirror.destination.clone(),
                source.port.clone(),
                source.direction.clone(),
                source.received.to_string(),
                source.sent.to_string(),
                source.lost.to_string(),
            ]);
        }
    }
    table.render(style)
}
