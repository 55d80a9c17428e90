//! What is written is read again, action by action, in every version that has it.

use super::*;
use crate::field::{Field, Sub, ones};
use crate::machine::Nat;
use crate::port;
use proptest::prelude::*;

fn any_field() -> impl Strategy<Value = Field> {
    (0..Field::ALL.len()).prop_map(|index| Field::ALL[index])
}

fn any_sub(writable: bool) -> impl Strategy<Value = Sub> {
    let field = any_field().prop_filter("can be set", move |it| !writable || !it.is_fixed());
    (field, any::<u16>(), any::<u16>()).prop_map(|(field, offset, bits)| {
        // Whether there is a tag is no part of what is told apart of it.
        let all = if field == Field::VlanVid { 12 } else { field.bits() as u16 };
        let bits = bits % all.min(64) + 1;
        Sub { field, offset: offset % (all - bits + 1), bits }
    })
}

/// The bits that values of a field have.
fn most_of(field: Field) -> u128 {
    match field {
        Field::ArpOp => 0xff,
        Field::IpTos => 0xfc,
        _ => field.ones(),
    }
}

fn any_learn() -> impl Strategy<Value = Action> {
    let from = prop_oneof![
        any::<u128>().prop_map(|it| (None, it)),
        any_sub(false).prop_map(|it| (Some(it), 0))
    ];
    let spec = (from, any_sub(true), 0..3usize).prop_map(|((from, value), to, kind)| {
        let bits = from.map_or(to.bits, |it| it.bits.min(to.bits));
        let (cut, to) = (|sub: Sub| Sub { bits, ..sub }, Sub { bits, ..to });
        learn::Spec {
            from: from.map_or(learn::From::Value(value & ones(bits.into())), |it| {
                learn::From::Packet(cut(it))
            }),
            to: [learn::To::Match(to), learn::To::Load(to), learn::To::Output][kind],
            bits,
        }
    });
    let limit = (0..3u32, proptest::option::of(any_sub(true)));
    (
        any::<[u16; 5]>(),
        any::<u64>(),
        0..4u16,
        0..255u8,
        limit,
        proptest::collection::vec(spec, 0..5),
    )
        .prop_map(
            |([idle, hard, priority, fin_idle, fin_hard], cookie, flags, table, more, specs)| {
                let (limit, result) = (more.0, more.1.map(|sub| Sub { bits: 1, ..sub }));
                Learn {
                    idle,
                    hard,
                    priority,
                    cookie,
                    flags,
                    table,
                    fin_idle,
                    fin_hard,
                    limit,
                    result,
                    specs,
                }
                .into()
            },
        )
}

