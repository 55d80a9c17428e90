//! Nonsense is refused, and the message says why.

use super::*;
use crate::units::{Rate, Size, Time};
use crate::{
    ClassId, CodelShape, Curve, Filter, FqCodelShape, HfscClass, HfscShape, HtbClass, HtbShape,
    PrioShape, build,
};

fn id(minor: u16) -> ClassId {
    ClassId::new(1, minor)
}

fn htb_of(classes: Vec<HtbClass>) -> Config {
    Config::of(Shape::Htb(HtbShape {
        handle: id(0),
        default: None,
        r2q: 10,
        direct_packets: 1000,
        all_workers: false,
        classes,
    }))
}

fn htb_class(minor: u16, parent: u16, mbit: u64) -> HtbClass {
    HtbClass::new(id(minor), (parent != 0).then(|| id(parent)), Rate(mbit * 1_000_000))
}

fn hfsc_of(classes: Vec<HfscClass>) -> Config {
    Config::of(Shape::Hfsc(HfscShape { handle: id(0), default: None, classes }))
}

fn straight(mbit: u64) -> Option<Curve> {
    Some(Curve::straight(Rate(mbit * 1_000_000)))
}

fn refused(config: &Config) -> String {
    match build::<u64>(config) {
        Ok(_) => panic!("accepted: {config:?}"),
        Err(error) => error.to_string(),
    }
}

/// What is warned of, in a configuration that can be had.
fn warned(config: &Config) -> String {
    build::<u64>(config).unwrap_or_else(|error| panic!("{error}"));
    let told: Vec<String> = warnings(config).iter().map(ToString::to_string).collect();
    told.join("\n")
}

#[test]
fn a_child_above_its_parents_ceil_is_warned_of() {
    let config = htb_of(vec![htb_class(1, 0, 10), htb_class(2, 1, 12)]);
    let told = warned(&config);
    let ceil = "class 1:2: ceil 12mbit is above the ceil of its parent 1:1, 10mbit";
    let sum = "the children of 1:1 are promised 12mbit together, above its ceil of 10mbit";
    assert_eq!(told, format!("{ceil}\n{sum}"));
}

#[test]
fn a_rate_above_the_classs_own_ceil_is_warned_of() {
    let mut class = htb_class(1, 0, 10);
    class.ceil = Some(Rate(9_000_000));
    assert_eq!(warned(&htb_of(vec![class])), "class 1:1: rate 10mbit is above its own ceil 9mbit");
}

#[test]
fn promises_above_the_parents_ceil_or_the_link_are_warned_of() {
    let classes = vec![htb_class(1, 0, 10), htb_class(2, 1, 6), htb_class(3, 1, 6)];
    assert_eq!(
        warned(&htb_of(classes)),
        "the children of 1:1 are promised 12mbit together, above its ceil of 10mbit"
    );
    let mut config = htb_of(vec![htb_class(1, 0, 10)]);
    assert_eq!(warned(&config), "");
    config.link_rate = Some(Rate(8_000_000));
    assert!(warned(&config).contains("above its link_rate of 8mbit"));
}

#[test]
fn a_default_that_is_no_class_is_warned_of() {
    let mut config = htb_of(vec![htb_class(1, 0, 10)]);
    if let Shape::Htb(htb) = &mut config.root {
        htb.default = Some(id(0x20));
    }
    assert_eq!(
        warned(&config),
        "the default of htb is class 1:20, which is not defined: packets that no filter takes pass \
         unshaped"
    );
}

#[test]
fn a_bucket_too_small_for_the_longest_packet_is_warned_of() {
    let mut config = Config::of(Shape::tbf(Rate(1000), Size(1500), Shape::pfifo(1)));
    assert_eq!(
        warned(&config),
        "tbf: burst 1500b is less than the longest packet, 1514b: such are dropped"
    );
    config.mtu_bytes = 1500;
    assert_eq!(warned(&config), "");
}

#[test]
fn rates_of_zero_are_refused() {
    assert!(refused(&htb_of(vec![htb_class(1, 0, 0)])).contains("rate is zero"));
    let mut class = HfscClass::new(id(1), None);
    class.ls = straight(0);
    assert!(refused(&hfsc_of(vec![class])).contains("ls is zero"));
}

#[test]
fn a_tree_of_more_levels_than_anybody_draws_is_refused() {
    let chain = |levels: u16| (1..=levels).map(|minor| htb_class(minor, minor - 1, 10)).collect();
    assert!(check(&htb_of(chain(255))).is_ok());
    assert_eq!(refused(&htb_of(chain(256))), "class 1:100 stands more than 255 levels deep");
}

#[test]
fn loops_are_refused_with_a_class_of_the_loop() {
    let classes = vec![
        htb_class(1, 0, 10),
        htb_class(5, 2, 1),
        htb_class(2, 3, 1),
        htb_class(3, 4, 1),
        htb_class(4, 2, 1),
    ];
    let error = refused(&htb_of(classes));
    let on_it =
        ["1:2", "1:3", "1:4"].iter().any(|id| error == format!("class {id} is its own ancestor"));
    assert!(on_it, "{error}");
}

#[test]
fn unknown_and_foreign_classes_are_refused() {
    let error = refused(&htb_of(vec![htb_class(1, 7, 1)]));
    assert_eq!(error, "class 1:1 names class 1:7, which is not defined");
    let foreign = HtbClass::new(ClassId::new(2, 1), None, Rate(1000));
    assert!(refused(&htb_of(vec![foreign])).contains("2:1 does not belong to 1:"));
    let mut config = htb_of(vec![htb_class(1, 0, 1)]);
    config.filters.push(Filter::to(id(9)));
    assert_eq!(refused(&config), "filter 1 names class 1:9, which is not defined");
    assert!(
        refused(&htb_of(vec![htb_class(1, 0, 1), htb_class(1, 0, 1)])).contains("defined twice")
    );
}

