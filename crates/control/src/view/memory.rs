//! Where memory goes.

use super::answer::*;

/// Where memory goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Memory {
    /// Resident memory of the process.
    pub resident_bytes: u64,
    /// Its parts.
    pub parts: Vec<MemoryUse>,
}

/// One pool or table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemoryUse {
    /// Its name, as in `packet buffers` or `IPv4 table`.
    pub name: String,
    /// Entries in use.
    pub used: u64,
    /// Entries there is room for.
    pub capacity: u64,
    /// Bytes it takes.
    pub bytes: u64,
    /// Bytes of the pages it asks for; the machine may have given smaller ones.
    pub page_bytes: Option<u64>,
}

impl View for Memory {
    view!("show memory", "/v1/memory", All => Self, "Where memory goes");
    const METRICS: Option<Metrics<Self>> = Some((All, |memory, out| {
        out.of(&memory.parts, |part| [("part", &part.name)])
            .gauge("memory_used", "Entries in use.", |part| part.used)
            .gauge("memory_capacity", "Entries there is room for.", |part| part.capacity)
            .gauge("memory_bytes", "Bytes of a pool or table.", |part| part.bytes);
        out.one(memory).gauge("resident_bytes", "Resident memory of the process.", |memory| {
            memory.resident_bytes
        });
    }));

    fn text(memory: &Self, style: Style) -> String {
        let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
        let each = |part: &MemoryUse| part.bytes.checked_div(part.used).filter(|_| part.bytes > 0);
        let mut table = table!(&memory.parts, part => {
            "part": part.name, "used": part.used,
            "capacity": (part.capacity > 0).then_some(part.capacity), "MiB": mib(part.bytes),
            "bytes each": each(part), "pages": part.page_bytes.map(page),
        });
        let resident = mib(memory.resident_bytes);
        let row = ["resident", NOTHING, NOTHING, &resident, NOTHING, NOTHING];
        table.row(row.map(str::to_owned));
        table.render(style)
    }
}

fn page(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{}K", bytes >> 10),
        megabytes => format!("{megabytes}M"),
    }
}