/// Any action that all versions can say.
fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (1..=crate::MAX_PORT).prop_map(|it| Output::to(it).into()),
        any::<u16>().prop_map(|max_len| Output { port: port::CONTROLLER, max_len }.into()),
        (any_sub(false), any::<u16>())
            .prop_map(|(from, max_len)| OutputReg { from, max_len }.into()),
        any::<(u16, u16, u8)>().prop_map(|(max_len, controller, reason)| {
            Controller { max_len, controller, reason }.into()
        }),
        any::<Option<u32>>().prop_map(|queue| SetQueue { queue }.into()),
        (0..0xffff_ff00u32).prop_map(|group| Group { group }.into()),
        (any_sub(true), any::<u128>()).prop_filter_map("is said so", |(sub, value)| {
            let (field, mask) = (sub.field, sub.mask());
            let value = value & mask & most_of(field);
            // 1.5 has no loads, and no word for the bits below a class.
            let can = field != Field::VlanVid && (field != Field::IpTos || mask & 3 == 0);
            can.then(|| SetField { field, value, mask, is_load: true }.into())
        }),
        (any_field(), any::<u128>()).prop_filter_map("can be set", |(field, value)| {
            // In 1.0 the class and the octet that it is in are set by one action.
            let is_said_otherwise = [Field::VlanTci, Field::VlanVid, Field::IpTos].contains(&field);
            let can = !field.is_fixed() && !is_said_otherwise;
            can.then(|| SetField::whole(field, value & most_of(field)).into())
        }),
        (any_sub(true), any_sub(true)).prop_map(|(from, to)| {
            let bits = from.bits.min(to.bits);
            MoveField { from: Sub { bits, ..from }, to: Sub { bits, ..to } }.into()
        }),
        any::<u64>().prop_map(|key| SetTunnel { key }.into()),
        any::<(Option<u16>, Option<u8>)>().prop_filter_map(
            "no port of its own",
            |(port, table)| {
                let is_plain = port != Some(port::IN_PORT) && table != Some(255);
                is_plain.then_some(Resubmit { port, table }.into())
            }
        ),
        any_learn(),
        (0..64u8, any::<u32>()).prop_map(|(clause, id)| {
            Conjunction { id, clause, clauses: (clause + 1).max(2) }.into()
        }),
        Just(CtClear.into()),
        proptest::collection::vec(any::<u8>(), 6).prop_map(|bytes| Note { bytes }.into()),
        (1..=u16::MAX, any::<[u32; 3]>(), any::<u16>(), 0..5usize).prop_map(
            |(probability, [set, domain, point], number, which)| {
                use sample::{Direction as D, Form as F};
                let (form, port, direction) = [
                    (F::First, port::NONE, D::Unsaid),
                    (F::Second, number, D::Unsaid),
                    (F::Third, number, D::Unsaid),
                    (F::Third, number, D::Ingress),
                    (F::Third, port::NONE, D::Egress),
                ][which];
                Sample { probability, set, domain, point, port, direction, form }.into()
            }
        ),
        any_sub(true).prop_map(|sub| Stack::Pop(sub).into()),
        any_sub(false).prop_map(|sub| Stack::Push(sub).into()),
        Just(Exit.into()),
        Just(PopVlan.into()),
        proptest::collection::vec(any::<u16>(), 0..4)
            .prop_map(|controllers| DecTtl { controllers }.into()),
        any::<(u16, u16)>().prop_map(|(idle, hard)| FinTimeout { idle, hard }.into()),
        prop_oneof![
            Just(Mpls::Push(0x8847)),
            any::<u16>().prop_map(Mpls::Pop),
            any::<u8>().prop_map(Mpls::SetTtl),
            Just(Mpls::DecTtl)
        ]
        .prop_map(Action::from),
        any::<(u32, Option<u32>, Option<(u16, u16)>)>().prop_map(|(ip, more, ports)| {
            let ip4 = Some((ip, more.map(|more| ip.saturating_add(more))));
            let ports = ports.map(|(one, other)| (one.min(other), Some(one.max(other))));
            Translate { nat: Nat { flags: 1, ip4, ip6: None, ports } }.into()
        }),
    ]
}

