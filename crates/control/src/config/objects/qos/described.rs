//! What `qos` commands can say: what is declared of disciplines and classes in `sched`, and of
//! filters here, for usage lines, help and completion.

use std::sync::LazyLock;

use sched::units::Rate;
use sched::{ClassId, Place, Setting, Shape, Slot, TbfShape, each_slot};

use super::filter;
use super::units::Kind;
use crate::config::field::Field;
use crate::config::form::Form;
use crate::config::info::Info;
use crate::config::objects::port_name::PortName;

/// A field that a command reads by itself.
fn field<T: Field>(name: &'static str, help: &str, example: &'static str) -> Info {
    Info::new(name, &[help], example).taking::<T>(|words, _| Err(words.unexpected(&[])))
}

/// The disciplines' names.
static KINDS: LazyLock<Vec<&'static str>> = LazyLock::new(Shape::kinds);

/// A discipline by its name.
fn kind(name: &'static str, help: &str) -> Info {
    Info { words: &KINDS, form: Form::Word, ..field::<Kind>(name, help, "fq_codel") }
}

fn port() -> Vec<Info> {
    vec![Info { is_required: true, ..field::<PortName>("port", "The port", "p0") }]
}

fn class_named() -> Info {
    Info { is_required: true, ..field::<ClassId>("class", "Its name", "1:10") }
}

/// A port, and what it gets.
pub(super) fn first_of_set() -> Vec<Info> {
    [port(), vec![Info { is_required: true, ..kind("kind", "The discipline") }]].concat()
}

/// A port, and a class of its scheduler.
pub(super) fn port_and_class() -> Vec<Info> {
    [port(), vec![class_named()]].concat()
}

/// A port.
pub(super) fn first_of_del() -> Vec<Info> {
    port()
}

/// A script.
pub(super) fn first_of_import() -> Vec<Info> {
    let file = field::<String>("file", "The script; - is standard input", "tc.sh");
    vec![Info { is_required: true, ..file }]
}

/// What a discipline can be set to, each with the kind that has it.
fn of_disciplines() -> Vec<Info> {
    let mut infos = Vec::new();
    for kind in Shape::kinds() {
        let Some(mut shape) = Shape::of_kind(kind) else { continue };
        if matches!(shape, Shape::Prio(_)) {
            infos.push(Info { of: kind, ..field::<u16>("bands", "How many", "3") });
        }
        // A bucket's settings stand with any kind; what waits in it alone has a limit.
        match &mut shape {
            Shape::Tbf(tbf) => tbf.leaf.settings().each(&mut |setting, slot| {
                if setting.name == "limit" {
                    let usual = Some("256kb".to_owned());
                    let waits = of_setting(setting, slot, kind);
                    infos.push(Info { is_required: false, default: usual, ..waits });
                }
            }),
            shape => shape.settings().each(&mut |setting, slot| {
                infos.push(of_setting(setting, slot, kind));
            }),
        }
    }
    infos
}

/// What `qos set` can say: what any discipline can have first.
pub(super) fn of_set() -> Vec<Info> {
    let mut infos = Vec::new();
    let mut bucket = Shape::Tbf(TbfShape::default());
    bucket.settings().each(&mut |setting, slot| {
        infos.push(Info { is_required: false, ..of_setting(setting, slot, "") });
    });
    infos.push(field::<Rate>(
        "link_rate",
        "The link's own rate: promises above it are warned of",
        "1gbit",
    ));
    infos.push(field::<u32>("pool_packets", "The most packets that wait in all", "1000"));
    infos.extend(of_disciplines());
    infos
}

/// What `qos class` can say.
pub(super) fn of_class() -> Vec<Info> {
    let mut infos = vec![field::<ClassId>("parent", "The class above it", "1:1")];
    for kind in Shape::kinds() {
        let Some(mut shape) = Shape::of_kind(kind) else { continue };
        let Some(classes) = shape.classes_mut() else { continue };
        let class = classes.add(ClassId::NONE);
        for (short, names) in class.shorthands() {
            let help = format!("The same as {}", names.join(" and "));
            infos.push(Info { of: kind, ..field::<sched::Curve>(short, &help, "1mbit") });
        }
        class.each(&mut |setting, slot| {
            // Which are needed depends on the kind, and on what is there.
            infos.push(Info { is_required: false, ..of_setting(setting, slot, kind) });
        });
    }
    let leaf = kind("leaf", "What waits in it, with its options behind it");
    infos.push(Info { inner: below, ..leaf });
    infos
}

/// Options of a leaf: `qos set` explains them.
fn below() -> Vec<Info> {
    of_disciplines().iter().map(|info| info.called(info.word)).collect()
}

/// What `qos filter` can say.
pub(super) fn of_filter() -> Vec<Info> {
    filter::infos()
}

/// What `qos del` can say.
pub(super) fn of_del() -> Vec<Info> {
    let number = field::<u32>("filter", "A filter alone, by its number from 0", "0");
    vec![field::<ClassId>("class", "A class alone", "1:10"), number]
}

fn of_setting(setting: &Setting, slot: Slot<'_>, kind: &'static str) -> Info {
    let is_required = slot.is_needed();
    let info = each_slot!(slot, place => of_place(setting, &place));
    Info { of: kind, range: setting.bounds(), is_required, ..info }
}

fn of_place<T: Field + Clone>(setting: &Setting, place: &Place<'_, T>) -> Info {
    let default = match place {
        Place::Usual(_, usual) => Some(usual.to_toml()),
        Place::Maybe(_) | Place::Needed(_) => None,
    };
    Info { default, ..field::<T>(setting.name, setting.about.trim_end_matches('.'), "") }
}
