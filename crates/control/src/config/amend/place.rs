//! Where tables stand in the file.

use toml_edit::{Item, Table};

/// Every table of an item with a header of its own, in the order of the file's text.
pub(super) fn each_table(item: &mut Item, visit: &mut dyn FnMut(&mut Table)) {
    match item {
        Item::Table(table) => {
            visit(table);
            table.iter_mut().for_each(|(_, item)| each_table(item, visit));
        }
        Item::ArrayOfTables(tables) => {
            for table in tables.iter_mut() {
                visit(table);
                table.iter_mut().for_each(|(_, item)| each_table(item, visit));
            }
        }
        Item::Value(_) | Item::None => {}
    }
}

/// The place of the last table.
pub(super) fn last_position(root: &Table) -> isize {
    let mut last = 0;
    each_table(&mut Item::Table(root.clone()), &mut |table| {
        last = last.max(table.position().unwrap_or(0));
    });
    last
}

/// Has all tables of an item stand at one place; `None`: behind the one before.
pub(super) fn set_positions(item: &mut Item, position: Option<isize>) {
    each_table(item, &mut |table| table.set_position(position));
}
