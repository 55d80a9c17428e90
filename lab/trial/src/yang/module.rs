//! The lists of our YANG module that the lab has itself: made from them, never by hand.

use lab_search::search::names;

/// Where the searches are listed, and where their list ends.
const LIST: [&str; 2] = ["      leaf search {\n        type enumeration {\n", "        }\n"];

/// The text of the module with the searches that there are; none where it has no place for them.
pub fn with_searches(module: &str) -> Option<String> {
    let (before, list) = module.split_once(LIST[0])?;
    let (_, after) = list.split_once(LIST[1])?;
    let names: String = names().map(|name| format!("          enum {name};\n")).collect();
    Some([before, LIST[0], &names, LIST[1], after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_searches_of_a_module_are_those_of_the_lab() {
        let module = |names: &str| format!("a\n{}{names}{}b }}\n", LIST[0], LIST[1]);
        let made = with_searches(&module("          enum gone;\n")).unwrap();
        assert!(made.contains("          enum mlr;\n") && !made.contains("gone"), "{made}");
        assert_eq!(made.matches("enum ").count(), names().count());
        assert_eq!(with_searches("module m { }"), None);
    }
}
