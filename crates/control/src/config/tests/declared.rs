//! What follows from the declarations alone: any object that they allow reads back as it is
//! written,
//! and each field can be said and is explained.

use std::fmt::Debug;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::declare::{Declared, explained};
use super::super::draft::Draft;
use super::super::info::Info;
use super::super::objects::acl::Rule;
use super::super::objects::api::Api;
use super::super::objects::arp::Arp;
use super::super::objects::bridge::Bridge;
use super::super::objects::connections::Connections;
use super::super::objects::export::Export;
use super::super::objects::flows::Flows;
use super::super::objects::fpm::Fpm;
use super::super::objects::icmp::Icmp;
use super::super::objects::lisp::Lisp;
use super::super::objects::lisp_eid::OwnEid;
use super::super::objects::lisp_map::Mapping;
use super::super::objects::lisp_server::MapServer;
use super::super::objects::lisp_site::LispSite;
use super::super::objects::memory::Memory;
use super::super::objects::mirror::Mirror;
use super::super::objects::nat::Nat;
use super::super::objects::policer::Policer;
use super::super::objects::port::Port;
use super::super::objects::twins::Twins;
use super::super::objects::workers::Workers;
use super::super::objects::{commands, described};
use super::super::words::with_words;
use super::super::write::Fields;

/// Texts that a field could be said with.
fn samples(info: &Info) -> Vec<String> {
    let example = Some(info.example).filter(|example| !example.is_empty());
    let ends = info.range.map(|(least, most)| [least.to_string(), most.to_string()]);
    let words = info.words.iter().chain(&example).map(|word| (*word).to_owned());
    // A list is said with commas alone.
    let default = info.default.as_ref().map(|toml| match toml.starts_with('[') {
        true => toml.replace(['[', ']', '"', ' '], ""),
        false => toml.clone(),
    });
    words.chain(ends.into_iter().flatten()).chain(default).collect()
}

/// Any object that the declarations allow, whatever is around it.
pub(super) fn any_declared<T: Declared + Debug>() -> impl Strategy<Value = T> {
    let infos: Vec<Info> = explained::<T>().into_iter().filter(Info::is_field).collect();
    let mut kinds: Vec<&str> = infos.iter().map(|info| info.of).collect();
    kinds.dedup();
    kinds.retain(|kind| !kind.is_empty());
    let said = vec(option::of(any::<Index>()), infos.len());
    (any::<Index>(), said).prop_filter_map("fields exclude each other", move |(kind, said)| {
        let kind = if kinds.is_empty() { "" } else { *kind.get(&kinds) };
        let mut draft = Draft::default();
        for (info, said) in infos.iter().zip(said) {
            let text = match said {
                _ if info.name == "kind" && !kind.is_empty() => kind.to_owned(),
                _ if !draft.fits(info) => continue,
                Some(index) => index.get(&samples(info)).clone(),
                None if info.is_required => info.example.to_owned(),
                None => continue,
            };
            with_words(&text, |words| draft.say(info, words)).unwrap();
        }
        draft.read("it", T::read).ok()
    })
}

/// Whether an object is the same once written and read.
fn reads_back<T: Declared>(object: &T) -> bool {
    let written = Draft::of(&object.write(Fields::new()));
    written.read("it", T::read).is_ok_and(|read| read == *object)
}

proptest! {
    #[test]
    fn any_object_reads_back_as_it_is_written(
        (workers, memory, api) in (any_declared::<Workers>(), any_declared::<Memory>(), any_declared::<Api>()),
        (arp, icmp, twins, flows) in (any_declared::<Arp>(), any_declared::<Icmp>(), any_declared::<Twins>(), any_declared::<Flows>()),
        (fpm, policer, rule) in (any_declared::<Fpm>(), any_declared::<Policer>(), any_declared::<Rule>()),
        (lisp, server, site) in (any_declared::<Lisp>(), any_declared::<MapServer>(), any_declared::<LispSite>()),
        (eid, mapping) in (any_declared::<OwnEid>(), any_declared::<Mapping>()),
        (port, bridge, mirror) in (any_declared::<Port>(), any_declared::<Bridge>(), any_declared::<Mirror>()),
        (nat, connections, export) in (any_declared::<Nat>(), any_declared::<Connections>(), any_declared::<Export>()),
    ) {
        prop_assert!(reads_back(&workers) && reads_back(&memory) && reads_back(&api));
        prop_assert!(reads_back(&arp) && reads_back(&icmp) && reads_back(&twins) && reads_back(&flows));
        prop_assert!(reads_back(&fpm) && reads_back(&policer) && reads_back(&rule));
        prop_assert!(reads_back(&lisp) && reads_back(&server) && reads_back(&site));
        prop_assert!(reads_back(&eid) && reads_back(&mapping));
        prop_assert!(reads_back(&port) && reads_back(&bridge) && reads_back(&mirror), "{port:?}");
        prop_assert!(reads_back(&nat) && reads_back(&connections), "{nat:?}");
        prop_assert!(reads_back(&export), "{export:?}");
    }
}

#[test]
fn every_field_is_explained_and_can_be_said() {
    for section in described() {
        for info in section.infos.iter().filter(|info| info.is_field()) {
            let field = format!("{}.{}", section.path, info.name);
            assert!(info.help.len() > 5, "{field} has no help");
            let samples = samples(info);
            assert!(!samples.is_empty(), "{field} has neither a default nor an example");
            for sample in samples {
                let said = with_words(&sample, |words| Draft::default().say(info, words));
                assert_eq!(said, Ok(()), "{field} {sample}");
            }
        }
    }
}

#[test]
fn every_noun_that_has_rows_adds_changes_and_removes_them() {
    let verbs = |noun: &str| -> Vec<_> {
        commands().iter().filter(|it| it.noun == noun).map(|it| it.verb).collect()
    };
    assert_eq!(verbs("policer"), ["add", "set", "del"]);
    assert_eq!(verbs("neighbor"), ["add", "del"]);
    assert_eq!(verbs("icmp"), ["set"]);
    assert_eq!(verbs("fpm"), ["set", "del"]);
    assert!(verbs("bridge").starts_with(&["add", "set", "del", "join"]));
}
