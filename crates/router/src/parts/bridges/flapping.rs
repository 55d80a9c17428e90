//! Stations that move too often: somebody has their address, too, or there is a loop.

use fib::mac::MacKey;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// For so long moves are counted before they are told.
const PERIOD: Duration = Duration::from_secs(10);
/// A station that moves so often in that time flaps.
const FLAPS: u32 = 4;
/// Stations whose moves are counted at a time.
const MOST_COUNTED: usize = 1024;

/// Moves of stations heard of since a time.
#[derive(Default)]
pub(super) struct Flapping {
    since: Option<Instant>,
    moves: HashMap<MacKey, u32>,
}

/// The station that moved most of all, and how many flap.
pub(super) struct Flaps {
    pub(super) station: MacKey,
    pub(super) moves: u32,
    pub(super) stations: usize,
    pub(super) within: Duration,
}

impl Flapping {
    /// Counts a station's move.
    pub(super) fn moved(&mut self, station: MacKey) {
        if self.moves.len() < MOST_COUNTED || self.moves.contains_key(&station) {
            *self.moves.entry(station).or_insert(0) += 1;
        }
    }

    /// What there is to be told, once in a while.
    pub(super) fn due(&mut self, now: Instant) -> Option<Flaps> {
        if now.duration_since(*self.since.get_or_insert(now)) < PERIOD {
            return None;
        }
        self.since = Some(now);
        let moves = std::mem::take(&mut self.moves);
        let stations = moves.values().filter(|&&count| count >= FLAPS).count();
        let (station, moves) = moves.into_iter().max_by_key(|&(_, count)| count)?;
        (moves >= FLAPS).then_some(Flaps { station, moves, stations, within: PERIOD })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_station_that_moves_most_is_told_once_a_period() {
        let (mut flapping, start) = (Flapping::default(), Instant::now());
        assert!(flapping.due(start).is_none());
        let [one, other] = [1, 2].map(|last| MacKey::new(7, [2, 0, 0, 0, 0, last]));
        (0..FLAPS).for_each(|_| flapping.moved(one));
        (0..FLAPS + 3).for_each(|_| flapping.moved(other));
        assert!(flapping.due(start + PERIOD / 2).is_none());
        let told = flapping.due(start + PERIOD).unwrap();
        assert_eq!((told.station, told.moves, told.stations), (other, FLAPS + 3, 2));
        flapping.moved(one);
        assert!(flapping.due(start + PERIOD * 2).is_none());
    }
}
