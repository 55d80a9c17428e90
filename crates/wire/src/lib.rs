//! Packet header formats, one file a protocol, zero-copy; the checksum; a crafter of test packets.
