use super::*;
use proptest::prelude::*;

/// A calendar, and beside it a list that is searched from end to end.
struct Pair {
    calendar: Calendar,
    times: Vec<Option<u64>>,
}

impl Pair {
    fn new(players: usize) -> Self {
        Self { calendar: Calendar::new(players), times: vec![None; players] }
    }

    fn set(&mut self, player: u32, at_ns: u64) {
        let is_nearer = self.times[player as usize].is_some_and(|before_ns| at_ns < before_ns);
        self.times[player as usize] = Some(at_ns);
        if is_nearer {
            self.calendar.hasten(player, at_ns);
        } else {
            self.calendar.wait(player, at_ns);
        }
    }

    /// Takes those whose time has come; who comes too early waits again.
    fn take(&mut self, now_ns: u64, today: bool) -> Vec<u32> {
        let mut due = Vec::new();
        if today {
            self.calendar.take_today(now_ns, &mut due);
        } else {
            self.calendar.take_due(now_ns, &mut due);
        }
        for &player in &due {
            let at_ns = self.times[player as usize].unwrap();
            if at_ns > now_ns {
                self.calendar.wait(player, at_ns);
            }
        }
        due.retain(|&player| self.times[player as usize].is_some_and(|at_ns| at_ns <= now_ns));
        due.iter().for_each(|&player| self.times[player as usize] = None);
        due
    }

    fn soonest(&self) -> Option<u64> {
        self.calendar.soonest(|player| self.times[player as usize].unwrap())
    }
}

/// Near and far times alike.
fn any_step() -> impl Strategy<Value = u64> {
    (0u32..36).prop_flat_map(|bits| 0..1u64 << bits)
}

proptest! {
    #[test]
    fn it_agrees_with_a_list_searched_from_end_to_end(
        players in 1usize..20,
        moves in prop::collection::vec((0u32..20, 0u8..4, any_step()), 1..200),
    ) {
        let mut pair = Pair::new(players);
        let mut now_ns = 0u64;
        for (player, what, step_ns) in moves {
            let player = player % players as u32;
            match what {
                0 | 1 => pair.set(player, now_ns + 1 + step_ns),
                2 => {
                    now_ns += step_ns;
                    pair.take(now_ns, false);
                    // Who waits still is due within the day.
                    let soonest = pair.times.iter().flatten().min();
                    prop_assert!(soonest.is_none_or(|&at_ns| at_ns + DAY_NS > now_ns));
                }
                _ => {
                    now_ns += step_ns;
                    pair.take(now_ns, true);
                    prop_assert!(pair.times.iter().flatten().all(|&at_ns| at_ns > now_ns));
                }
            }
            // It may say too early a time, never too late a one.
            let soonest = pair.times.iter().flatten().min().copied();
            prop_assert_eq!(pair.soonest().is_some(), soonest.is_some());
            prop_assert!(pair.soonest() <= soonest);
        }
        // Looking again when it says so, everyone is found at its very time.
        while let Some(look_ns) = pair.soonest() {
            let soonest = pair.times.iter().flatten().min().copied();
            now_ns = now_ns.max(look_ns);
            prop_assert!(pair.calendar.may_be_due(now_ns + DAY_NS));
            let due = pair.take(now_ns, true);
            prop_assert!(due.is_empty() || soonest.is_some_and(|at_ns| at_ns <= now_ns));
        }
    }
}

#[test]
fn a_time_beyond_the_days_is_found_by_looking_again() {
    let mut pair = Pair::new(2);
    let far_ns = 40_000_000_000;
    pair.set(0, far_ns);
    pair.set(1, 5);
    assert_eq!((pair.take(4, true), pair.take(5, true)), (vec![], vec![1]));
    let mut looks = 0;
    loop {
        let look_ns = pair.soonest().unwrap();
        looks += 1;
        if pair.take(look_ns, true) == [0] {
            assert_eq!(look_ns, far_ns);
            break;
        }
    }
    assert!(looks < 15, "{looks}");
    assert_eq!(pair.soonest(), None);
}

#[test]
fn times_are_quiet_until_the_first_day() {
    let mut calendar = Calendar::new(2);
    calendar.wait(0, 1000);
    calendar.wait(1, 1025);
    assert!(!calendar.may_be_due(1023) && calendar.may_be_due(1024));
    let mut due = Vec::new();
    calendar.take_due(1024, &mut due);
    assert_eq!(due, [0]);
    assert!(!calendar.may_be_due(1279) && calendar.may_be_due(1280));
}
