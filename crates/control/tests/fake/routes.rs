//! The routes of the router without workers: of its ports, its configuration, and those that were
//! loaded.

use super::FakeRouter;
use crate::config::Prefix;
use crate::config::objects::route::{NextHop, Route, RouteKey};
use crate::config::objects::vrf::{DEFAULT_NAME, name_of};
use crate::engine::EngineError;
use crate::view::{self, Answer, Answered, Shown};
use fib::route_file::FilePrefix;

/// Routes that are told at a time, or one more.
const SLICE: usize = 2;

impl Answer<view::Routes> for FakeRouter {
    fn answer(&mut self, filter: &view::RouteFilter) -> Answered<view::Routes> {
        let within = match &filter.within {
            Some(text) => {
                Some(text.parse::<Prefix>().map_err(|_| EngineError::unknown("prefix", text, []))?)
            }
            None => None,
        };
        let place = |prefix: &Prefix| {
            format!("{}/{}", prefix.address(), prefix.length()).parse::<FilePrefix>().ok()
        };
        let (mut slice, mut next) = (Vec::<(Prefix, view::Route)>::new(), None);
        let is_before =
            |(prefix, _): &(Prefix, _)| filter.from.is_some() && place(prefix) != filter.from;
        for (prefix, route) in self.routes_of(filter.vrf())?.into_iter().skip_while(is_before) {
            if slice.len() >= SLICE && slice.last().is_some_and(|(last, _)| *last != prefix) {
                next = place(&prefix);
                break;
            }
            slice.push((prefix, route));
        }
        let total = slice.len();
        let routes = slice
            .into_iter()
            .filter(|(prefix, route)| {
                within.is_none_or(|w| w.contains(prefix.address()) && w.length() <= prefix.length())
                    && filter.source.is_none_or(|source| route.source == source)
            })
            .map(|(_, route)| route)
            .take(filter.limit.unwrap_or(usize::MAX))
            .collect();
        Ok(Shown::Whole(view::Routes { total, routes, next }))
    }
}

impl Answer<view::Lookup> for FakeRouter {
    fn answer(&mut self, filter: &view::LookupFilter) -> Answered<view::Lookup> {
        let (address, vrf) = (filter.address, filter.vrf());
        let matching =
            self.routes_of(vrf)?.into_iter().filter(|(prefix, _)| prefix.contains(address));
        let route = matching.max_by_key(|(prefix, _)| prefix.length()).map(|(_, route)| route);
        let outcome = match &route {
            None => "no route".to_owned(),
            Some(view::Route { action: Some(action), .. }) => action.clone(),
            Some(_) => "forwarded".to_owned(),
        };
        let (address, vrf) = (address.to_string(), vrf.to_owned());
        let lookup = view::Lookup { address, vrf, route, outcome, depth: 1, cache_lines: 1 };
        Ok(Shown::Whole(lookup))
    }
}

impl FakeRouter {
    /// The routes of all VRFs, in the order of their prefixes.
    pub(super) fn all_routes(&self) -> Vec<(Prefix, view::Route)> {
        let mut routes: Vec<(Prefix, view::Route)> = Vec::new();
        for (name, port) in self.config.ports.iter() {
            for address in &port.addresses {
                let hop = view::NextHop {
                    address: None,
                    port: Some(name.to_string()),
                    weight: 1,
                    usable: port.up,
                    left: None,
                };
                let prefix = address.prefix();
                let vrf = name_of(port.vrf.as_ref());
                let source = view::RouteSource::Connected;
                routes.push((prefix, route(prefix, vrf, source, None, vec![hop])));
            }
        }
        for (RouteKey { vrf, prefix }, configured) in self.config.routes.iter() {
            let (action, hops) = match configured {
                Route::Via(hops) => (None, hops.iter().map(next_hop).collect()),
                Route::Vrf(_) => (Some("via vrf"), Vec::new()),
                Route::Blackhole => (Some("blackhole"), Vec::new()),
                Route::Unreachable => (Some("unreachable"), Vec::new()),
                Route::Prohibit => (Some("prohibit"), Vec::new()),
            };
            let (vrf, source) = (name_of(vrf.as_ref()), view::RouteSource::Static);
            routes.push((*prefix, route(*prefix, vrf, source, action, hops)));
        }
        for ((vrf, source, prefix), hop) in &self.bulk {
            let Ok(prefix) = prefix.to_string().parse() else { continue };
            let address = hop.map(|hop| hop.to_string());
            let hop = view::NextHop { address, port: None, weight: 1, usable: true, left: None };
            let mut route = route(prefix, vrf, view::RouteSource::Dynamic, None, vec![hop]);
            route.origin = format!("{}/{}", source.protocol, source.preference);
            routes.push((prefix, route));
        }
        routes.sort_by_key(|(prefix, _)| *prefix);
        routes
    }

    /// Those of one VRF.
    pub(super) fn routes_of(&self, vrf: &str) -> Result<Vec<(Prefix, view::Route)>, EngineError> {
        if vrf != DEFAULT_NAME && !self.config.vrfs.iter().any(|(name, _)| name.as_str() == vrf) {
            return Err(EngineError::unknown("vrf", vrf, []));
        }
        Ok(self.all_routes().into_iter().filter(|(_, route)| route.vrf == vrf).collect())
    }
}

fn next_hop(hop: &NextHop) -> view::NextHop {
    view::NextHop {
        address: hop.address.map(|address| address.to_string()),
        port: hop.port.as_ref().map(ToString::to_string),
        weight: hop.weight,
        usable: true,
        left: None,
    }
}

fn route(
    prefix: Prefix,
    vrf: &str,
    source: view::RouteSource,
    action: Option<&str>,
    next_hops: Vec<view::NextHop>,
) -> view::Route {
    let action = action.map(str::to_owned);
    let origin = match source {
        view::RouteSource::Connected => "connected/0",
        _ => "static/1",
    };
    let (prefix, vrf, origin) = (prefix.to_string(), vrf.to_owned(), origin.to_owned());
    view::Route { prefix, vrf, source, origin, active: true, action, next_hops }
}