#[test]
fn inner_classes_are_no_leaves() {
    let mut classes = vec![htb_class(1, 0, 10), htb_class(2, 1, 1)];
    classes[0].leaf = Some(Shape::sfq());
    assert_eq!(
        refused(&htb_of(classes.clone())),
        "class 1:1 has children, so sfq cannot be its leaf"
    );
    classes[0].leaf = None;
    let mut config = htb_of(classes);
    if let Shape::Htb(htb) = &mut config.root {
        htb.default = Some(id(1));
    }
    assert!(refused(&config).contains("so the default of htb cannot be its leaf"));
}

#[test]
fn a_million_classes_are_refused_at_once() {
    let classes = (0..1_000_000u32).map(|n| htb_class(n as u16, 0, 1)).collect();
    assert!(refused(&htb_of(classes)).contains("1000000 classes are more than the 65534"));
}

#[test]
fn curves_that_cannot_be_met_are_warned_of() {
    let mut parent = HfscClass::new(id(1), None);
    (parent.ls, parent.ul) = (straight(10), straight(10));
    let mut child = HfscClass::new(id(2), Some(id(1)));
    child.rt = straight(11);
    let config = hfsc_of(vec![parent.clone(), child.clone()]);
    assert!(warned(&config).contains("curves below 1:1 cannot be met"), "{}", warned(&config));
    // Each fits in the long run, but not together in the first 20 ms.
    let burst = Curve { m1: Rate(6_000_000), d: Time(20_000_000), m2: Rate(1_000_000) };
    child.rt = Some(burst);
    let mut other = HfscClass::new(id(3), Some(id(1)));
    other.rt = Some(burst);
    let config = hfsc_of(vec![parent.clone(), child.clone(), other]);
    let error = warned(&config);
    assert!(
        error.contains("240000 bits are due after 20ms where the upper limit allows 200000"),
        "{error}"
    );
    assert_eq!(warned(&hfsc_of(vec![parent, child])), "");
}

#[test]
fn classes_without_the_curves_they_need_are_refused() {
    let none = HfscClass::new(id(1), None);
    assert!(refused(&hfsc_of(vec![none.clone()])).contains("neither a real-time nor a link-share"));
    let only_limit = HfscClass { rt: straight(1), ul: straight(2), ..none };
    assert!(refused(&hfsc_of(vec![only_limit])).contains("an upper limit without a link-share"));
}

#[test]
fn a_shaper_under_a_class_is_refused() {
    let mut class = htb_class(1, 0, 1);
    class.leaf = Some(Shape::tbf(Rate(1000), Size(2000), Shape::pfifo(10)));
    assert!(refused(&htb_of(vec![class])).contains("tbf cannot stand under htb"));
}

#[test]
fn settings_out_of_range_are_refused_with_the_range() {
    let cases = [
        (Shape::pfifo(0), "pfifo: limit 0 is not within 1 to 2^24"),
        (Shape::prio(17), "prio: bands 17 is not within 1 to 16"),
        (
            Shape::Codel(CodelShape { target: Time(200_000_000), ..CodelShape::default() }),
            "codel: target (ns) 200000000 is not within 1.024us to the interval",
        ),
        (
            Shape::FqCodel(FqCodelShape { flows: 0, ..FqCodelShape::default() }),
            "fq_codel: flows 0 is not within 1 to 65536",
        ),
        (
            Shape::tbf(Rate(1000), Size(0), Shape::pfifo(1)),
            "tbf: burst 0 is not within 1 byte to 4 GiB",
        ),
    ];
    for (shape, reason) in cases {
        assert_eq!(refused(&Config::of(shape)), reason);
    }
}

#[test]
fn one_handle_names_one_discipline() {
    let inner = PrioShape { handle: id(0), bands: vec![Shape::pfifo(1)], priomap: [0; 16] };
    let mut class = htb_class(1, 0, 1);
    class.leaf = Some(Shape::Prio(inner));
    assert_eq!(refused(&htb_of(vec![class])), "handle 1: names two disciplines");
}

#[test]
fn state_above_the_memory_limit_is_refused_with_both_figures() {
    let classes = (1..=10_000)
        .map(|minor| HtbClass { leaf: Some(Shape::fq_codel()), ..htb_class(minor, 0, 1) })
        .collect();
    let error = refused(&htb_of(classes));
    assert!(error.contains("of memory, above memory_limit 512mb"), "{error}");
}

#[test]
fn disciplines_nested_without_end_are_refused() {
    let mut shape = Shape::pfifo(1);
    for _ in 0..20 {
        shape = Shape::tbf(Rate(1000), Size(2000), shape);
    }
    assert!(refused(&Config::of(shape)).contains("more than 8 deep"));
}

#[test]
fn a_configuration_survives_the_way_through_text() {
    let mut config = htb_of(vec![htb_class(1, 0, 10), htb_class(2, 1, 5)]);
    if let Shape::Htb(htb) = &mut config.root {
        htb.classes[1].leaf = Some(Shape::fq_codel());
    }
    config.filters.push(Filter { dscp: Some(46), ..Filter::to(id(2)) });
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
    let unknown = text.replace("\"dscp\"", "\"dcsp\"");
    assert!(serde_json::from_str::<Config>(&unknown).unwrap_err().to_string().contains("dcsp"));
}
