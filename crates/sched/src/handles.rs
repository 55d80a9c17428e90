//! What disciplines are called in reports: by the handles that they were given, the others as `tc`
//! calls what nobody named, from `8001:` on.

use std::collections::{HashMap, HashSet};

use crate::ClassId;
use crate::plan::Shape;
use crate::report::Report;
use crate::tree::LEAF_PACKETS;

/// The first name that is found.
const FIRST_FOUND: u16 = 0x8001;

/// The handle of each discipline, by the class that it stands in; the root's by none.
pub(crate) struct Handles {
    names: HashMap<ClassId, ClassId>,
}

impl Handles {
    pub(crate) fn of(root: &Shape) -> Self {
        let mut given = HashSet::new();
        collect(root, &mut given);
        let mut free = (FIRST_FOUND..u16::MAX)
            .map(|major| ClassId::new(major, 0))
            .filter(move |handle| !given.contains(handle));
        let mut names = HashMap::new();
        let mut to_name = vec![(ClassId::NONE, root)];
        while let Some((place, shape)) = to_name.pop() {
            let Some(handle) = shape.handle().or_else(|| free.next()) else { break };
            names.insert(place, handle);
            let below = shape.below(handle).into_iter().filter(|(_, below)| !is_unnamed(below));
            to_name.extend(below.collect::<Vec<_>>().into_iter().rev());
        }
        Self { names }
    }

    /// Writes the names into a report of what they are of.
    pub(crate) fn name(&self, report: &mut Report) {
        self.name_at(report, ClassId::NONE);
    }

    fn name_at(&self, report: &mut Report, place: ClassId) {
        let is_class = matches!(&*report.kind, "class" | "band");
        if !is_class {
            report.id = self.names.get(&place).copied().unwrap_or(report.id);
        }
        let id = report.id;
        for child in &mut report.children {
            let inside = match &*report.kind {
                "tbf" => ClassId::new(id.major(), 1),
                _ => id,
            };
            self.name_at(child, inside);
        }
    }
}

fn collect(shape: &Shape, given: &mut HashSet<ClassId>) {
    given.extend(shape.handle());
    shape.plan().leaves().into_iter().flatten().for_each(|leaf| collect(leaf, given));
}

/// What stands in bands and buckets of itself has no name, as in `tc`.
fn is_unnamed(shape: &Shape) -> bool {
    match shape {
        Shape::Bfifo(fifo) => fifo.handle.is_none(),
        shape => *shape == Shape::pfifo(LEAF_PACKETS),
    }
}

#[cfg(test)]
mod tests {
    use crate::units::{Rate, Size};
    use crate::{ClassId, Config, HtbClass, HtbShape, Shape, build};

    fn drawn(shape: Shape) -> Vec<String> {
        let report = build::<u64>(&Config::of(shape)).unwrap().report();
        let text = report.to_string();
        let named = text.lines().filter(|line| line.contains(": ") || line.ends_with(':'));
        named.map(|line| line.trim_start_matches(['│', '├', '└', '─', ' ']).to_owned()).collect()
    }

    #[test]
    fn names_that_were_given_are_kept_and_others_found() {
        let leaf = |minor, leaf| HtbClass {
            leaf: Some(leaf),
            ..HtbClass::new(ClassId::new(1, minor), None, Rate(8000))
        };
        let mut named = Shape::sfq();
        named.set_handle(ClassId::new(0x8001, 0));
        let classes = vec![leaf(1, Shape::codel()), leaf(2, named), leaf(3, Shape::fq_codel())];
        let drawn = drawn(Shape::Htb(HtbShape { classes, ..HtbShape::default() }));
        let starts = ["htb 1: ", "codel 8002: ", "sfq 8001: ", "fq_codel 8003: "];
        assert_eq!(drawn.len(), starts.len(), "{drawn:?}");
        assert!(drawn.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{drawn:?}");
    }

    #[test]
    fn a_bucket_has_a_name_of_its_own_and_a_lone_queue_has_one() {
        let mut bucket = Shape::tbf(Rate(8000), Size(2000), Shape::sfq());
        bucket.set_handle(ClassId::new(0x20, 0));
        let names = drawn(bucket);
        assert!(
            names[0].starts_with("tbf 20: ") && names[1].starts_with("sfq 8001: "),
            "{names:?}"
        );
        assert!(drawn(Shape::pfifo(3))[0].starts_with("pfifo 8001: "));
    }
}
