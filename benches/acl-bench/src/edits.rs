//! What a change of one rule takes, beside making the list anew.
//!
//! ```text
//!   a list of many rules ─▶ one goes, comes elsewhere, says something else ─▶ its next version
//! ```

use acl::synthetic::{self, Flavour, Numbers};
use acl::{Acl4, Action, Edit, Places, Rule};
use serde_json::{Value, json};
use std::time::Instant;

/// Changes of each list.
const CHANGES: usize = 300;

/// One row for each flavour.
pub(crate) fn measure() -> Result<Vec<Value>, String> {
    [Flavour::Acl, Flavour::Firewall, Flavour::Chain].into_iter().map(|it| of(it, 50_000)).collect()
}

struct Kept {
    rules: Vec<Rule<u32>>,
    places: Places,
    list: Acl4,
}

impl Kept {
    fn new(rules: Vec<Rule<u32>>) -> Result<Self, String> {
        let numbered: Vec<_> = (0..).zip(rules.iter().copied()).collect();
        let list = Acl4::lasting(&numbered, Action::Deny, crate::ROOM);
        let list = list.map_err(|error| error.to_string())?;
        let places = Places::new(rules.iter().map(|rule| rule.action), rules.len() / 8);
        Ok(Self { rules, places, list })
    }

    /// The next version, with a rule, or none, in the place of others.
    #[inline(never)]
    fn amend_one(
        &self,
        at: usize,
        others: usize,
        rule: Option<Rule<u32>>,
    ) -> Option<(Places, Acl4)> {
        let asked: Vec<_> = rule.iter().map(|rule| (rule.action, None)).collect();
        let places = self.places.with(at..at + others, &asked)?;
        let mut edits = Vec::new();
        for place in at..at + others {
            edits.push(Edit::Take(self.rules[place], self.places.at(place)?));
        }
        if let Some(rule) = rule {
            edits.push(Edit::Put(rule, places.at(at)?));
        }
        let list = self.list.amended(&edits)?;
        Some((places, list))
    }
}

fn of(flavour: Flavour, count: usize) -> Result<Value, String> {
    let rules: Vec<_> =
        synthetic::rules::<u32>(flavour, count, 5).into_iter().map(|(_, rule)| rule).collect();
    let fresh = synthetic::rules::<u32>(flavour, CHANGES + 1, 9);
    let begun = Instant::now();
    let mut kept = Kept::new(rules)?;
    let anew_us = begun.elapsed().as_micros();
    let mut numbers = Numbers::new(7);
    let (mut took_us, mut again) = (Vec::new(), 0);
    for (_, rule) in &fresh[..CHANGES] {
        let at = numbers.below(count as u64 - CHANGES as u64) as usize;
        let (others, rule) = match numbers.below(4) {
            0 => (0, Some(*rule)),
            1 => (1, None),
            2 => (1, Some(*rule)),
            _ => (1, Some(Rule { action: Action::Permit, ..kept.rules[at] })),
        };
        let begun = Instant::now();
        let made = kept.amend_one(at, others, rule);
        took_us.push(begun.elapsed().as_nanos() as f64 / 1000.0);
        kept.rules.splice(at..at + others, rule);
        match made {
            Some((places, list)) => (kept.places, kept.list) = (places, list),
            None => {
                again += 1;
                kept = Kept::new(kept.rules)?;
            }
        }
    }
    took_us.sort_by(f64::total_cmp);
    let (median, most) = (took_us[CHANGES / 2], took_us[CHANGES * 99 / 100]);
    eprintln!(
        "{flavour:?} {count} rules: anew {anew_us} us, one rule {median:.0} us, 99 of 100 in \
         {most:.0} us, {again} of {CHANGES} made anew, {} KiB",
        kept.list.shape().bytes >> 10
    );
    Ok(json!({ "flavour": format!("{flavour:?}"), "rules": count, "anew_us": anew_us as u64,
        "one_rule_us": median, "one_rule_p99_us": most, "made_anew": again, "changes": CHANGES }))
}
