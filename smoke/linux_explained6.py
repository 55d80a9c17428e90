"""Where our router is meant to differ from Linux in IPv6; see linux_explained.py."""

EXPLAINED = [
    (
        ["from ::ffff:10.0.1.2"],
        ["frames"],
        "RFC 4291, 2.5.5.2: such addresses stand for IPv4 inside a host; none comes from a wire",
    ),
    (
        ["from fe80::ff:fe00:102, hop limit 1"],
        ["icmp.*"],
        "a link-local source and a hop limit used up: the sender is told of the one found first",
    ),
    (
        ["* to ::", "UDP to ::, hop limit 1"],
        ["frames"],
        "RFC 4291, 2.5.2: the unspecified address is no destination; Linux reports that it has no route",
    ),
    (
        ["* to fe80::ff:fe00:102*"],
        ["frames"],
        "a link-local address of another on the same link is not routed to; Linux sends the packet back",
    ),
    (
        ["protocol 103 to us"],
        ["frames"],
        "Linux speaks PIM; to us it is an unknown protocol",
    ),
    (
        ["UDP to us of length 0, really 40"],
        ["frames"],
        "Linux takes length 0 for that of a jumbogram (RFC 2675); to us it is too short",
    ),
    (
        ["solicitation to us"],
        ["ip.length", "icmp.rest", "icmp.body"],
        "RFC 4861, 7.2.4: an answer to one node alone may leave out our MAC; ours always tells it",
    ),
    (
        ["to MAC ff:ff:ff:ff:ff:ff, echo to us", "to MAC 33:33:00:00:00:01, echo to us"],
        ["frames"],
        "a packet to one node in a frame to a group of stations is not answered, as in IPv4",
    ),
    (
        ["protocol 47 to us"],
        ["frames"],
        "we speak GRE: what belongs to no tunnel of ours is a counted drop; to Linux without a tunnel"
        " it is an unknown protocol",
    ),
]
