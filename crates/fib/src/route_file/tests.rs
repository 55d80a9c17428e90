//! What files give, and what they are refused for.

use proptest::prelude::*;

use super::*;

fn read(bytes: &[u8], on_wrong: OnWrong) -> Result<FileRoutes, FibError> {
    read_routes(
        bytes,
        Rules { on_wrong, most_routes: usize::MAX, bare_prefixes: false },
        &mut |_| {},
    )
}

fn v4(text: &str, target: FileTarget) -> FileRoute {
    FileRoute { prefix: FilePrefix::V4(text.parse().unwrap()), target }
}

fn v6(text: &str, target: FileTarget) -> FileRoute {
    FileRoute { prefix: FilePrefix::V6(text.parse().unwrap()), target }
}

fn to(address: &str) -> FileTarget {
    FileTarget::Address(address.parse().unwrap())
}

const GOOD: &str =
    "# routes\n\n 192.0.2.0/24\t10.0.0.1 # lab\r\n2001:db8::/32 AS64500\n10.0.0.0/8 7";

fn good() -> [FileRoute; 3] {
    [
        v4("192.0.2.0/24", to("10.0.0.1")),
        v6("2001:db8::/32", FileTarget::Number(64500)),
        v4("10.0.0.0/8", FileTarget::Number(7)),
    ]
}

#[test]
fn lines_become_routes_and_comments_nothing() {
    assert_eq!(read(GOOD.as_bytes(), OnWrong::Refuse).unwrap().routes, good());
    assert!(read(b"", OnWrong::Refuse).unwrap().routes.is_empty());
}

#[test]
fn a_zstd_file_is_read_as_its_contents() {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let packed = ruzstd::encoding::compress_to_vec(GOOD.as_bytes(), level);
    assert_eq!(read(&packed, OnWrong::Refuse).unwrap().routes, good());
    let cut = read(&packed[..packed.len() / 2], OnWrong::Skip).unwrap_err();
    assert!(matches!(cut, FibError::RouteFile { .. }), "{cut}");
}

