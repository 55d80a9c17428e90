//! The TAP interfaces that the kernel has beside ports, as linux-cp makes them.

use super::answer::*;

/// A port's twin: the TAP interface that the kernel has beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Twin {
    /// The port that it stands beside.
    pub port: String,
    /// Its name in the kernel.
    pub name: String,
    /// Its network namespace; none: the router's own.
    pub netns: Option<String>,
    /// The kernel's number of it; none while it is not there.
    pub index: Option<u32>,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// Packets given to the kernel.
    pub to_kernel: u64,
    /// Packets not taken by the kernel: the interface is down, or its queue full.
    pub refused: u64,
    /// Packets sent by the kernel.
    pub from_kernel: u64,
    /// Packets sent by the kernel and lost here: no buffer, or too many at once.
    pub lost: u64,
    /// What the workers handed over, by class.
    pub classes: Vec<TwinClass>,
}

/// Packets of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TwinClass {
    /// `neighbors`, `routing`, `tcp` or `rest`.
    pub class: String,
    /// Packets per second and worker that it may have.
    pub limit_pps: u32,
    /// Packets handed over.
    pub passed: u64,
    /// Packets dropped: more than it may have.
    pub limited: u64,
}

impl View for Twin {
    view!("show twins", "/v1/twins", All => Vec<Self>,
        "The TAP interfaces that the kernel has beside ports (as linux-cp), and what they were handed");
    counters!("to_kernel", "refused", "from_kernel", "lost", "passed", "limited");
    const METRICS: Option<Metrics<Self>> = Some((All, |twins, out| {
        let classes = twins.iter().flat_map(|twin| twin.classes.iter().map(move |c| (twin, c)));
        out.of(classes, |(twin, class)| [("port", &twin.port), ("class", &class.class)])
            .counter(
                "twin_passed_packets",
                "Packets handed to the kernel's interface beside a port.",
                |row| row.1.passed,
            )
            .counter("twin_limited_packets", "Packets not handed over: too many.", |row| {
                row.1.limited
            });
        out.of(twins, |twin| [("port", &twin.port)])
            .counter(
                "twin_sent_packets",
                "Packets that the kernel sent on its interface beside a port.",
                |twin| twin.from_kernel,
            )
            .gauge("twin_present", "Whether the kernel has the interface beside a port.", |twin| {
                u8::from(twin.index.is_some())
            });
    }));

    /// A line for each class of packets; the first says what goes for all.
    fn text(twins: &Vec<Self>, style: Style) -> String {
        let classes = twins.iter().flat_map(|twin| {
            let classes = twin.classes.iter().enumerate();
            classes.map(move |(number, class)| (twin, number == 0, class))
        });
        let table = table!(classes, (twin, is_first, class) => {
            "port": once(is_first, &twin.port), "twin": once(is_first, &twin.name),
            "netns": once(is_first, &twin.netns),
            "index": once(is_first, &twin.index.map_or("gone".to_owned(), |index| index.to_string())),
            "to kernel": once(is_first, &twin.to_kernel),
            "from kernel": once(is_first, &twin.from_kernel), "class": class.class,
            "passed": class.passed, "limited": class.limited,
        });
        let problems = twins.iter().filter_map(|twin| {
            let problem = twin.problem.as_ref()?;
            Some(format!("{}: {problem}\n", twin.port))
        });
        table.render(style) + &problems.collect::<String>()
    }
}

fn once(is_first: bool, cell: &impl Cell) -> String {
    if is_first { cell.cell() } else { String::new() }
}
