//! Which of some revisions, oldest first, is the first slower one: the first is good, the last is
//! not.
//!
//! ```text
//! good · · · ? · · · bad       the one in the middle, again and again
//! good · · · x ? · · bad       one that does not build is passed over for one beside it
//! ```

/// What is said of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// As slow as the last.
    Slower,
    /// As good as the first.
    Good,
    /// Nobody can tell: it does not build.
    Skipped,
}

/// Where it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The first that is known to be slower.
    pub(super) first: usize,
    /// The last that is known to be good.
    pub(super) last_good: usize,
    /// Those in between, of which nobody can tell: it may have been one of them.
    pub(super) skipped: Vec<usize>,
}

/// Asks for as few of `count` revisions as will do; of number 0 and of the last it is known.
pub(super) fn first_slower<E>(
    count: usize,
    mut ask: impl FnMut(usize) -> Result<Said, E>,
) -> Result<Found, E> {
    let (mut good, mut bad) = (0_usize, count.saturating_sub(1));
    let mut skipped: Vec<usize> = Vec::new();
    loop {
        let middle = good.midpoint(bad);
        let open = (good + 1..bad).filter(|at| !skipped.contains(at));
        let Some(next) = open.min_by_key(|at| at.abs_diff(middle)) else {
            skipped.retain(|at| (good..bad).contains(at));
            skipped.sort_unstable();
            return Ok(Found { first: bad, last_good: good, skipped });
        };
        match ask(next)? {
            Said::Slower => bad = next,
            Said::Good => good = next,
            Said::Skipped => skipped.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn the_first_slower_one_is_found_by_few_questions_whatever_does_not_build() {
        for first in 1..40 {
            for broken in [&[][..], &[3, 4, 5, 20, 21, 39]] {
                let mut asked = 0;
                let found = first_slower(41, |at| {
                    asked += 1;
                    Ok::<_, Infallible>(match at {
                        at if broken.contains(&at) => Said::Skipped,
                        at if at >= first => Said::Slower,
                        _ => Said::Good,
                    })
                });
                let Found { first: told, last_good, skipped } = found.unwrap();
                assert!(last_good < first && first <= told, "{first}: {last_good} to {told}");
                // All in between is broken, and told.
                assert_eq!(skipped, (last_good + 1..told).collect::<Vec<_>>());
                assert!(skipped.iter().all(|at| broken.contains(at)));
                assert!(asked <= 6 + broken.len(), "{asked}");
            }
        }
    }

    #[test]
    fn of_two_there_is_nothing_to_ask() {
        let found = first_slower(2, |_| -> Result<Said, Infallible> { panic!("asked") }).unwrap();
        assert_eq!((found.first, found.last_good), (1, 0));
    }
}
