//! CONTRIBUTING.md shows how a part of the router is added: its example is compiled and run here.

#[path = "../../../docs/example/link_losses.rs"]
mod link_losses;

use crate::part::Part;
use crate::router::Router;
use control::config::field::Field;
use control::config::objects::port::PortName;
use control::config::{Config, Host, Source, parse};
use link_losses::LinkLosses;
use std::sync::Arc;

#[test]
fn the_example_of_a_part_counts_and_forgets() {
    let text = "workers = { mode = \"single-thread\" }\n\
                memory = { buffers = 4096, hugepages = \"never\" }\n";
    let config: Config = parse(&Source::new("router.toml", text), &Host::any()).unwrap();
    let mut router = Router::start(&config, Arc::new(|| ())).unwrap();
    let (mut part, port) = (LinkLosses::default(), PortName::from_text("p1").unwrap());
    part.link_down(&mut router.core, &port);
    part.link_down(&mut router.core, &port);
    assert_eq!(part.show(), [("p1".to_owned(), 2)]);
    part.close(&mut router.core, &port).unwrap();
    assert_eq!(part.show(), []);
}
