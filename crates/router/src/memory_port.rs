//! The `memory` kind of port: packets from a capture file or the configuration, replayed for ever;
//! what it sends is recorded or freed.

use control::config::objects::port_kind::FrameHex;
use dataplane::PortQueues;
use packet::{Burst, MemorySink, MemorySource, PacketCache, Repeat, RxQueue, TxQueue};
use rights::Folders;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use wire::pcap::{LINK_ETHERNET, Reader, Record, Writer};

/// Makes the queues of a memory port: each receive queue replays all its packets.
pub(crate) fn open(
    source: Option<&Path>,
    frames: &[FrameHex],
    record: Option<&Path>,
    rx_queues: u16,
    workers: usize,
    folders: &Folders,
) -> Result<PortQueues, String> {
    let mut packets = source.map_or_else(|| Ok(Vec::new()), |path| read_capture(path, folders))?;
    packets.extend(frames.iter().map(|frame| frame.bytes().to_vec()));
    let writer = record.map(|path| recorder(path, folders)).transpose()?;
    let sink = |_| match &writer {
        Some(writer) => Box::new(Recording(Arc::clone(writer))) as Box<dyn TxQueue>,
        None => Box::new(MemorySink::new()),
    };
    let queues = if packets.is_empty() { 0 } else { rx_queues };
    let queue =
        |_| Box::new(MemorySource::new(packets.clone(), Repeat::Forever)) as Box<dyn RxQueue>;
    let rx = (0..queues).map(queue).collect();
    Ok(PortQueues { rx, tx: (0..workers).map(sink).collect() })
}

fn read_capture(path: &Path, folders: &Folders) -> Result<Vec<Vec<u8>>, String> {
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = folders.read(path).map_err(|error| fault(&error))?;
    let mut reader = Reader::new(BufReader::new(file)).map_err(|error| fault(&error))?;
    let (mut record, mut packets) = (Record::default(), Vec::new());
    while reader.read(&mut record).map_err(|error| fault(&error))? {
        packets.push(record.bytes.clone());
    }
    Ok(packets)
}

type SharedWriter = Arc<Mutex<Writer<BufWriter<File>>>>;

fn recorder(path: &Path, folders: &Folders) -> Result<SharedWriter, String> {
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = folders.record(path).map_err(|error| fault(&error))?;
    let writer = Writer::new(BufWriter::new(file), LINK_ETHERNET);
    Ok(Arc::new(Mutex::new(writer.map_err(|error| fault(&error))?)))
}

/// Writes what it is sent into a capture file, then frees it.
struct Recording(SharedWriter);

impl TxQueue for Recording {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for packet in packets.iter() {
            // A full disk ends the recording, not the forwarding.
            if let Err(error) = writer.write(now.as_nanos() as u64, packet.bytes()) {
                tracing::warn!(fault = "recording", ?error, "a packet is missing in a recording");
            }
        }
        cache.release(packets.take_all());
    }
}
