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
        assert_eq!(read("saved", &render(&config)), config, "{}", path.display());
        count += 1;
    }
    assert!(count >= 3, "only {count} older versions");
}

/// The reference of 0.2.0 as this router saves it: a line that differs has another meaning now, or
/// another form, and is looked at before it is written anew.
#[test]
fn what_0_2_0_said_means_the_same() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let older = fs::read_to_string(format!("{folder}/older/0.2.0.toml")).unwrap();
    let saved = render(&read("0.2.0.toml", &older));
    let path = format!("{folder}/saved/0.2.0.toml");
    if std::env::var_os("VOLLEY_BLESS").is_some() {
        fs::create_dir_all(format!("{folder}/saved")).unwrap();
        fs::write(&path, &saved).unwrap();
    }
    assert_eq!(saved, fs::read_to_string(&path).unwrap(), "run with VOLLEY_BLESS=1, and look");
}

#[test]
fn a_configuration_of_a_newer_version_is_refused_whatever_it_is() {
    let older = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/older/0.2.0.toml");
    let older = fs::read_to_string(older).unwrap();
    let newer = older.replacen("version = 1", "version = 2", 1);
    for text in [newer.clone(), newer.replace("kind = ", "sort = "), "version = 2\n".to_owned()] {
        let told = parse(&Source::new("router.toml", text), &Host::any()).unwrap_err().to_string();
        let why = "a configuration of version 2, and this router knows 1 at most";
        assert!(told.contains(why) && told.contains("a newer router wrote it"), "{told}");
        assert!(!told.contains("sort"), "{told}");
    }
}
