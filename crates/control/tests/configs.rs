//! The examples in configs/ are good configurations, each with its comments.
#![allow(clippy::unwrap_used, clippy::panic)] // These are tests.

use control::config::{Config, Host, Source, parse, render};
use std::fs;
use std::path::PathBuf;

fn examples() -> Vec<(PathBuf, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> =
        paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect();
    assert!(found.len() >= 8, "only {} examples", found.len());
    found
}

fn read(name: &str, text: &str) -> Config {
    match parse(&Source::new(name.to_owned(), text.to_owned()), &Host::any()) {
        Ok(config) => config,
        Err(problems) => panic!("{problems}"),
    }
}

#[test]
fn every_example_is_a_good_configuration() {
    for (path, text) in examples() {
        let config = read(&path.display().to_string(), &text);
        assert!(config.ports.len() >= 2, "{}", path.display());
        assert!(text.starts_with("# "), "{} says nothing of itself", path.display());
    }
}

#[test]
fn every_example_is_the_same_after_it_was_saved() {
    for (path, text) in examples() {
        let config = read("example", &text);
        assert_eq!(read("saved", &render(&config)), config, "{}", path.display());
    }
}

#[test]
fn the_packet_of_the_demonstration_is_whole() {
    let (_, text) =
        examples().into_iter().find(|(path, _)| path.ends_with("memory-demo.toml")).unwrap();
    let config = read("memory-demo.toml", &text);
    let mut frames = config.ports.iter().filter_map(|(_, port)| match &port.kind {
        control::config::objects::port_kind::PortKind::Memory(memory) => memory.frames.first(),
        _ => None,
    });
    let packet = wire::ipv4::Packet::parse(&frames.next().unwrap().bytes()[14..]).unwrap();
    assert_eq!(packet.payload.len(), 8 + 18);
}

/// References of versions before this one, each with every key that it knew.
#[test]
fn configurations_of_older_versions_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/older");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let config = read(&path.display().to_string(), &fs::read_to_string(&path).unwrap());
        assert!(config.ports.len() >= 2, "{}", path.display());
        count += 1;
    }
    assert!(count >= 2, "only {count} older versions");
}
