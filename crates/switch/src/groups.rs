//! Groups added, changed and removed.

use crate::bridge::Bridge;
use crate::check::tracks;
use crate::flows::{gone, leads_to_group};
use flow::Group;
use openflow::Fault;
use openflow::message::{Bucket, GroupCommand, GroupMod};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Groups of a bridge, at most.
pub(crate) const MOST_GROUPS: usize = 65_536;

impl Bridge {
    pub(crate) fn mod_groups(&mut self, wanted: GroupMod, now_ns: u64) -> Result<(), Fault> {
        let number = wanted.group;
        let had = self.snapshot.groups.get(&number).cloned();
        match wanted.command {
            GroupCommand::Delete => {
                let is_meant = |it: u32| number == GroupMod::ALL || it == number;
                let gone: Vec<u32> =
                    self.snapshot.groups.keys().copied().filter(|it| is_meant(*it)).collect();
                for number in gone {
                    self.remove_all(gone::GROUP_DELETED, now_ns, |it| leads_to_group(it, number));
                    self.groups_mut().remove(&number);
                }
                return Ok(());
            }
            GroupCommand::Add if had.is_some() => return Err(Fault::GroupExists),
            GroupCommand::Modify | GroupCommand::InsertBucket | GroupCommand::RemoveBucket
                if had.is_none() =>
            {
                return Err(Fault::UnknownGroup);
            }
            _ => {}
        }
        if had.is_none() && self.snapshot.groups.len() >= MOST_GROUPS {
            return Err(Fault::OutOfGroups);
        }
        let (mut kind, mut buckets) = (wanted.kind, wanted.buckets);
        match (wanted.command, &had) {
            (GroupCommand::InsertBucket, Some(had)) => {
                kind = had.kind;
                buckets = inserted(&had.buckets, buckets, wanted.place)?;
            }
            (GroupCommand::RemoveBucket, Some(had)) => {
                kind = had.kind;
                buckets = without(&had.buckets, wanted.place)?;
            }
            _ => {}
        }
        for bucket in &buckets {
            // A group that leads to itself drops what comes: that is found when something does.
            self.check_bucket(&bucket.actions)?;
        }
        self.snapshot.tracks |= buckets.iter().any(|bucket| tracks(&bucket.actions));
        let group = Group::new(kind, buckets, had.map_or(now_ns, |had| had.created_ns));
        self.groups_mut().insert(number, Arc::new(group));
        Ok(())
    }

    fn groups_mut(&mut self) -> &mut BTreeMap<u32, Arc<Group>> {
        self.is_changed = true;
        Arc::make_mut(&mut self.snapshot.groups)
    }
}

fn inserted(had: &[Bucket], new: Vec<Bucket>, place: u32) -> Result<Vec<Bucket>, Fault> {
    if new.iter().any(|new| had.iter().any(|had| had.id == new.id)) {
        return Err(Fault::BucketExists);
    }
    let at = match place {
        GroupMod::FIRST => 0,
        GroupMod::LAST => had.len(),
        id => had.iter().position(|it| it.id == id).ok_or(Fault::UnknownBucket)? + 1,
    };
    let mut all = had.to_vec();
    all.splice(at..at, new);
    Ok(all)
}

fn without(had: &[Bucket], place: u32) -> Result<Vec<Bucket>, Fault> {
    let mut all = had.to_vec();
    match place {
        GroupMod::EVERY => all.clear(),
        GroupMod::FIRST => drop(all.drain(..all.len().min(1))),
        GroupMod::LAST => drop(all.pop()),
        id => {
            let at = all.iter().position(|it| it.id == id).ok_or(Fault::UnknownBucket)?;
            all.remove(at);
        }
    }
    Ok(all)
}
