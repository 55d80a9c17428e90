//! The rows of ports, as workers see them: made of what each part has to say, written once a
//! change.

use crate::core::Core;
use crate::parts::Parts;
use crate::parts::remotes::Remotes;

/// Writes every row that differs from what workers have, if any may, all at once.
pub(crate) fn publish(parts: &mut Parts, core: &mut Core) {
    if !core.take_rows_differ() {
        return;
    }
    let mut changed: Vec<_> = core.take_gone().into_iter().map(|id| (id, None)).collect();
    for (name, port) in core.ports.iter() {
        let mut row = port.row(name);
        for part in parts.all() {
            part.row(core, name, port, &mut row);
        }
        let mut rows = Remotes::rows(port, &mut row);
        rows.push((port.id, row));
        let differs = |(id, row): &_| core.dataplane.interfaces().get(*id) != Some(row);
        changed.extend(rows.into_iter().filter(differs).map(|(id, row)| (id, Some(row))));
    }
    if !changed.is_empty() {
        core.dataplane.set_interfaces(changed);
    }
    for part in parts.all_mut() {
        part.published(core);
    }
}
