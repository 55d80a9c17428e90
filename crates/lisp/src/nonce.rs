//! Numbers that nobody guesses, and numbers that only grow.

use ring::rand::{SecureRandom, SystemRandom};

/// Where nonces come from.
pub struct Nonces {
    random: SystemRandom,
    /// The last one that was to be greater than those before.
    last: u64,
}

impl Nonces {
    /// Those that grow begin at `since`: the time of day, so that they go on growing after a new
    /// start (RFC 9301, 5.6).
    pub fn new(since: u64) -> Self {
        Self { random: SystemRandom::new(), last: since }
    }

    /// 64 bits that nobody guesses; none if the system has none to give.
    pub fn random(&self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes).ok()?;
        Some(u64::from_be_bytes(bytes))
    }

    /// One greater than all before.
    pub fn greater(&mut self) -> u64 {
        self.last = self.last.wrapping_add(1);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_grow_and_others_are_never_alike() {
        let mut nonces = Nonces::new(9);
        assert_eq!([nonces.greater(), nonces.greater()], [10, 11]);
        let all: std::collections::BTreeSet<_> = (0..100).map(|_| nonces.random()).collect();
        assert!(all.len() == 100 && !all.contains(&None));
    }
}