#[test]
fn a_wrong_line_is_told_by_line_and_column() {
    for (line, column, quoted) in [
        ("10.0.0.1/24 10.0.0.1", 1, "10.0.0.1/24"),
        ("10.0.0.0/33 10.0.0.1", 1, "10.0.0.0/33"),
        ("  rubbish 10.0.0.1", 3, "rubbish"),
        ("10.0.0.0/24", 12, ""),
        ("10.0.0.0/24 hop", 13, "hop"),
        ("10.0.0.0/24 AS4294967296", 13, "AS4294967296"),
        ("10.0.0.0/24 7 8", 15, "8"),
        ("2001:db8::/129 7", 1, "2001:db8::/129"),
        ("10.0.0.0/24 \u{fc}", 13, "\u{fc}"),
    ] {
        let text = format!("10.0.0.0/8 7\n{line}\n10.1.0.0/16 8\n");
        let error = read(text.as_bytes(), OnWrong::Refuse).unwrap_err();
        let FibError::RouteLine { line: at, column: place, text: said, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((*at, *place, said.trim_end()), (2, column, quoted), "{error}");
        let kept = read(text.as_bytes(), OnWrong::Skip).unwrap();
        assert_eq!((kept.routes.len(), kept.wrong_count, kept.wrong.len()), (2, 1, 1));
    }
}

#[test]
fn a_prefix_alone_leads_to_its_line_where_all_targets_are_mapped() {
    let text = b"# prefixes\n10.0.0.0/8\n2001:db8::/32 # alone\n10.1.0.0/16 9\n";
    let rules = Rules { on_wrong: OnWrong::Refuse, most_routes: usize::MAX, bare_prefixes: true };
    let number = FileTarget::Number;
    let expected =
        [v4("10.0.0.0/8", number(2)), v6("2001:db8::/32", number(3)), v4("10.1.0.0/16", number(9))];
    assert_eq!(read_routes(&text[..], rules, &mut |_| {}).unwrap().routes, expected);
    let wrong = read_routes(&b"10.0.0.0/8 hop\n"[..], rules, &mut |_| {}).unwrap_err();
    assert!(matches!(wrong, FibError::RouteLine { column: 12, .. }), "{wrong}");
    assert!(read(text, OnWrong::Refuse).is_err(), "where a file says itself, all of it");
}

#[test]
fn a_line_without_end_costs_itself_alone() {
    let text = format!("10.0.0.0/8 7\n{}\n10.1.0.0/16 8\n", "x".repeat(1 << 20));
    let kept = read(text.as_bytes(), OnWrong::Skip).unwrap();
    assert_eq!((kept.routes.len(), kept.wrong_count), (2, 1));
}

#[test]
fn of_many_wrong_lines_all_are_counted_and_some_kept() {
    let kept = read("rubbish\n".repeat(1000).as_bytes(), OnWrong::Skip).unwrap();
    assert_eq!((kept.wrong_count, kept.wrong.len()), (1000, MAX_WRONG));
}

#[test]
fn progress_goes_up_to_the_end() {
    let lines: Vec<String> =
        (0..25_000u32).map(|n| format!("10.{}.{}.0/24 7\n", n >> 8, n & 255)).collect();
    let text = lines.concat().replace("10.256", "11.0");
    let mut seen = Vec::new();
    let rules = Rules { on_wrong: OnWrong::Skip, most_routes: usize::MAX, bare_prefixes: false };
    read_routes(text.as_bytes(), rules, &mut |progress| seen.push(progress)).unwrap();
    assert!(seen.is_sorted_by_key(|progress| (progress.routes, progress.bytes)));
    assert_eq!(seen.last().unwrap().bytes, text.len() as u64);
    assert!(seen.len() >= 3);
}

/// One record of a table dump.
fn record(subtype: u16, body: &[u8]) -> Vec<u8> {
    let mut record = vec![0, 0, 0, 1, 0, 13];
    record.extend(subtype.to_be_bytes());
    record.extend((body.len() as u32).to_be_bytes());
    record.extend(body);
    record
}

/// One prefix with one entry of the first peer.
fn rib(subtype: u16, length: u8, prefix: &[u8], attributes: &[u8]) -> Vec<u8> {
    let mut body = vec![0, 0, 0, 9, length];
    body.extend(prefix);
    body.extend([0, 1, 0, 0, 0, 0, 0, 5]);
    body.extend((attributes.len() as u16).to_be_bytes());
    body.extend(attributes);
    record(subtype, &body)
}

fn dump() -> Vec<u8> {
    let mut mp_reach = vec![0x90, 14, 0, 17, 16];
    mp_reach.extend("2001:db8::9".parse::<std::net::Ipv6Addr>().unwrap().octets());
    let peers = [1, 1, 1, 1, 0, 0, 0, 1, 0, 9, 9, 9, 9, 10, 0, 0, 3, 0xfd, 0xe8];
    [
        record(1, &peers),
        rib(2, 24, &[192, 0, 2], &[0x40, 1, 1, 0, 0x40, 3, 4, 10, 0, 0, 1]),
        rib(2, 0, &[], &[]),
        rib(4, 32, &[0x20, 1, 0xd, 0xb8], &mp_reach),
        record(6, &[1, 2, 3]),
    ]
    .concat()
}

#[test]
fn a_table_dump_gives_next_hops_or_else_peers() {
    let expected = [
        v4("192.0.2.0/24", to("10.0.0.1")),
        v4("0.0.0.0/0", to("10.0.0.3")),
        v6("2001:db8::/32", to("2001:db8::9")),
    ];
    assert_eq!(read(&dump(), OnWrong::Refuse).unwrap().routes, expected);
}

#[test]
fn a_damaged_record_is_told_by_its_offset() {
    let start = dump().len() as u64;
    for damaged in
        [rib(2, 33, &[1, 2, 3, 4, 5], &[]), rib(2, 255, &[1], &[]), rib(4, 64, &[1], &[])]
    {
        let bytes = [dump(), damaged, rib(2, 8, &[11], &[])].concat();
        let error = read(&bytes, OnWrong::Refuse).unwrap_err();
        assert!(
            matches!(error, FibError::RouteRecord { offset, .. } if offset == start),
            "{error}"
        );
        let kept = read(&bytes, OnWrong::Skip).unwrap();
        assert_eq!((kept.routes.len(), kept.wrong_count), (4, 1));
    }
    let cut = read(&dump()[..dump().len() - 1], OnWrong::Refuse).unwrap_err();
    assert!(matches!(cut, FibError::RouteRecord { .. }), "{cut}");
}

proptest! {
    #![proptest_config(crate::testing::cases(2000))]

    #[test]
    fn damage_is_never_more_than_an_error(
        dumped in any::<bool>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let mut bytes = if dumped { dump() } else { GOOD.as_bytes().to_vec() };
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        match (read(&bytes, OnWrong::Refuse), read(&bytes, OnWrong::Skip)) {
            (Ok(strict), Ok(kept)) => {
                prop_assert_eq!((strict.routes, kept.wrong_count), (kept.routes, 0));
            }
            (Err(_), Ok(kept)) => prop_assert!(kept.wrong_count > 0),
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => prop_assert!(false, "{error}"),
        }
    }
}

#[test]
fn a_small_file_of_very_many_routes_is_left_where_there_is_no_more_room() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..100_000 {
        std::io::Write::write_all(&mut packed, b"10.0.0.0/8 192.0.2.1\n").unwrap();
    }
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 10_000);
    let mut furthest = 0;
    let rules = Rules { on_wrong: OnWrong::Skip, most_routes: 70_000, bare_prefixes: false };
    let read = read_routes(&packed[..], rules, &mut |progress| furthest = progress.routes);
    assert_eq!(read.unwrap_err().to_string(), "more than 70000 routes, for which there is room");
    assert!(furthest < 70_001);
}
