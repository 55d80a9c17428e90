//! Where a qdisc may stand in a tree: at the root, in a class, in a band, in a bucket.

use crate::ClassId;
use crate::plan::Shape;
use crate::tree::LEAF_PACKETS;

/// What `tc` calls a qdisc at the root that nobody named.
pub(super) const FIRST_FOUND: ClassId = ClassId::new(0x8001, 0);

/// What a qdisc is called.
pub(super) fn handle_of(shape: &Shape) -> ClassId {
    shape.handle().unwrap_or(FIRST_FOUND)
}

/// The discipline of that name, wherever it stands; below the root those with a name alone.
pub(super) fn find(root: &mut Shape, major: u16) -> Option<&mut Shape> {
    if handle_of(root).major() == major {
        return Some(root);
    }
    let named = |leaf| below(leaf, major);
    match root {
        Shape::Prio(prio) => prio.bands.iter_mut().find_map(named),
        Shape::Tbf(tbf) => named(&mut tbf.leaf),
        shape => shape.classes_mut()?.leaves_mut().into_iter().find_map(named),
    }
}

fn below(leaf: &mut Shape, major: u16) -> Option<&mut Shape> {
    leaf.handle().and_then(|_| find(leaf, major))
}

/// What stands in a class, taken out of it; none where only a queue of its own does. `None`: there
/// is no such class, or it is no leaf.
pub(super) fn take(root: &mut Shape, class: ClassId) -> Option<Option<Shape>> {
    let is_own = |shape: &Shape| match shape {
        Shape::Bfifo(fifo) => fifo.handle.is_none(),
        shape => *shape == Shape::pfifo(LEAF_PACKETS),
    };
    match find(root, class.major())? {
        Shape::Prio(prio) => {
            let band = prio.bands.get_mut(usize::from(class.minor().checked_sub(1)?))?;
            let was = std::mem::replace(band, Shape::pfifo(LEAF_PACKETS));
            Some((!is_own(&was)).then_some(was))
        }
        // Any minor names a token bucket's only class; `tc` shows it as 1.
        Shape::Tbf(tbf) => {
            if is_own(&tbf.leaf) {
                return Some(None);
            }
            Some(Some(std::mem::replace(&mut tbf.leaf, Shape::bfifo(256 << 10))))
        }
        shape => {
            let classes = shape.classes_mut()?;
            if classes.all().iter().any(|other| other.parent() == Some(class)) {
                return None;
            }
            let class = classes.find(class)?;
            let was = class.leaf().cloned();
            class.set_leaf(None);
            Some(was)
        }
    }
}

/// Puts a qdisc into a class that there is.
pub(super) fn put(root: &mut Shape, class: ClassId, leaf: Shape) {
    let Some(shape) = find(root, class.major()) else { return };
    match shape {
        Shape::Prio(prio) => {
            let at = usize::from(class.minor().saturating_sub(1));
            if let Some(band) = prio.bands.get_mut(at) {
                *band = leaf;
            }
        }
        Shape::Tbf(tbf) => *tbf.leaf = leaf,
        shape => {
            if let Some(class) = shape.classes_mut().and_then(|classes| classes.find(class)) {
                class.set_leaf(Some(leaf));
            }
        }
    }
}
