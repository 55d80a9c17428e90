//! One case: fills the tables, looks up in each in turn, again and again, and says what it took.

use std::time::Instant;

use fib::pages::PageSize;
use serde_json::{Value, json};

use crate::clock::{processor_time, time_stamp};
use crate::contestant::{self, Answers, BATCH, Filled, Keys};
use crate::random::Random;
use crate::reference::{self, Kind};
use crate::table::{Case, Family, Item};

/// Lookups of one table, before it is the next one's turn.
const LOOKUPS: usize = 1 << 17;
/// Lookups that are timed together: few, so that the scheduler falls between most of them.
const TIMED: usize = 1 << 12;
/// Single changes of a full table that are timed.
const CHANGES: usize = 20_000;
/// Memory that DPDK may take.
const DPDK_MEGABYTES: u32 = 9216;
/// A poptrie of more routes takes more memory to build than it is worth.
const POPTRIE_ROUTES: usize = 4_000_000;

/// Which keys are looked up.
const DESTINATIONS: [&str; 3] = ["uniform", "zipf", "one"];

/// A contestant in the race, or why it is not.
struct Entrant {
    name: &'static str,
    filled: Result<usize, String>,
    /// Which of DPDK's kernels, where there are two.
    vector: Option<bool>,
}

/// Measures `case`, and returns one row a contestant.
pub(crate) fn run(case: &Case, items: &[Item], page_size: PageSize, rounds: usize) -> Vec<Value> {
    let started = reference::start(DPDK_MEGABYTES, page_size == PageSize::Huge);
    let mut tables: Vec<Filled> = Vec::new();
    let mut entrants = Vec::new();
    let mut enter = |names: &[(&'static str, Option<bool>)], filled: Result<Filled, String>| {
        let filled = filled.map(|filled| {
            tables.push(filled);
            tables.len() - 1
        });
        for (name, vector) in names {
            entrants.push(Entrant { name, filled: filled.clone(), vector: *vector });
        }
    };
    let dpdk = |kind| match &started {
        Ok(()) => contestant::dpdk(kind, items),
        Err(error) => Err(error.to_string()),
    };
    enter(&[("volley", None)], contestant::ours(case.family, items, page_size));
    match case.family {
        Family::Ip4 => {
            let both = [("rte_fib scalar", Some(false)), ("rte_fib avx512", Some(true))];
            enter(&both, dpdk(Kind::Fib));
            enter(&[("rte_lpm", None)], dpdk(Kind::Lpm));
        }
        Family::Ip6 => {
            let both = [("rte_fib6 scalar", Some(false)), ("rte_fib6 avx512", Some(true))];
            enter(&both, dpdk(Kind::Fib6));
        }
        Family::Mac => enter(&[("rte_hash", None)], dpdk(Kind::Hash)),
    }
    if case.family != Family::Mac && items.len() <= POPTRIE_ROUTES {
        enter(&[("poptrie", None)], Ok(contestant::poptrie(case.family, items)));
    }
    let mut race = Race { tables, entrants };
    let mut random = Random(2);
    let destinations =
        DESTINATIONS.map(|kind| race.lookups(case, items, kind, &mut random, rounds));
    race.rows(items, &destinations)
}

struct Race {
    tables: Vec<Filled>,
    entrants: Vec<Entrant>,
}

/// What lookups in one table took, in cycles each, and how many differ from ours.
struct Timing {
    cycles: Vec<f64>,
    different: usize,
}

impl Race {
    /// Looks the same keys up in all tables in turn, `rounds` times.
    fn lookups(
        &self,
        case: &Case,
        items: &[Item],
        kind: &str,
        random: &mut Random,
        rounds: usize,
    ) -> Vec<Option<Timing>> {
        let one = destination(case.family, &items[random.below(items.len())], random);
        let keys: Vec<u128> = (0..LOOKUPS)
            .map(|_| match kind {
                "one" => one,
                "zipf" => destination(case.family, &items[random.zipf(items.len())], random),
                _ => destination(case.family, &items[random.below(items.len())], random),
            })
            .collect();
        let keys = Keys::new(case.family, &keys);
        let mut timings: Vec<Option<Timing>> = Vec::new();
        for entrant in &self.entrants {
            let usable = entrant.filled.is_ok() && self.choose(entrant);
            timings.push(
                usable.then(|| Timing {
                    cycles: Vec::new(),
                    different: self.different(entrant, &keys),
                }),
            );
        }
        let mut answers = Answers::new();
        for _ in 0..rounds {
            for (entrant, timing) in self.entrants.iter().zip(&mut timings) {
                let (Some(timing), Ok(table)) = (timing, &entrant.filled) else { continue };
                self.choose(entrant);
                let table = &self.tables[*table].contestant;
                // Once over to have its own lines in the caches again, then for the clock.
                for first in (0..LOOKUPS).step_by(BATCH) {
                    table.lookup(&keys, first, &mut answers);
                }
                for begin in (0..LOOKUPS).step_by(TIMED) {
                    let begun = time_stamp();
                    for first in (begin..begin + TIMED).step_by(BATCH) {
                        table.lookup(&keys, first, &mut answers);
                    }
                    timing.cycles.push((time_stamp() - begun) as f64 / TIMED as f64);
                }
            }
        }
        timings
    }

    /// Chooses the entrant's kernel; says whether the machine has it.
    fn choose(&self, entrant: &Entrant) -> bool {
        match (entrant.vector, &entrant.filled) {
            (Some(vector), Ok(table)) => match &self.tables[*table].contestant {
                contestant::Contestant::Dpdk(table, _) => table.choose(vector),
                _ => false,
            },
            _ => true,
        }
    }

    /// How many of `keys` yield something else than in ours.
    fn different(&self, entrant: &Entrant, keys: &Keys) -> usize {
        let (Ok(table), Some(Ok(ours))) =
            (&entrant.filled, self.entrants.first().map(|ours| &ours.filled))
        else {
            return 0;
        };
        let (table, ours) = (&self.tables[*table].contestant, &self.tables[*ours].contestant);
        let (mut theirs, mut mine) = (Answers::new(), Answers::new());
        let mut different = 0;
        for first in (0..LOOKUPS).step_by(BATCH) {
            table.lookup(keys, first, &mut theirs);
            ours.lookup(keys, first, &mut mine);
            let differs = |place: &usize| theirs.get(table, *place) != mine.get(ours, *place);
            different += (0..BATCH).filter(differs).count();
        }
        different
    }

    fn rows(&mut self, items: &[Item], destinations: &[Vec<Option<Timing>>; 3]) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut changes: Vec<Option<Option<Changes>>> = vec![None; self.tables.len()];
        for (place, entrant) in self.entrants.iter().enumerate() {
            let mut row = json!({ "contestant": entrant.name, "routes": items.len() });
            for (kind, timings) in DESTINATIONS.iter().zip(destinations) {
                let Some(timing) = &timings[place] else { continue };
                row[*kind] = spread(&timing.cycles);
                if timing.different > 0 {
                    let share = 100.0 * timing.different as f64 / LOOKUPS as f64;
                    row["note"] = json!(format!("{share:.1} % of answers differ from volley's"));
                }
            }
            match &entrant.filled {
                Err(why) => row["note"] = json!(why),
                Ok(table) => {
                    let filled = &self.tables[*table];
                    row["bytes_per_route"] = json!(filled.bytes as f64 / items.len() as f64);
                    row["add_ns"] = json!(filled.nanoseconds);
                    let took = changes[*table].get_or_insert_with(|| change_some(filled, items));
                    row["delete_ns"] = json!(took.map(|took| took.delete_ns));
                    row["add_p99_ns"] = json!(took.map(|took| took.add_p99_ns));
                    if filled.refused > 0 {
                        let share = 100.0 * filled.refused as f64 / items.len() as f64;
                        row["note"] = json!(format!("refused {share:.1} % of the routes"));
                    }
                    if destinations[0][place].is_none() {
                        row["note"] = json!("not on this machine");
                    }
                }
            }
            rows.push(row);
        }
        rows
    }
}

