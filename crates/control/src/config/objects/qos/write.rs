//! Writes disciplines, classes and filters as `read` reads them.

use sched::{ClassId, ClassShape, Place, Settings, Shape, each_slot};

use crate::config::field::Field;
use crate::config::write::Fields;

/// A discipline alone, without its classes.
pub(super) fn alone(shape: &Shape) -> Fields {
    let kind = Fields::new().with("kind", &shape.kind().to_owned());
    match shape {
        // A token bucket is written as what stands in it, with a rate.
        Shape::Tbf(tbf) => {
            let inside = match &*tbf.leaf {
                Shape::Bfifo(waits) if waits.handle.is_none() => kind.with("limit", &waits.limit),
                leaf => alone(leaf),
            };
            settings(inside, &mut tbf.clone())
        }
        Shape::Prio(prio) => {
            let bands: Vec<String> = prio.bands.iter().map(inline).collect();
            settings(kind, &mut prio.clone()).raw("band", format!("[{}]", bands.join(", ")))
        }
        shape => settings(kind, shape.clone().settings()),
    }
}

/// Every setting behind `fields`.
fn settings<S: Settings + ?Sized>(fields: Fields, settings: &mut S) -> Fields {
    let mut all = Some(fields);
    settings.each(&mut |setting, slot| {
        all = all.take().map(|fields| each_slot!(slot, place => one(fields, setting.name, &place)));
    });
    all.unwrap_or_default()
}

fn one<T: Field + PartialEq>(fields: Fields, name: &'static str, place: &Place<'_, T>) -> Fields {
    match place {
        Place::Usual(value, usual) => fields.unless(name, *value, usual),
        Place::Maybe(value) => fields.maybe(name, *value),
        Place::Needed(value) => fields.with(name, *value),
    }
}

/// The classes of a discipline: name and fields.
pub(super) fn classes(shape: &Shape) -> Vec<(String, Fields)> {
    match shape {
        Shape::Tbf(it) => classes(&it.leaf),
        shape => {
            let mut shape = shape.clone();
            let Some(classes) = shape.classes_mut() else { return Vec::new() };
            let ids: Vec<_> = classes.all().iter().map(|class| class.id()).collect();
            let written = |id: ClassId| Some((id.to_string(), class(classes.find(id)?)));
            ids.into_iter().filter_map(written).collect()
        }
    }
}

fn class(class: &mut dyn ClassShape) -> Fields {
    let head = Fields::new().with("id", &class.id()).maybe("parent", &class.parent());
    let fields = settings(head, class);
    match class.leaf() {
        Some(leaf) => fields.raw("leaf", inline(leaf)),
        None => fields,
    }
}

/// A discipline with its classes, as one inline table.
fn inline(shape: &Shape) -> String {
    let classes = classes(shape);
    if classes.is_empty() {
        return alone(shape).inline();
    }
    let classes: Vec<String> = classes.iter().map(|(_, fields)| fields.inline()).collect();
    alone(shape).raw("class", format!("[{}]", classes.join(", "))).inline()
}
