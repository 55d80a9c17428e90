//! HTB's round-robin rings: which classes of one priority may be served at a row, or through a parent that lends.
//!
//! ```text
//!   feed:  head ─▶ link ◀─▶ link ◀─▶ link ◀─ tail          a class has one link for each priority it passes on
//!                            ▲
//!                            at: whose turn it is; past the tail means: rewind, and the turn of the feed above moves on
//! ```
//!
//! Time O(1). Space 12 bytes a link and 12 a feed.

pub(crate) const NIL: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Link {
    class: u32,
    next: u32,
    previous: u32,
}

#[derive(Clone, Copy)]
struct Feed {
    head: u32,
    tail: u32,
    at: u32,
}

#[derive(Default)]
pub(crate) struct Feeds {
    links: Vec<Link>,
    feeds: Vec<Feed>,
}

impl Feeds {
    /// Makes `count` links of one class, and tells the first.
    pub(crate) fn add_links(&mut self, class: u32, count: usize) -> u32 {
        let first = self.links.len();
        self.links.resize(first + count, Link { class, next: NIL, previous: NIL });
        first as u32
    }

    /// Makes `count` feeds, and tells the first.
    pub(crate) fn add_feeds(&mut self, count: usize) -> u32 {
        let first = self.feeds.len();
        self.feeds.resize(first + count, Feed { head: NIL, tail: NIL, at: NIL });
        first as u32
    }

    #[inline]
    pub(crate) fn is_empty(&self, feed: u32) -> bool {
        self.feeds[feed as usize].head == NIL
    }

    /// Appends a link: its turn comes last.
    #[inline]
    pub(crate) fn insert(&mut self, feed: u32, link: u32) {
        let Feed { tail, .. } = self.feeds[feed as usize];
        let one = &mut self.links[link as usize];
        (one.next, one.previous) = (NIL, tail);
        let feed = &mut self.feeds[feed as usize];
        feed.tail = link;
        match tail {
            NIL => (feed.head, feed.at) = (link, link),
            _ => self.links[tail as usize].next = link,
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, feed: u32, link: u32) {
        let Link { next, previous, .. } = self.links[link as usize];
        let feed = &mut self.feeds[feed as usize];
        if feed.at == link {
            feed.at = next;
        }
        match previous {
            NIL => feed.head = next,
            _ => self.links[previous as usize].next = next,
        }
        match next {
            NIL => feed.tail = previous,
            _ => self.links[next as usize].previous = previous,
        }
    }

    /// The class whose turn it is; none at the end of the round.
    #[inline]
    pub(crate) fn current(&self, feed: u32) -> Option<u32> {
        match self.feeds[feed as usize].at {
            NIL => None,
            at => Some(self.links[at as usize].class),
        }
    }

    /// Begins a new round.
    #[inline]
    pub(crate) fn rewind(&mut self, feed: u32) {
        let feed = &mut self.feeds[feed as usize];
        feed.at = feed.head;
    }

    /// The turn moves on, at the last to the end of the round.
    #[inline]
    pub(crate) fn advance(&mut self, feed: u32) {
        let feed = &mut self.feeds[feed as usize];
        if feed.at != NIL {
            feed.at = self.links[feed.at as usize].next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> (Feeds, u32, u32) {
        let mut feeds = Feeds::default();
        let feed = feeds.add_feeds(1);
        let first = feeds.add_links(7, 1);
        feeds.add_links(8, 1);
        feeds.add_links(9, 1);
        for link in first..first + 3 {
            feeds.insert(feed, link);
        }
        (feeds, feed, first)
    }

    #[test]
    fn a_round_goes_over_every_link_and_ends() {
        let (mut feeds, feed, _) = three();
        let mut seen = Vec::new();
        while let Some(class) = feeds.current(feed) {
            seen.push(class);
            feeds.advance(feed);
        }
        assert_eq!(seen, [7, 8, 9]);
        feeds.rewind(feed);
        assert_eq!(feeds.current(feed), Some(7));
    }

    #[test]
    fn removing_whose_turn_it_is_passes_the_turn_on() {
        let (mut feeds, feed, first) = three();
        feeds.remove(feed, first);
        assert_eq!(feeds.current(feed), Some(8));
        feeds.remove(feed, first + 2);
        feeds.remove(feed, first + 1);
        assert!(feeds.is_empty(feed));
        assert_eq!(feeds.current(feed), None);
    }
}