/// What changes of a full table take.
#[derive(Clone, Copy)]
struct Changes {
    /// One delete, on average.
    delete_ns: f64,
    /// One add, of 99 in 100 at most.
    add_p99_ns: f64,
}

/// Takes some items out of a full table, and adds them again one by one.
fn change_some(filled: &Filled, items: &[Item]) -> Option<Changes> {
    if !filled.contestant.is_dynamic() {
        return None;
    }
    let some = &items[..items.len().min(CHANGES)];
    let begun = processor_time();
    let deleted = some.iter().filter(|item| filled.contestant.delete(item)).count();
    let delete_ns = (processor_time() - begun).as_nanos() as f64 / deleted.max(1) as f64;
    let add = |item| {
        let begun = Instant::now();
        filled.contestant.add(item);
        begun.elapsed().as_nanos()
    };
    let mut adds: Vec<u128> = some.iter().map(add).collect();
    adds.sort_unstable();
    Some(Changes { delete_ns, add_p99_ns: adds[(adds.len() - 1) * 99 / 100] as f64 })
}

/// An address that `item` holds.
fn destination(family: Family, item: &Item, random: &mut Random) -> u128 {
    let bits = match family {
        Family::Ip4 => 32,
        Family::Ip6 => 128,
        Family::Mac => return item.key,
    };
    match bits - u32::from(item.length) {
        0 => item.key,
        host_bits => item.key | random.wide() >> (128 - host_bits),
    }
}

fn spread(cycles: &[f64]) -> Value {
    let mut sorted = cycles.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| sorted[(sorted.len() - 1) * share / 4];
    json!({ "median": at(2), "first_quartile": at(1), "third_quartile": at(3), "least": at(0) })
}
