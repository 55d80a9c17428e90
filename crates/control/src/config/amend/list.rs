//! Lists of the file, `[[route]]` or `[…]`: items come, change and go, and all others stay as they
//! are.

use std::collections::HashMap;

use toml_edit::{Array, ArrayOfTables, Item, Value};

use super::comments::{Left, apart};
use super::table::{amend_table, as_new, replace_all, same, text_of};

/// Pairs of items that may be compared to find which stayed.
const MOST_PAIRS: usize = 1 << 20;

/// What tells items of ordered lists apart, where they have it: classes of schedulers do.
const ID: &str = "id";

/// A list, however it is written.
pub(super) enum Rows<'a> {
    Tables(&'a mut ArrayOfTables),
    Values(&'a mut Array),
}

/// The items of a list; `None`: it is none.
pub(super) fn items_of(item: &Item) -> Option<Vec<Item>> {
    if let Some(tables) = item.as_array_of_tables() {
        return Some(tables.iter().cloned().map(Item::Table).collect());
    }
    Some(item.as_array()?.iter().cloned().map(Item::Value).collect())
}

impl<'a> Rows<'a> {
    pub(super) fn of(item: &'a mut Item) -> Option<Self> {
        match item {
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            Item::Value(Value::Array(values)) => Some(Self::Values(values)),
            Item::Value(_) | Item::Table(_) | Item::None => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Tables(tables) => tables.len(),
            Self::Values(values) => values.len(),
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<Item> {
        match self {
            Self::Tables(tables) => tables.get(at).cloned().map(Item::Table),
            Self::Values(values) => values.get(at).cloned().map(Item::Value),
        }
    }

    /// Another item in the place of one.
    pub(super) fn set(&mut self, at: usize, item: Item) -> Option<()> {
        match self {
            Self::Tables(tables) => *tables.get_mut(at)? = item.into_table().ok()?,
            Self::Values(values) => {
                let decor = values.get(at)?.decor().clone();
                let mut value = item.into_value().ok()?;
                *value.decor_mut() = decor;
                values.replace_formatted(at, value);
            }
        }
        Some(())
    }

    pub(super) fn insert(&mut self, at: usize, item: &Item) -> Option<()> {
        match self {
            Self::Tables(tables) => {
                let mut table = as_new(item.clone()).into_table().ok()?;
                // One that only moves takes its comment along.
                let above = item.as_table().and_then(|it| it.decor().prefix()?.as_str());
                let above = above.unwrap_or_default();
                let own = above[apart(above).len()..].trim_start_matches('\n');
                table.decor_mut().set_prefix(format!("\n{own}"));
                tables.insert(at, table);
            }
            Self::Values(values) => {
                insert_value(values, at, item.clone().into_value().ok()?);
            }
        }
        Some(())
    }

    pub(super) fn remove(&mut self, at: usize, left: &mut Vec<Left>) {
        match self {
            Self::Tables(tables) => left.extend(Left::of(&tables.remove(at))),
            Self::Values(values) => remove_value(values, at),
        }
    }
}

/// What becomes of an item of the list, or comes into it.
enum Step {
    /// This one becomes that one of the new list.
    Change(usize, usize),
    Remove(usize),
    /// Before this one comes that one of the new list.
    Insert(usize, usize),
}

/// Makes of a list that says `old` one that says `new`, in its order; `None`: it is no such list.
pub(super) fn amend_list(
    rows: &mut Rows<'_>,
    old: &[Item],
    new: &[Item],
    left: &mut Vec<Left>,
) -> Option<()> {
    if rows.len() != old.len() {
        return None;
    }
    let steps = steps(old, new);
    let moved = moved(rows, old, new, &steps);
    // From the end, so that what is before keeps its place.
    for step in steps.into_iter().rev() {
        match step {
            Step::Insert(at, item) => rows.insert(at, moved.get(&item).unwrap_or(&new[item]))?,
            Step::Remove(at) => rows.remove(at, left),
            Step::Change(at, item) => {
                let mut row = rows.get(at)?;
                if amend_table(&mut row, &old[at], &new[item], left).is_none() {
                    replace_all(&mut row, &new[item])?;
                }
                rows.set(at, row)?;
            }
        }
    }
    Some(())
}

/// Items that come in one place and go in another, as they are written, by their number in the new
/// list: an edited class goes to the end of its list.
fn moved(rows: &Rows<'_>, old: &[Item], new: &[Item], steps: &[Step]) -> HashMap<usize, Item> {
    let id = |item: &Item| item.get(ID).map(text_of);
    let gone = steps.iter().filter_map(|step| match step {
        Step::Remove(at) => Some((id(&old[*at])?, *at)),
        Step::Insert(..) | Step::Change(..) => None,
    });
    let gone: HashMap<String, usize> = gone.collect();
    let mut moved = HashMap::new();
    for step in steps {
        if let Step::Insert(_, item) = *step
            && let Some(at) = id(&new[item]).and_then(|id| gone.get(&id).copied())
            && let Some(mut row) = rows.get(at)
            && amend_table(&mut row, &old[at], &new[item], &mut Vec::new()).is_some()
        {
            moved.insert(item, row);
        }
    }
    moved
}

/// The steps from one list to another, by the items that stay.
fn steps(old: &[Item], new: &[Item]) -> Vec<Step> {
    let is_same = |(one, other): (&Item, &Item)| same(Some(one), Some(other));
    let head = old.iter().zip(new).take_while(|pair| is_same(*pair)).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(|pair| is_same(*pair)).count();
    let (ends, news) = (old.len() - tail, new.len() - tail);
    let mut steps = Vec::new();
    let (mut at, mut item) = (head, head);
    let stays = longest_common(&old[head..ends], &new[head..news]);
    let stays = stays.into_iter().map(|(one, other)| (head + one, head + other));
    for (until, then) in stays.chain([(ends, news)]) {
        while at < until && item < then {
            steps.push(Step::Change(at, item));
            (at, item) = (at + 1, item + 1);
        }
        steps.extend((at..until).map(Step::Remove));
        steps.extend((item..then).map(|item| Step::Insert(until, item)));
        (at, item) = (until + 1, then + 1);
    }
    steps
}

/// The most items that stand in both lists in one order, as their places in each.
fn longest_common(old: &[Item], new: &[Item]) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return Vec::new();
    }
    let text = |items: &[Item]| items.iter().map(text_of).collect::<Vec<_>>();
    let (old, new) = (text(old), text(new));
    // How many are common from here on.
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for (one, left) in old.iter().enumerate().rev() {
        for (other, right) in new.iter().enumerate().rev() {
            common[one][other] = if left == right {
                common[one + 1][other + 1] + 1
            } else {
                common[one + 1][other].max(common[one][other + 1])
            };
        }
    }
    let (mut pairs, mut one, mut other) = (Vec::new(), 0, 0);
    while one < old.len() && other < new.len() {
        if old[one] == new[other] {
            pairs.push((one, other));
            (one, other) = (one + 1, other + 1);
        } else if common[one + 1][other] >= common[one][other + 1] {
            one += 1;
        } else {
            other += 1;
        }
    }
    pairs
}

/// What stands in front of a value: the rest of the line before, which is about that, and the
/// value's own lines.
fn lines(front: &str) -> (&str, &str) {
    front.split_at(front.find('\n').unwrap_or(0))
}

/// What stands in front of a value, or behind the last one.
fn front(values: &Array, at: usize) -> String {
    let raw = match values.get(at) {
        Some(value) => value.decor().prefix().and_then(|it| it.as_str()),
        None => values.trailing().as_str(),
    };
    raw.unwrap_or_default().to_owned()
}

fn set_front(values: &mut Array, at: usize, front: String) {
    match values.get_mut(at) {
        Some(value) => value.decor_mut().set_prefix(front),
        None => values.set_trailing(front),
    }
}

fn insert_value(values: &mut Array, at: usize, mut value: Value) {
    let indents = (0..values.len()).map(|at| front(values, at)).find(|front| front.contains('\n'));
    let Some(like) = indents else {
        value.decor_mut().clear();
        values.insert_formatted(at, value);
        return tidy(values);
    };
    let indent = like.rsplit('\n').next().unwrap_or_default().to_owned();
    let last = values.len().checked_sub(1).filter(|_| at == values.len());
    let suffix = last.and_then(|last| values.get(last)?.decor().suffix()?.as_str());
    let suffix = suffix.unwrap_or_default().to_owned();
    if let Some(last) = last.and_then(|last| values.get_mut(last)) {
        last.decor_mut().set_suffix("");
    }
    let behind = format!("{suffix}{}", front(values, at));
    let (about_before, own) = lines(&behind);
    value.decor_mut().set_prefix(format!("{about_before}\n{indent}"));
    value.decor_mut().set_suffix("");
    set_front(values, at, own.to_owned());
    values.insert_formatted(at, value);
}

fn remove_value(values: &mut Array, at: usize) {
    let before = front(values, at);
    let suffix = values.get(at).and_then(|value| value.decor().suffix()?.as_str());
    let suffix = suffix.unwrap_or_default().to_owned();
    values.remove(at);
    if !before.contains('\n') && !front(values, at).contains('\n') {
        return tidy(values);
    }
    let behind = format!("{suffix}{}", front(values, at));
    let front = format!("{}{}", lines(&before).0, lines(&behind).1);
    set_front(values, at, front);
}

/// A list on one line, as all are written.
fn tidy(values: &mut Array) {
    if !values.to_string().contains('\n') {
        let decor = values.decor().clone();
        values.fmt();
        *values.decor_mut() = decor;
    }
}
