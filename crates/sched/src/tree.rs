//! Trees of classes: their order, and the way from a class's name to the leaf that its packets wait
//! in.

use std::collections::{HashMap, HashSet};

use crate::child::Child;
use crate::class_map::ClassMap;
use crate::plan::{Classes, Shape};
use crate::{ClassId, Error};

/// A class's limit when its leaf is not configured.
pub(crate) const LEAF_PACKETS: u32 = 1000;
/// Levels of classes: more than anybody draws, and a packet pays for each.
const MAX_LEVELS: usize = 255;

/// Classes from the top down, brothers together, and how many levels they stand on.
pub(crate) struct BreadthFirst {
    pub(crate) order: Vec<usize>,
    pub(crate) levels: usize,
}

/// The order of classes: places in their list.
pub(crate) fn breadth_first(handle: ClassId, classes: &dyn Classes) -> Result<BreadthFirst, Error> {
    let classes = &names_of(classes)[..];
    let mut place = HashMap::with_capacity(classes.len());
    for (at, &(id, _)) in classes.iter().enumerate() {
        if id.major() != handle.major() || id.minor() == 0 {
            return Err(Error::Stranger { id, handle });
        }
        if place.insert(id, at).is_some() {
            return Err(Error::Twice { id });
        }
    }
    let mut children = vec![Vec::new(); classes.len()];
    let mut order = Vec::with_capacity(classes.len());
    for (at, &(id, parent)) in classes.iter().enumerate() {
        match parent.filter(|parent| *parent != handle) {
            None => order.push(at),
            Some(parent) => match place.get(&parent) {
                Some(&above) => children[above].push(at),
                None => {
                    return Err(Error::UnknownClass { place: format!("class {id}"), id: parent });
                }
            },
        }
    }
    let (mut done, mut levels) = (0, 0);
    while let Some(&top) = order.get(done) {
        levels += 1;
        if levels > MAX_LEVELS {
            return Err(Error::TooManyLevels { id: classes[top].0, limit: MAX_LEVELS });
        }
        let level = done..order.len();
        done = order.len();
        level.for_each(|at| order.append(&mut children[order[at]]));
    }
    if order.len() < classes.len() {
        return Err(Error::Loop { id: on_the_loop(classes, &place, &order) });
    }
    Ok(BreadthFirst { order, levels })
}

/// A class of the loop itself, found by going up from one that the top does not reach.
fn on_the_loop(
    classes: &[(ClassId, Option<ClassId>)],
    place: &HashMap<ClassId, usize>,
    reached: &[usize],
) -> ClassId {
    let reached: HashSet<usize> = reached.iter().copied().collect();
    let mut at = (0..classes.len()).find(|at| !reached.contains(at)).unwrap_or(0);
    for _ in 0..classes.len() {
        at = classes[at].1.and_then(|parent| place.get(&parent).copied()).unwrap_or(at);
    }
    classes[at].0
}

fn names_of(classes: &dyn Classes) -> Vec<(ClassId, Option<ClassId>)> {
    classes.all().iter().map(|class| (class.id(), class.parent())).collect()
}

/// The handles of the disciplines with classes in a shape.
fn majors(shape: &Shape, into: &mut Vec<u16>) {
    into.extend(shape.plan().handle().map(ClassId::major));
    shape.plan().leaves().into_iter().flatten().for_each(|leaf| majors(leaf, into));
}

/// Classes `id` and those of the disciplines in `shape` go to the child numbered `at`.
pub(crate) fn route(map: &mut ClassMap, id: ClassId, shape: Option<&Shape>, at: u32) {
    map.add(id.minor(), at);
    let mut below = Vec::new();
    if let Some(shape) = shape {
        majors(shape, &mut below);
    }
    below.into_iter().for_each(|major| map.add_below(major, at));
}

/// A discipline that is to stand under another.
pub(crate) fn child(shape: &Shape, mtu_bytes: u32) -> Result<Child, Error> {
    shape.plan().build(mtu_bytes).map(Child::new)
}

/// A tree of classes as it is to be built: breadth first, so that brothers stand side by side.
pub(crate) struct Tree {
    /// Of each class its place in the configured list, its parent's place in this order, and
    /// whether it is a leaf.
    pub(crate) order: Vec<(usize, Option<usize>, bool)>,
    /// The discipline of each leaf, by its place in this order.
    pub(crate) leaves: Vec<(usize, Child)>,
    /// The way from names to leaves.
    pub(crate) map: ClassMap,
}

impl Tree {
    pub(crate) fn of(
        handle: ClassId,
        classes: &dyn Classes,
        mtu_bytes: u32,
    ) -> Result<Self, Error> {
        let order = breadth_first(handle, classes)?.order;
        let classes = classes.all();
        let place: HashMap<ClassId, usize> =
            order.iter().enumerate().map(|(place, &at)| (classes[at].id(), place)).collect();
        let parent = |at: usize| classes[at].parent().and_then(|id| place.get(&id).copied());
        let parents: HashSet<usize> = order.iter().filter_map(|&at| parent(at)).collect();
        let order: Vec<_> = (0..)
            .zip(order)
            .map(|(place, at)| (at, parent(at), !parents.contains(&place)))
            .collect();
        let mut map = ClassMap::new(handle.major());
        let mut leaves = Vec::new();
        let fifo = Shape::pfifo(LEAF_PACKETS);
        for (place, &(at, _, is_leaf)) in order.iter().enumerate() {
            if !is_leaf {
                continue;
            }
            let shape = classes[at].leaf();
            route(&mut map, classes[at].id(), shape, place as u32);
            leaves.push((place, child(shape.unwrap_or(&fifo), mtu_bytes)?));
        }
        Ok(Self { order, leaves, map })
    }
}
