//! What a change of the configuration came to, for a person.

use control::config::ChangeLine;
use control::view::{self, Style};

/// The steps of a change.
pub(crate) fn steps(changes: &[ChangeLine], style: Style) -> String {
    if changes.is_empty() {
        return "nothing changes\n".to_owned();
    }
    let line = |change: &ChangeLine| {
        let note = if change.needs_restart { "  (takes a restart)" } else { "" };
        format!("{}{note}\n", style.step(&change.text))
    };
    changes.iter().map(line).collect()
}

/// What a change came to.
pub(crate) fn applied(applied: view::Applied, style: Style) -> String {
    let mut text = steps(&applied.changes, style);
    if let Some(pending) = applied.pending {
        text.push_str(&format!("{pending}\n"));
    }
    text
}
