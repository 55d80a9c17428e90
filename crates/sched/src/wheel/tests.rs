use super::*;
use proptest::prelude::*;

fn due(wheel: &mut Wheel, now_ns: u64) -> Vec<u32> {
    let mut due = Vec::new();
    wheel.take_due(now_ns, &mut due);
    due
}

/// Near and far times alike, within the slots.
fn any_step() -> impl Strategy<Value = u64> {
    (0u32..34).prop_flat_map(|bits| 0..1u64 << bits)
}

proptest! {
    #[test]
    fn it_agrees_with_a_list_searched_from_end_to_end(
        players in 1usize..20,
        moves in prop::collection::vec((0u32..20, 0u8..4, any_step()), 1..200),
    ) {
        let mut wheel = Wheel::new(players);
        let mut list: Vec<Option<u64>> = vec![None; players];
        let mut now_ns = 0u64;
        for (player, what, step_ns) in moves {
            let player = player % players as u32;
            match what {
                0 => {
                    wheel.remove(player);
                    list[player as usize] = None;
                }
                1 | 2 => {
                    wheel.set(player, now_ns, now_ns + step_ns);
                    list[player as usize] = Some(now_ns + step_ns);
                }
                _ => {
                    now_ns += step_ns;
                    for player in due(&mut wheel, now_ns) {
                        let at_ns = list[player as usize].take();
                        prop_assert!(at_ns.is_some_and(|at_ns| at_ns <= now_ns));
                    }
                    prop_assert!(list.iter().flatten().all(|&at_ns| at_ns > now_ns));
                }
            }
            prop_assert_eq!(wheel.soonest(), list.iter().flatten().min().copied());
        }
    }
}

#[test]
fn of_a_time_beyond_the_slots_it_tells_when_to_look_again() {
    let mut wheel = Wheel::new(2);
    wheel.set(0, 0, u64::MAX);
    wheel.set(1, 0, 5);
    assert_eq!((due(&mut wheel, 4), due(&mut wheel, 5)), (vec![], vec![1]));
    for _ in 0..3 {
        let look_ns = wheel.soonest().unwrap();
        assert!(!wheel.may_be_due(0) && wheel.may_be_due(look_ns));
        assert!(due(&mut wheel, look_ns).is_empty());
        assert!(wheel.soonest().unwrap() > look_ns + 15_000_000_000);
    }
    assert!(due(&mut wheel, u64::MAX - 1).is_empty());
    assert_eq!(due(&mut wheel, u64::MAX), [0]);
    assert_eq!(wheel.soonest(), None);
}
