//! What EVPN is shown as.

use super::super::Bridges;
use super::post::Post;
use super::remote::Remote;
use control::view;

impl Bridges {
    pub(crate) fn show_evpn(&self) -> Vec<view::Evpn> {
        let asking = self.bridges.iter().filter_map(|(name, bridge)| {
            let evpn = bridge.config.evpn.as_deref()?;
            Some((name, evpn))
        });
        let show = |(name, evpn): (_, &control::config::objects::bridge_evpn::Evpn)| {
            let post = self.evpn.posts.get(name);
            let of = |count: fn(&Post) -> usize| post.map_or(0, count);
            let floods = post.map(|post| post.remote.floods().map(|to| to.to_string()).collect());
            view::Evpn {
                bridge: name.to_string(),
                name: evpn.name_for(name).to_owned(),
                netns: evpn.netns.as_ref().map(ToString::to_string),
                vni: post.map(|post| post.wanted.options.vni),
                routes: evpn.routes,
                problem: self.evpn.problems.get(name).cloned(),
                told_stations: of(|post| post.local.stations()),
                told_addresses: of(|post| post.local.addresses()),
                stations: of(|post| post.remote.stations().count()),
                addresses: of(|post| post.remote.addresses().count()),
                flooded_to: floods.unwrap_or_default(),
                refused: post.map_or(0, |post| post.refused + refused(&post.remote)),
                malformed: self.evpn.malformed(),
            }
        };
        asking.map(show).collect()
    }
}

fn refused(remote: &Remote) -> u64 {
    remote.refused
}

impl super::Evpn {
    fn malformed(&self) -> u64 {
        self.malformed + self.watches.iter().map(|(_, watch)| watch.malformed()).sum::<u64>()
    }
}
