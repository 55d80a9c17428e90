//! What a router before may have left, on any bytes: files, their blocks, and what stands in them.
//! The first byte says which table they are taken for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use state::routes::{Routes, Writer};
use state::{Blocks, Boot, Table, Wrong, block, header, snapshot};
use state::{counters, mappings, neighbors, policers, remotes, stations};

const BOOT: Boot = Boot { id: [0; 16], now_ns: 0 };

fuzz_target!(|bytes: &[u8]| {
    let Some((which, bytes)) = bytes.split_first() else { return };
    let table = Table::ALL[usize::from(*which) % Table::ALL.len()];
    // As a file that anybody may have written.
    read(bytes, table);
    // With all that is checked before its content as it has to be.
    match table {
        Table::Routes => read(&[header(table, &BOOT), block(bytes)].concat(), table),
        _ => read(&snapshot(table, &BOOT, bytes), table),
    }
});

fn read(bytes: &[u8], table: Table) {
    let Ok(blocks) = Blocks::of(bytes, table, &BOOT, 60) else { return };
    match table {
        Table::Routes => routes(&blocks),
        Table::Neighbors => drop(blocks.snapshot().map(|it| neighbors::read(&it))),
        Table::Stations => drop(blocks.snapshot().map(|it| stations::read(&it))),
        Table::Counters => drop(blocks.snapshot().map(|it| counters::read(&it))),
        Table::Policers => again(&blocks, policers::read, policers::write),
        Table::Remotes => again(&blocks, remotes::read, remotes::write),
        Table::Mappings => again(&blocks, mappings::read, mappings::write),
    }
}

/// What is read is written again, and is the same bytes.
fn again<T>(
    blocks: &Blocks<'_>,
    read: impl Fn(&[u8]) -> Result<Vec<T>, Wrong>,
    write: impl Fn(&[T]) -> Vec<u8>,
) {
    let Ok(bytes) = blocks.snapshot() else { return };
    if let Ok(all) = read(&bytes) {
        assert_eq!(write(&all), bytes);
    }
}

/// What is read is written again, and reads the same.
fn routes(blocks: &Blocks<'_>) {
    let mut routes = Routes::default();
    if blocks.log(|block| Ok(routes.read(block)?)).is_err() {
        return;
    }
    routes.settle();
    let mut log = Writer::default();
    let vrfs: Vec<_> = routes.vrfs.iter().map(|name| log.vrf(name)).collect();
    let targets: Vec<_> = routes.targets.iter().map(|target| log.target(target)).collect();
    let target = |number: u32| targets[number as usize];
    for (key, to) in &routes.ip4 {
        let Some(vrf) = vrfs[usize::from(key.vrf)] else { return };
        log.route(state::routes::Key { vrf, ..*key }, target(*to));
    }
    let mut again = Routes::default();
    again.read(&log.take()).unwrap();
    again.settle();
    // Names that were there twice have one number now.
    assert!(again.ip4.len() <= routes.ip4.len());
    assert!(again.ip4.is_sorted_by(|one, next| one.0 < next.0));
}
