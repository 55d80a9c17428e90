//! `volley show fpm`.

use control::view;

use crate::output::Style;
use crate::table::Table;

/// The listener, its session, and what it brought.
pub(crate) fn fpm(fpm: &view::Fpm, style: Style) -> String {
    let Some(listen) = &fpm.listen else { return "nobody listens: there is no [fpm]\n".to_owned() };
    let heading = ["listen", "netns", "zebra", "sessions", "told", "routes", "active", "refused"];
    let mut table = Table::new(&heading);
    table.row([
        listen.clone(),
        fpm.netns.clone().unwrap_or_else(|| "-".to_owned()),
        fpm.peer.clone().unwrap_or_else(|| "not connected".to_owned()),
        fpm.sessions.to_string(),
        fpm.told.to_string(),
        fpm.routes.to_string(),
        fpm.active.to_string(),
        fpm.refused.to_string(),
    ]);
    let problem = fpm.problem.as_ref().map(|problem| format!("{problem}\n"));
    table.render(style) + &problem.unwrap_or_default()
}
