//! Groups, as tables lead to them.

use crate::flow::Counters;
use crate::key::Key;
use openflow::message::{Bucket, GroupKind};
use std::sync::Arc;

/// A group, and what it and its buckets counted.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its kind.
    pub kind: GroupKind,
    /// Its buckets.
    pub buckets: Vec<Bucket>,
    /// When it came.
    pub created_ns: u64,
    /// What it counted.
    pub counters: Arc<Counters>,
    /// What each bucket counted.
    pub bucket_counters: Vec<Arc<Counters>>,
}

impl Group {
    /// A group that nothing went through yet.
    pub fn new(kind: GroupKind, buckets: Vec<Bucket>, created_ns: u64) -> Self {
        let bucket_counters = buckets.iter().map(|_| Arc::default()).collect();
        Self { kind, buckets, created_ns, counters: Arc::default(), bucket_counters }
    }

    /// The bucket, of those that are alive, that a flow of this hash takes: each has a score by
    /// hash and weight, and the highest wins, so that few flows move when a bucket comes or goes.
    pub(crate) fn select(&self, hash: u64, is_alive: impl Fn(&Bucket) -> bool) -> Option<usize> {
        let score = |(at, bucket): (usize, &Bucket)| {
            let own = crate::key::mix(hash, u64::from(bucket.id)) >> 48;
            ((own + 1) * u64::from(bucket.weight), at)
        };
        let alive = self.buckets.iter().enumerate();
        let alive = alive.filter(|(_, bucket)| bucket.weight > 0 && is_alive(bucket));
        alive.map(score).max().map(|(_, at)| at)
    }
}

/// Words of a packet that tell flows apart, for who selects by them.
pub(crate) fn flow_hash(key: &Key, mask: &mut Key) -> u64 {
    // Ethernet but no tag, network but no time to live, and ports.
    let ones = u64::MAX;
    let words = [
        (22, ones),
        (23, ones & !0xffff),
        (25, ones),
        (26, ones),
        (27, ones),
        (28, ones),
        (29, ones),
        (30, 0xff),
        (35, 0xffff_ffff),
    ];
    mask.mark(&words);
    crate::key::hash_under(key, &words, 1)
}
