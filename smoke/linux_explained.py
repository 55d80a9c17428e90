"""Where our router is meant to differ from Linux: (cases, fields, why). `frames` is the number of
packets that come out. A difference that no entry explains is an error, and so is an entry that
explains nothing."""

SIZE_AND_OPTIONS = ["ip.ihl", "ip.length", "ip.options"]
STAMPED = ["option record route*, TTL 1", "option timestamp*, TTL 1", "option two record*"]
STAMPED += ["option two timestamps*", "too big with DF and an option that is not copied"]

EXPLAINED = [
    (
        ["option *, TTL 1", "option two *", "too big with DF and an option that is not copied"],
        SIZE_AND_OPTIONS,
        "Linux copies options that it knows into its ICMP errors; no RFC asks for it and ours have none",
    ),
    (
        [*STAMPED, "option end, then rubbish, TTL 1"],
        ["quoted.checksum"],
        "Linux quotes a header that it has written into with the checksum from before; ours is right",
    ),
    (
        STAMPED,
        ["quoted.options", "quoted.body"],
        "the quotation holds our outgoing address (RFC 1812, 4.2.2.2), Linux's the incoming one, and"
        " is shorter by the options of the error itself",
    ),
    (
        ["option timestamp and address"],
        ["ip.options"],
        "ours records the outgoing address, as record route has it (RFC 1812, 4.2.2.2)",
    ),
    (
        ["option *, echo to us"],
        SIZE_AND_OPTIONS,
        "options that an echo reply does not repeat become fillers: the packet keeps its length",
    ),
    (
        ["option commercial security*"],
        ["*"],
        "Linux knows CIPSO labels and refuses one without content; to us it is an unknown option",
    ),
    (
        ["from 0.1.2.3", "from 240.0.0.1"],
        ["frames"],
        "0.0.0.0/8 and class E are no hosts (RFC 1812, 5.3.7); Linux lets them through",
    ),
    (
        ["* to 0.1.2.3*", "* to 240.0.0.1*"],
        ["frames"],
        "RFC 1812, 5.3.7: dropped silently; Linux reports that it has no route",
    ),
    (
        ["from 10.0.1.1", "from 10.0.2.1"],
        ["frames"],
        "Linux looks up every source and drops packets from itself; a lookup of the source is urpf's",
    ),
    (
        ["from 10.0.?.0, *", "from 10.0.?.255, *"],
        ["frames"],
        "RFC 1812, 4.3.2.7: nothing is answered to a broadcast address, the old form with zeros included",
    ),
    (
        ["* to 10.0.?.0*"],
        ["frames"],
        "RFC 1812, 5.3.5.1: a subnet's zero address is a broadcast; Linux since 5.14 makes it a host",
    ),
    (
        ["from 10.0.2.2, TTL 1", "from 198.51.100.7, TTL 1"],
        ["ip.src"],
        "an error leaves from the address of the interface that the packet came in by; Linux takes"
        " that of the interface it leaves by",
    ),
    (["ICMP 13 to us"], ["frames"], "RFC 1812, 4.3.3.8: answering timestamp requests is optional"),
    (
        ["protocol 2 to us", "protocol 103 to us", "protocol 136 to us"],
        ["frames"],
        "Linux speaks IGMP, PIM and UDP-Lite; to us they are unknown protocols",
    ),
    (
        ["protocol 47 to us"],
        ["frames"],
        "we speak GRE: what belongs to no tunnel of ours is a counted drop; to Linux without a tunnel"
        " it is an unknown protocol",
    ),
    (
        ["UDP to us of length *"],
        ["ip.length", "quoted.body"],
        "Linux cuts the datagram to its UDP length before it quotes it; ours quotes what came",
    ),
    (
        ["to MAC ff:ff:ff:ff:ff:ff, echo to us", "to MAC 01:00:5e:00:00:01, echo to us"],
        ["frames"],
        "RFC 1812, 5.3.4 and 4.3.3.6: IPv4 in a frame to a group of stations is not answered",
    ),
]