/// The same with lists in it.
fn any_nested() -> impl Strategy<Value = Action> {
    any_action().prop_recursive(3, 12, 4, |inner| {
        let list = proptest::collection::vec(inner, 0..4);
        prop_oneof![
            list.clone().prop_map(|actions| CloneActions { actions }.into()),
            (list, any::<(u16, u16, Option<u8>)>()).prop_map(|(actions, (zone, helper, table))| {
                let (zone, table) = (ct::Zone::Number(zone), table.filter(|it| *it != 255));
                Ct { flags: 1, zone, table, helper, actions }.into()
            })
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(list in proptest::collection::vec(any_nested(), 0..6)) {
        for version in Version::ALL {
            let mut bytes = Vec::new();
            encode_list(&list, version, &mut bytes);
            prop_assert_eq!(bytes.len() % 8, 0);
            let read = decode_list(&mut Reader::new(&bytes, Fault::BadLength), version);
            // A key of a tunnel is a field like others from 1.2 on; there it is said so.
            // 1.0 has loads alone, where it has no action of its own; 1.5 has none.
            let said = |list: &[Action]| {
                let text = format!("{list:?}");
                if matches!(version, Version::V10 | Version::V15) { text.replace("is_load: true", "is_load: false") } else { text }
            };
            let is_tunnel = |list: &[Action]| said(list).contains("SetTunnel");
            if version == Version::V10 || !is_tunnel(&list) {
                prop_assert_eq!(read.as_deref().map(said), Ok(said(&list)), "{:?} {:02x?}", version, bytes);
            }
            let mut again = Vec::new();
            encode_list(&read.unwrap(), version, &mut again);
            prop_assert_eq!(bytes, again);
        }
    }

    #[test]
    fn instructions_come_back_in_their_order(list in proptest::collection::vec(any_action(), 1..4), meter in 1..9u32) {
        let program: Program = [Meter { meter }.into()].into_iter()
            .chain(list.clone())
            .chain([ClearActions.into(), WriteActions { actions: list }.into(),
                WriteMetadata { value: 5, mask: 7 }.into(), GotoTable { table: 9 }.into()])
            .collect();
        for version in [Version::V13, Version::V14, Version::V15] {
            let mut bytes = Vec::new();
            encode_program(&program, version, &mut bytes);
            let read = decode_program(&mut Reader::new(&bytes, Fault::BadLength), version).unwrap();
            let mut again = Vec::new();
            encode_program(&read, version, &mut again);
            prop_assert_eq!(&bytes, &again);
            prop_assert_eq!(read.len(), program.len());
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        for version in Version::ALL {
            let _ = decode_program(&mut Reader::new(&bytes, Fault::BadLength), version);
        }
    }
}

/// As `ovs-ofctl add-flow … set_mpls_label:16` and `set_mpls_tc:5` write them.
#[test]
fn labels_are_set_by_extensions_in_1_0_and_as_fields_later() {
    let label = [0xff, 0xff, 0, 16, 0, 0, 0x23, 0x20, 0, 30, 0, 0, 0, 0, 0, 16];
    let class = [0xff, 0xff, 0, 16, 0, 0, 0x23, 0x20, 0, 31, 5, 0, 0, 0, 0, 0];
    let set = vec![Mpls::SetLabel(16).into(), Mpls::SetTc(5).into()];
    let bytes = [label, class].concat();
    assert_eq!(read(&bytes, Version::V10).as_ref(), Ok(&set));
    let mut written = Vec::new();
    encode_list(&set, Version::V10, &mut written);
    assert_eq!(written, bytes);
    for version in [Version::V13, Version::V14, Version::V15] {
        assert_eq!(read(&bytes, version), Err(Fault::BadActionSubtype));
        let mut written = Vec::new();
        encode_list(&set, version, &mut written);
        let fields = [SetField::whole(Field::MplsLabel, 16), SetField::whole(Field::MplsTc, 5)];
        assert_eq!(read(&written, version), Ok(fields.map(Action::from).to_vec()));
    }
}

fn read(bytes: &[u8], version: Version) -> Result<Vec<Action>, Fault> {
    decode_list(&mut Reader::new(bytes, Fault::BadLength), version)
}

#[test]
fn what_is_wrong_is_told_as_open_vswitch_tells_it() {
    let v = Version::V13;
    assert_eq!(read(&[0, 99, 0, 8, 0, 0, 0, 0], v), Err(Fault::BadActionType));
    assert_eq!(read(&[0, 0, 0, 9, 0, 0, 0, 0], v), Err(Fault::BadActionLength));
    assert_eq!(read(&[0, 0, 0, 16, 0, 0, 0, 0], v), Err(Fault::BadActionLength));
    let to = |port: u32| {
        let mut bytes = vec![0, 0, 0, 16];
        bytes.extend(port.to_be_bytes());
        bytes.resize(16, 0);
        bytes
    };
    assert_eq!(read(&to(0), v), Err(Fault::BadOutPort));
    assert_eq!(read(&to(0x1_0000), v), Err(Fault::BadOutPort));
    assert_eq!(read(&to(7), v), Ok(vec![Output::to(7).into()]));
    let vendor = |vendor: u32, subtype: u16| {
        let mut bytes = vec![0xff, 0xff, 0, 16];
        bytes.extend(vendor.to_be_bytes());
        bytes.extend(subtype.to_be_bytes());
        bytes.resize(16, 0);
        bytes
    };
    assert_eq!(read(&vendor(77, 1), v), Err(Fault::BadActionVendor));
    assert_eq!(read(&vendor(NICIRA, 999), v), Err(Fault::BadActionSubtype));
}

/// As `ovs-ofctl -O OpenFlow13 add-flow … set_field:0xc0000000/0xf0000000->pkt_mark` writes it.
#[test]
fn some_bits_are_set_as_open_vswitchs_tools_say_it_before_1_5() {
    let mut bytes = vec![0xff, 0xff, 0, 24, 0, 0, 0x23, 0x20, 0, 33, 0, 1, 0x43, 8];
    bytes.extend([0xc0, 0, 0, 0, 0xf0, 0, 0, 0, 0, 0]);
    let (field, value, mask) = (Field::PktMark, 0xc000_0000, 0xf000_0000);
    let set = Action::from(SetField { field, value, mask, is_load: false });
    let mut written = Vec::new();
    encode_list(std::slice::from_ref(&set), Version::V13, &mut written);
    assert_eq!((written, read(&bytes, Version::V13)), (bytes.clone(), Ok(vec![set])));
    // 1.5 has it in the standard, and no other name for it.
    assert_eq!(read(&bytes, Version::V15), Err(Fault::BadActionSubtype));
}

/// As `ovs-ofctl add-flow` writes `set_field:184->nw_tos` (1.3), `load:0xb->NXM_OF_IP_TOS[2..5]`
/// and `move:NXM_OF_IP_TOS[]->NXM_NX_REG0[0..7]`.
#[test]
fn the_octet_of_a_class_is_told_from_the_class() {
    let v = Version::V13;
    let set = [0, 25, 0, 16, 0, 0, 0x0a, 1, 184, 0, 0, 0, 0, 0, 0, 0];
    let load = [
        [0xff, 0xff, 0, 24, 0, 0, 0x23, 0x20, 0, 7, 0, 0x83],
        [0, 0, 0x0a, 1, 0, 0, 0, 0, 0, 0, 0, 0xb],
    ];
    let copied = [
        [0xff, 0xff, 0, 24, 0, 0, 0x23, 0x20, 0, 6, 0, 8],
        [0, 0, 0, 0, 0, 0, 0x0a, 1, 0, 1, 0, 4],
    ];
    let field = Field::IpTos;
    let wanted: Vec<Action> = vec![
        SetField::whole(field, 184).into(),
        SetField { field, value: 0xb << 2, mask: 0x3c, is_load: true }.into(),
        MoveField { from: Sub::whole(field), to: Sub { field: Field::Reg0, offset: 0, bits: 8 } }
            .into(),
    ];
    let bytes = [&set[..], load.as_flattened(), copied.as_flattened()].concat();
    assert_eq!(read(&bytes, v).as_ref(), Ok(&wanted));
    let mut written = Vec::new();
    encode_list(&wanted, v, &mut written);
    assert_eq!(written, bytes);
    // Bits that are none of the class are set by nobody.
    let wrong = [0, 25, 0, 16, 0, 0, 0x0a, 1, 187, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(read(&wrong, v), Err(Fault::BadSetArgument));
    // All bits of the class are not all of the octet: with a mask it stays so.
    let masked = [0, 25, 0, 16, 0, 0, 0x0b, 2, 184, 252, 0, 0, 0, 0, 0, 0];
    let set = SetField { field, value: 184, mask: 252, is_load: false };
    assert_eq!(read(&masked, Version::V15), Ok(vec![set.into()]));
    assert_eq!(read(&masked, v), Err(Fault::BadSetArgument));
    let mut written = Vec::new();
    encode_list(&[set.into()], Version::V15, &mut written);
    assert_eq!(written, masked);
    // 1.0 has one action for both.
    let mut written = Vec::new();
    encode_list(&wanted[..1], Version::V10, &mut written);
    assert_eq!(written, [0, 8, 0, 8, 184, 0, 0, 0]);
}

#[test]
fn lists_inside_lists_end_somewhere() {
    let mut list: Vec<Action> = vec![Output::to(1).into()];
    for _ in 0..100 {
        list = vec![CloneActions { actions: list }.into()];
    }
    let mut bytes = Vec::new();
    encode_list(&list, Version::V13, &mut bytes);
    assert_eq!(read(&bytes, Version::V13), Err(Fault::TooManyActions));
    assert!(read(&[0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], Version::V13).is_ok());
}
