//! The studies and scenarios that come with the lab: in the program, so that it needs no file.

use std::path::Path;

use crate::Error;
use crate::study::Study;

/// Studies, by name.
pub const STUDIES: &[(&str, &str)] = &[
    ("vector-router", include_str!("../../../studies/vector-router.toml")),
    ("schedulers", include_str!("../../../studies/schedulers.toml")),
    ("continuous-lab", include_str!("../../../studies/continuous-lab.toml")),
];

macro_rules! scenarios {
    ($($name:literal,)+) => {
        /// Scenarios that runs may begin with, by name.
        pub const SCENARIOS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../scenarios/", $name, ".toml"))),)+
        ];
    };
}
scenarios! {
    "clock",
    "functional",
    "ip4-largest-table",
    "ip4-routes",
    "ip4-table-size",
    "ip6-largest-table",
    "ip6-routes",
    "ip6-table-size",
    "l2-bridge",
    "l2-flows",
    "l2-table-size",
    "l2-xconnect",
    "live-change",
    "packet-cost",
    "schedulers",
    "vector-size",
    "vxlan-encap",
    "workers",
}

/// The text of a study: one that is known by this name, or a file.
pub fn text_of(name: &str) -> Result<String, Error> {
    if let Some((_, text)) = STUDIES.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") {
        return std::fs::read_to_string(path).map_err(Error::file(path));
    }
    let names: Vec<&str> = STUDIES.iter().map(|(name, _)| *name).collect();
    let allowed = format!("{} or a file that ends in .toml", names.join(", ")).into();
    Err(Error::Text { what: "study", text: name.to_owned(), allowed })
}

/// The text of a scenario.
pub fn scenario(name: &str) -> Result<&'static str, Error> {
    let found = SCENARIOS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let names: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).collect();
        let allowed = names.join(", ").into();
        Error::Text { what: "scenario of a run", text: name.to_owned(), allowed }
    })
}

/// Reads a study by its name.
pub fn study(name: &str) -> Result<Study, Error> {
    Study::parse(&text_of(name)?, Path::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_study_parses_and_is_named_as_its_file() {
        for (name, _) in STUDIES {
            assert_eq!(study(name).unwrap().name, *name);
        }
    }

    #[test]
    fn a_name_that_nothing_has_is_told_with_those_that_there_are() {
        let told = text_of("vector").unwrap_err().to_string();
        assert!(told.contains("vector-router") && told.contains(".toml"), "{told}");
        assert!(scenario("nonesuch").unwrap_err().to_string().contains("l2-xconnect"));
    }
}
