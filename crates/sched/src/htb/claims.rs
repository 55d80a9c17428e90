//! What workers ask for one class, and whose turn it is.
//!
//! ```text
//!   worker 0: 3000 bytes, 2 flows  ─┐
//!   worker 1:    -                  ├─▶ take: the claim of the least turn, a piece of it at a time
//!   worker 2: 9000 bytes, 1 flow   ─┘         its turn goes on by bytes / flows
//! ```
//! So that workers share a class as their flows would in one queue: by start-time fair queueing
//! with the flows as weights. One that asked for nothing for a while comes no further ahead of the
//! others than by one piece.

/// The parts of a byte that a turn counts in, so that many flows still make a difference.
const PARTS: u64 = 256;

#[derive(Clone, Default)]
struct Claim {
    bytes: u32,
    flows: u32,
    turn: u64,
}

/// The claims on one class.
pub(super) struct Claims {
    of: Box<[Claim]>,
    /// The most that is given at a time.
    piece_bytes: u32,
    /// Of all claims together.
    bytes: u64,
    /// The turn of what was given last.
    reached: u64,
}

impl Claims {
    pub(super) fn new(workers: usize, piece_bytes: u32) -> Self {
        let of = vec![Claim::default(); workers].into_boxed_slice();
        Self { of, piece_bytes, bytes: 0, reached: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// A worker wants so much more, on which so many flows wait.
    pub(super) fn ask(&mut self, worker: usize, bytes: u32, flows: u32) {
        let Some(claim) = self.of.get_mut(worker) else { return };
        if claim.bytes == 0 {
            let ahead = u64::from(self.piece_bytes) * PARTS;
            claim.turn = claim.turn.max(self.reached.saturating_sub(ahead));
        }
        claim.bytes += bytes;
        claim.flows = flows.max(1);
        self.bytes += u64::from(bytes);
    }

    /// Whose turn it is, and how much it may have now.
    pub(super) fn take(&mut self) -> Option<(usize, u32)> {
        let asked = self.of.iter_mut().enumerate().filter(|(_, claim)| claim.bytes > 0);
        let (worker, claim) = asked.min_by_key(|(_, claim)| claim.turn)?;
        let bytes = claim.bytes.min(self.piece_bytes);
        claim.bytes -= bytes;
        self.bytes -= u64::from(bytes);
        self.reached = claim.turn;
        claim.turn += u64::from(bytes) * PARTS / u64::from(claim.flows);
        Some((worker, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_by_their_flows_piece_by_piece() {
        let mut claims = Claims::new(3, 100);
        claims.ask(0, 30_000, 3);
        claims.ask(2, 30_000, 1);
        let mut got = [0; 3];
        for _ in 0..200 {
            let (worker, bytes) = claims.take().unwrap();
            assert_eq!(bytes, 100);
            got[worker] += 1;
        }
        assert_eq!(got, [150, 0, 50]);
    }

    #[test]
    fn who_was_idle_does_not_make_up_for_it() {
        let mut claims = Claims::new(2, 100);
        claims.ask(0, 100_000, 1);
        (0..500).for_each(|_| assert_eq!(claims.take(), Some((0, 100))));
        claims.ask(1, 1_000, 1);
        let next: Vec<_> = (0..6).map(|_| claims.take().unwrap().0).collect();
        assert_eq!(next.iter().filter(|&&worker| worker == 1).count(), 4, "{next:?}");
    }

    #[test]
    fn what_is_asked_is_given_once_to_the_last_byte() {
        let mut claims = Claims::new(1, 100);
        claims.ask(0, 250, 1);
        let given: Vec<_> = std::iter::from_fn(|| claims.take()).collect();
        assert_eq!(given, [(0, 100), (0, 100), (0, 50)]);
        assert!(claims.is_empty());
    }
}
