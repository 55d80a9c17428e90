//! `docs/example/lab.md` shows how a search is added: its example is compiled and tested here.

#[path = "../../../docs/example/lab_search.rs"]
#[allow(unreachable_pub)] // in the list it is reached
mod first_loss;

use crate::search::{ALL, Kind};

#[test]
fn the_example_in_the_guide_is_the_file_that_is_compiled() {
    let page = include_str!("../../../docs/example/lab.md");
    let file = include_str!("../../../docs/example/lab_search.rs");
    assert!(page.contains(&format!("```rust\n{file}```\n")));
}

#[test]
fn a_line_more_in_the_list_and_scenarios_know_it() {
    let list: Vec<&Kind> = ALL.iter().copied().chain([&first_loss::KIND]).collect();
    let named = |name: &str| list.iter().filter(|kind| kind.name == name).count();
    assert!(ALL.iter().all(|kind| named(kind.name) == 1), "its name is its own");
    let own = |name: &str| {
        list.iter().flat_map(|kind| kind.parameters).filter(|it| it.name == name).count()
    };
    assert!(first_loss::KIND.parameters.iter().all(|it| own(it.name) == 1));
}
