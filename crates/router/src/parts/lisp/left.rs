//! The map cache over a restart: what was learned is known for the rest of its time.

use crate::part::Leaves;
use lisp::{Entry, MapCache};
use state::Table;
use state::mappings::{self, Mapping};
use std::collections::BTreeSet;
use std::time::Duration;
use wire::lisp::{Action, Eid, Locator};

/// Actions by the numbers of RFC 9301.
const ACTIONS: [(Action, u8); 4] =
    [(Action::None, 0), (Action::Native, 1), (Action::Ask, 2), (Action::Drop, 3)];

pub(super) fn leaves(cache: &MapCache, now_ns: u64) -> Leaves {
    let all: Vec<_> = cache.learned().map(|(eid, entry)| (*eid, entry.clone())).collect();
    let make = move || {
        let all: Vec<_> = all.iter().map(|(eid, entry)| left(eid, entry, now_ns)).collect();
        mappings::write(&all)
    };
    (Table::Mappings, Box::new(make))
}

fn left(eid: &Eid, entry: &Entry, now_ns: u64) -> Mapping {
    let action = ACTIONS.iter().find(|(action, _)| *action == entry.action);
    let locator = |it: &Locator| mappings::Locator {
        address: it.address,
        priority: it.priority,
        weight: it.weight,
        flags: u8::from(it.is_local) << 2 | u8::from(it.is_probed) << 1 | u8::from(it.is_reachable),
    };
    Mapping {
        instance: eid.instance(),
        address: eid.address(),
        length: eid.length(),
        action: action.map_or(0, |(_, number)| *number),
        left_ms: entry.expires_ns.unwrap_or(u64::MAX).saturating_sub(now_ns) / 1_000_000,
        locators: entry.locators.iter().map(locator).collect(),
    }
}

/// Knows what was learned again, of instances that there are.
pub(super) fn take_over(
    cache: &mut MapCache,
    now_ns: u64,
    (left, age): &(Vec<Mapping>, Duration),
    instances: &BTreeSet<u32>,
    most: usize,
) {
    let age_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    for it in left {
        let eid = Eid::new(it.instance, it.address, it.length);
        let Some(eid) = eid.filter(|eid| instances.contains(&eid.instance())) else { continue };
        let action = ACTIONS.iter().find(|(_, number)| *number == it.action);
        let locator = |it: &mappings::Locator| Locator {
            address: it.address,
            priority: it.priority,
            weight: it.weight,
            is_local: it.flags & 4 != 0,
            is_probed: it.flags & 2 != 0,
            is_reachable: it.flags & 1 != 0,
        };
        let entry = Entry {
            locators: it.locators.iter().map(locator).collect(),
            action: action.map_or(Action::None, |(action, _)| *action),
            expires_ns: None,
        };
        let left_ns = it.left_ms.saturating_sub(age_ms).saturating_mul(1_000_000);
        cache.recall(now_ns, eid, left_ns, entry, most);
    }
}
