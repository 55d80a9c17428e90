//! How many connections a bridge has, and who gives way to whom.
//!
//! ```text
//!  we came to them     16    as many as may be configured
//!  by the Unix socket  24 ─┐ full: the oldest that has not greeted gives way,
//!  by TCP              24 ─┘ else the oldest of the address that has more than a newcomer's
//! ```
//! So whoever fills one of these leaves the others as they are, silent ones are in nobody's way,
//! and an address that has many leaves some to another.

use std::net::IpAddr;

/// By which way a connection came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Came {
    /// We connected.
    Ours,
    /// By the Unix socket.
    Local,
    /// By TCP, from an address.
    Far(IpAddr),
}

impl Came {
    /// The most of a way.
    pub(super) fn most(self) -> usize {
        match self {
            Self::Ours => 16,
            Self::Local | Self::Far(_) => 24,
        }
    }

    fn is_way_of(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// A connection that is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seated {
    /// Older ones have lower numbers.
    pub(super) number: u64,
    pub(super) came: Came,
    pub(super) has_greeted: bool,
}

/// Who makes room for a newcomer, if somebody must; an error: nobody does.
pub(super) fn room(seated: &[Seated], came: Came) -> Result<Option<u64>, ()> {
    let same: Vec<_> = seated.iter().filter(|it| it.came.is_way_of(came)).collect();
    if same.len() < came.most() {
        return Ok(None);
    }
    let oldest = |eligible: &dyn Fn(&Seated) -> bool| {
        same.iter().filter(|it| eligible(it)).map(|it| it.number).min()
    };
    if came != Came::Ours
        && let Some(silent) = oldest(&|it| !it.has_greeted)
    {
        return Ok(Some(silent));
    }
    let count = |of: Came| same.iter().filter(|it| it.came == of).count();
    let crowd = same.iter().map(|it| it.came).max_by_key(|it| count(*it)).ok_or(())?;
    if count(crowd) <= count(came) + 1 {
        return Err(());
    }
    oldest(&|it| it.came == crowd).map(Some).ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far(last: u8) -> Came {
        Came::Far([192, 0, 2, last].into())
    }

    fn some(count: u64, came: Came, has_greeted: bool) -> Vec<Seated> {
        (0..count).map(|number| Seated { number, came, has_greeted }).collect()
    }

    #[test]
    fn a_way_that_is_full_leaves_the_others_as_they_are() {
        let full = some(24, far(1), true);
        assert_eq!(room(&full, far(1)), Err(()));
        assert_eq!((room(&full, Came::Local), room(&full, Came::Ours)), (Ok(None), Ok(None)));
        let full = some(24, Came::Local, true);
        assert_eq!((room(&full, Came::Local), room(&full, far(1))), (Err(()), Ok(None)));
    }

    #[test]
    fn who_has_said_nothing_gives_way_and_then_who_has_many() {
        let mut full = some(24, far(1), true);
        full[7].has_greeted = false;
        full[9].has_greeted = false;
        assert_eq!(room(&full, far(1)), Ok(Some(7)));
        full[7].has_greeted = true;
        full[9].has_greeted = true;
        assert_eq!(room(&full, far(2)), Ok(Some(0)));
        // Each of two has half: a third gets some, one of them no more.
        full[12..].iter_mut().for_each(|it| it.came = far(2));
        assert_eq!((room(&full, far(1)), room(&full, far(3))), (Err(()), Ok(Some(12))));
        assert_eq!(room(&some(24, Came::Local, false), Came::Local), Ok(Some(0)));
    }
}
