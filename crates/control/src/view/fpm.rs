//! Routes that FRR's zebra brings.

use super::answer::*;

/// Whether zebra is listened to, and what it told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Fpm {
    /// Where it may connect to; none: nobody listens.
    pub listen: Option<String>,
    /// In which network namespace; none: the router's own.
    pub netns: Option<String>,
    /// Who is connected.
    pub peer: Option<String>,
    /// Sessions so far.
    pub sessions: u64,
    /// Routes that zebra told.
    pub told: usize,
    /// Those of them whose next hop was not told, or is gone.
    pub waiting: usize,
    /// Those of sessions before, or of a router before this one, that it has not told again.
    pub stale: usize,
    /// Next hops and groups of them that they share.
    pub groups: usize,
    /// Those that zebra told that are in our tables of routes.
    pub routes: usize,
    /// Those that forward.
    pub active: usize,
    /// Routes that could not be taken, since the listener began.
    pub refused: u64,
    /// Why the last one could not, or the last session ended.
    pub problem: Option<String>,
}

impl View for Fpm {
    view!("show fpm", "/v1/fpm", All => Self, "The routes that FRR brings");
    counters!("sessions", "refused");
    const METRICS: Option<Metrics<Self>> = Some((All, |fpm, out| {
        if fpm.listen.is_none() {
            return;
        }
        out.one(fpm)
            .gauge("fpm_connected", "Whether zebra is connected.", |fpm| {
                u8::from(fpm.peer.is_some())
            })
            .gauge("fpm_routes", "Routes that zebra brought.", |fpm| fpm.routes)
            .gauge("fpm_waiting_routes", "Routes whose next hop zebra has not told.", |fpm| {
                fpm.waiting
            })
            .gauge("fpm_stale_routes", "Routes that zebra has not told again.", |fpm| fpm.stale)
            .gauge("fpm_groups", "Next hops and groups that routes of zebra's share.", |fpm| {
                fpm.groups
            })
            .counter("fpm_refused_routes", "Routes of zebra's that could not be taken.", |fpm| {
                fpm.refused
            });
    }));

    fn text(fpm: &Self, style: Style) -> String {
        let Some(listen) = &fpm.listen else {
            return "nobody listens: there is no [fpm]\n".to_owned();
        };
        let table = table!([fpm], fpm => {
            "listen": listen, "netns": fpm.netns,
            "zebra": fpm.peer.as_deref().unwrap_or("not connected"), "sessions": fpm.sessions,
            "told": fpm.told, "waiting": fpm.waiting, "stale": fpm.stale, "groups": fpm.groups, "routes": fpm.routes, "active": fpm.active, "refused": fpm.refused,
        });
        let problem = fpm.problem.as_ref().map(|problem| format!("{problem}\n"));
        table.render(style) + &problem.unwrap_or_default()
    }
}
