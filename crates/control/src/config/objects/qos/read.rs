//! Reads disciplines, classes and filters field by field, so that each fault gets its place. What a
//! discipline can be set to is declared with it, in `sched`.

use sched::units::{Rate, Size};
use sched::{ClassId, ClassShape, Place, PrioShape, Settings, Shape, Slot, TbfShape, each_slot};

use super::units::Kind;
use crate::config::field::Field;
use crate::config::read::TableReader;
use crate::config::report::Problem;

/// Milliseconds of its rate that a token bucket holds unless told otherwise: what a busy worker may
/// come late.
const BURST_MS: u64 = 1;

/// A discipline and all below it. With a `rate`, any discipline that has none of its own stands
/// under a token bucket.
pub(super) fn shape(table: &mut TableReader<'_>, frame_bytes: u32) -> Option<Shape> {
    let Kind(kind) = table.deciding("kind")?;
    let mut shape = Shape::of_kind(kind)?;
    if let Shape::Prio(prio) = &mut shape {
        *prio = PrioShape::of_bands(bands(table, frame_bytes));
    }
    if let Shape::Tbf(_) = shape {
        let Shape::Tbf(usual) = &shape else { return None };
        let Shape::Bfifo(waits) = &*usual.leaf else { return None };
        let leaf = Shape::bfifo(table.or("limit", waits.limit).0);
        let rate = table.required("rate")?;
        return Some(bucket(table, rate, leaf, frame_bytes));
    }
    let is_whole = settings(table, shape.settings());
    classes(table, &mut shape, frame_bytes);
    match table.optional("rate") {
        Some(rate) => is_whole.then(|| bucket(table, rate, shape, frame_bytes)),
        None => {
            no_bucket(table);
            is_whole.then_some(shape)
        }
    }
}

/// Reads every setting; says whether all that are needed were there.
fn settings<S: Settings + ?Sized>(table: &mut TableReader<'_>, settings: &mut S) -> bool {
    let mut is_whole = true;
    settings.each(&mut |setting, slot| {
        is_whole &= each_slot!(slot, place => setting_of(table, setting.name, place));
    });
    is_whole
}

/// Reads a setting that need not be there.
fn optional<T: Field + Clone>(
    table: &mut TableReader<'_>,
    name: &'static str,
    place: Place<'_, T>,
) {
    if let Some(value) = table.optional(name) {
        place.set(value);
    }
}

fn setting_of<T: Field + Clone>(
    table: &mut TableReader<'_>,
    name: &'static str,
    place: Place<'_, T>,
) -> bool {
    let is_needed = place.is_needed();
    let value = if is_needed { table.required(name) } else { table.optional(name) };
    let is_there = value.is_some();
    if let Some(value) = value {
        place.set(value);
    }
    is_there || !is_needed
}

/// A token bucket over a discipline.
fn bucket(table: &mut TableReader<'_>, rate: Rate, leaf: Shape, frame_bytes: u32) -> Shape {
    let burst = Size(rate.0 / 8 * BURST_MS / 1000 + 2 * u64::from(frame_bytes));
    let mut tbf = TbfShape { rate, burst, leaf: Box::new(leaf), ..TbfShape::default() };
    tbf.each(&mut |setting, slot| match (setting.name, slot) {
        ("rate", _) => {}
        ("burst", Slot::Size(place)) => place.set(table.or("burst", burst)),
        (name, slot) => each_slot!(slot, place => _ = setting_of(table, name, place)),
    });
    tbf.into()
}

/// Refuses what only a token bucket has.
fn no_bucket(table: &mut TableReader<'_>) {
    let mut given = false;
    TbfShape::default().each(&mut |setting, slot| {
        if setting.name != "rate" && !table.knows(setting.name) {
            given |= table.has(setting.name);
            each_slot!(slot, place => optional(table, setting.name, place));
        }
    });
    if given {
        let problem = Problem::new(table.field("burst"), "a token bucket without a `rate`");
        table.report().push(problem.expected("a `rate` beside what a bucket is set to"));
    }
}

fn bands(table: &mut TableReader<'_>, frame_bytes: u32) -> Vec<Shape> {
    let mut bands = Vec::new();
    table.each_item("band", |band| bands.extend(shape(band, frame_bytes)));
    if bands.is_empty() {
        let count = table.number::<u16>("bands", 3, 1..=16);
        bands = vec![Shape::pfifo(1000); usize::from(count)];
    }
    bands
}

/// The tree of classes, where a discipline has one.
fn classes(table: &mut TableReader<'_>, shape: &mut Shape, frame_bytes: u32) {
    let Some(classes) = shape.classes_mut() else { return };
    let names = table.field("class");
    let mut unnamed = 0;
    table.each_item("class", |item| {
        let id: Option<ClassId> = item.required("id");
        match id {
            Some(id) => item.rename(|| format!("{names}.{id}")),
            // Read all the same, for its other faults.
            None => unnamed += 1,
        }
        let made = classes.add(id.unwrap_or(ClassId::NONE));
        if !class(item, made, frame_bytes) || id.is_none() {
            item.report().lose_row();
        }
    });
    for _ in 0..unnamed {
        classes.remove(ClassId::NONE);
    }
}

/// One class, behind its name; says whether all that it needs was there.
pub(super) fn class(
    table: &mut TableReader<'_>,
    class: &mut dyn ClassShape,
    frame_bytes: u32,
) -> bool {
    class.place(class.id(), table.optional("parent"));
    for (short, names) in class.shorthands() {
        class.each(&mut |setting, slot| {
            if names.contains(&setting.name) {
                each_slot!(slot, place => _ = setting_of(table, short, place));
            }
        });
    }
    let is_whole = settings(table, class);
    let leaf = table.table("leaf", |leaf| shape(leaf, frame_bytes)).flatten();
    class.set_leaf(leaf);
    is_whole
}
