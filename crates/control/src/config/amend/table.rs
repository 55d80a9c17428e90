//! Tables of the file: what is said in them is changed key by key.

use toml_edit::{ArrayOfTables, Decor, Item, Table, TableLike, Value};

use super::comments::{self, Left};
use super::list::{Rows, amend_list, items_of};
use super::place::{each_table, set_positions};

/// Makes of `written`, which says `old` in a way of its own, what says `new`; `None`: it says
/// something by other keys than we would.
pub(super) fn amend_table(
    written: &mut Item,
    old: &Item,
    new: &Item,
    left: &mut Vec<Left>,
) -> Option<()> {
    let (old, new) = (old.as_table_like()?, new.as_table_like()?);
    let is_inline = written.is_value();
    let table = written.as_table_like_mut()?;
    for (key, _) in old.iter().filter(|(key, _)| !new.contains_key(key)) {
        remove(table, key, left)?;
    }
    for (key, item) in new.iter() {
        match (table.get_mut(key), old.get(key)) {
            (_, Some(before)) if same(Some(before), Some(item)) => {}
            (Some(written), Some(before)) => amend_item(written, before, item, is_inline, left),
            // A default that is said all the same.
            (Some(written), None) => put(written, item.clone(), is_inline),
            (None, Some(_)) => return None,
            (None, None) => insert(table, key, item.clone()),
        }
    }
    if let Item::Value(Value::InlineTable(table)) = written
        && !table.to_string().contains('\n')
    {
        let decor = table.decor().clone();
        table.fmt();
        *table.decor_mut() = decor;
    }
    Some(())
}

fn amend_item(written: &mut Item, old: &Item, new: &Item, is_inline: bool, left: &mut Vec<Left>) {
    let amended = if let (Some(old), Some(new)) = (items_of(old), items_of(new)) {
        Rows::of(written).and_then(|mut rows| amend_list(&mut rows, &old, &new, left))
    } else {
        amend_table(written, old, new, left)
    };
    if amended.is_none() {
        put(written, new.clone(), is_inline);
    }
}

/// Says something else, and leaves the comment behind it.
fn put(written: &mut Item, new: Item, is_inline: bool) {
    let decor = written.as_value().map(|value| value.decor().clone());
    let new = if is_inline || decor.is_some() { new.into_value() } else { Err(new) };
    *written = match (new, decor) {
        (Ok(mut value), Some(decor)) => {
            *value.decor_mut() = decor;
            Item::Value(value)
        }
        (Ok(value), None) => Item::Value(value),
        (Err(item), _) => as_new(item),
    };
}

/// Says all of `new`, and nothing else.
pub(super) fn replace_all(written: &mut Item, new: &Item) -> Option<()> {
    let Item::Table(table) = written else {
        put(written, new.clone(), true);
        return Some(());
    };
    table.clear();
    for (key, item) in new.as_table_like()?.iter() {
        insert(table, key, item.clone());
    }
    Some(())
}

/// A key behind the others, in their style.
fn insert(table: &mut dyn TableLike, key: &str, item: Item) {
    let (indent, width) = style(table);
    let is_value = item.is_value();
    table.insert(key, as_new(item));
    if let Some(mut key) = table.key_mut(key).filter(|_| is_value) {
        let own = key.display_repr().chars().count();
        let pad = " ".repeat(width.map_or(1, |width| width.saturating_sub(own).max(1)));
        *key.leaf_decor_mut() = Decor::new(indent, pad);
    }
}

/// How far keys are indented, and how wide they are where all are brought to one width.
fn style(table: &dyn TableLike) -> (String, Option<usize>) {
    let mut indent = String::new();
    let mut widths = Vec::new();
    for (name, _) in table.iter().filter(|(_, item)| item.is_value()) {
        let Some(key) = table.key(name) else { continue };
        let text = |raw: Option<&toml_edit::RawString>| {
            raw.and_then(|raw| raw.as_str()).unwrap_or_default().to_owned()
        };
        let (prefix, suffix) = (text(key.leaf_decor().prefix()), text(key.leaf_decor().suffix()));
        indent = prefix.rsplit('\n').next().unwrap_or_default().to_owned();
        widths.push(key.display_repr().chars().count() + suffix.chars().count());
    }
    let width = widths.first().copied().filter(|_| widths.len() > 1);
    (indent, width.filter(|width| widths.iter().all(|other| other == width)))
}

/// Takes a key away, with the comment right above it; what stands above an empty line stays.
pub(super) fn remove(table: &mut dyn TableLike, key: &str, left: &mut Vec<Left>) -> Option<()> {
    let names: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    let above = table.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str());
    let above = comments::apart(above.unwrap_or_default()).to_owned();
    let gone = table.remove(key)?;
    match &gone {
        Item::Table(table) => left.extend(Left::of(table)),
        Item::ArrayOfTables(tables) => left.extend(tables.get(0).and_then(Left::of)),
        Item::Value(_) | Item::None => {
            let mut behind = names.iter().skip_while(|name| *name != key).skip(1);
            let next = behind.find(|name| table.get(name).is_some_and(Item::is_value));
            if let Some(mut next) = next.and_then(|next| table.key_mut(next)) {
                let own = next.leaf_decor().prefix().and_then(|it| it.as_str()).unwrap_or_default();
                let both = format!("{above}{own}");
                next.leaf_decor_mut().set_prefix(both);
            }
        }
    }
    Some(())
}

/// An item that stands nowhere yet.
pub(super) fn as_new(mut item: Item) -> Item {
    set_positions(&mut item, None);
    let apart = |table: &mut Table| table.decor_mut().set_prefix("\n");
    each_table(&mut item, &mut { apart });
    item
}

/// The rows of an array of tables.
pub(super) fn tables_of(item: Option<&Item>) -> Vec<Item> {
    let tables = item.and_then(Item::as_array_of_tables);
    tables.into_iter().flat_map(ArrayOfTables::iter).cloned().map(Item::Table).collect()
}

/// Whether both say the same.
pub(super) fn same(one: Option<&Item>, other: Option<&Item>) -> bool {
    one.map(text_of) == other.map(text_of)
}

/// What an item says, whatever it looks like.
pub(super) fn text_of(item: &Item) -> String {
    if let Some(table) = item.as_table_like() {
        let pairs = table.iter().map(|(key, item)| format!("{key:?} = {}", text_of(item)));
        return format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "));
    }
    if let Some(items) = items_of(item) {
        let items: Vec<String> = items.iter().map(text_of).collect();
        return format!("[{}]", items.join(", "));
    }
    match item.as_value() {
        Some(Value::String(text)) => format!("{:?}", text.value()),
        Some(value) => value.to_string().trim().to_owned(),
        None => String::new(),
    }
}
