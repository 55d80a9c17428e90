//! What zebra may send, on any bytes: frames, messages, routes and next hops, and what is learned
//! of them.
#![no_main]

use kernel::fpm::{Leads, Learned, Update};
use libfuzzer_sys::fuzz_target;
use netlink::{Messages, fpm, route::RouteKey};
use std::collections::{HashMap, HashSet};

fuzz_target!(|bytes: &[u8]| {
    let (mut learned, mut told) = (Learned::default(), Told::default());
    told.hear(&mut learned, bytes);
    learned.begin();
    // Half of it is told again, and the rest is swept.
    told.hear(&mut learned, &bytes[..bytes.len() / 2]);
    learned.sweep();
    told.take(&mut learned);
    learned.begin();
    learned.sweep();
    told.take(&mut learned);
    assert_eq!((learned.routes(), learned.waiting()), (0, 0));
    assert!(told.routes.is_empty() && told.shared.is_empty());
});

/// What the router was told.
#[derive(Default)]
struct Told {
    routes: HashMap<RouteKey, Leads>,
    shared: HashSet<u32>,
}

impl Told {
    /// Hears a stream until it ends, or says something wrong.
    fn hear(&mut self, learned: &mut Learned, mut bytes: &[u8]) {
        while let Ok(Some((payload, length))) = fpm::frame(bytes) {
            assert!(payload.len() + fpm::HEADER == length && length <= fpm::LONGEST);
            for message in Messages::new(payload) {
                // The kernel tells of neighbours, stations and links in messages of the same form.
                let _told = message.as_ref().map(netlink::neighbor::read);
                let _noted = message.as_ref().map(netlink::bridge::noted_of);
                let _table = message.as_ref().map(netlink::vrf::table_of);
                let heard = message.and_then(|message| learned.hear(&message));
                self.take(learned);
                if heard.is_err() {
                    return;
                }
            }
            bytes = &bytes[length..];
        }
    }

    /// Each route and each number is told once, and no number is missing while a route has it.
    fn take(&mut self, learned: &mut Learned) {
        let updates = learned.take_updates();
        let (mut routes, mut shared) = (HashSet::new(), HashSet::new());
        for update in updates {
            match update {
                Update::Shared(number, leads) => {
                    assert!(shared.insert(number));
                    assert!(!matches!(leads, Some(Leads::Shared(_))));
                    self.shared.insert(number);
                }
                Update::Forgotten(number) => assert!(self.shared.remove(&number)),
                Update::Route(key, leads) => {
                    assert!(routes.insert(key));
                    match leads {
                        Some(leads) => self.routes.insert(key, leads),
                        None => self.routes.remove(&key),
                    };
                }
            }
        }
        assert_eq!(self.routes.len(), learned.routes());
        assert!(learned.waiting() <= learned.routes());
        for leads in self.routes.values() {
            if let Leads::Shared(number) = leads {
                assert!(self.shared.contains(number));
            }
        }
    }
}
