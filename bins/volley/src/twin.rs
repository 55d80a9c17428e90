//! `volley show twins`.

use control::view;

use crate::output::Style;
use crate::table::Table;

/// Twins, a line for each class of packets.
pub(crate) fn twins(twins: &[view::Twin], style: Style) -> String {
    let heading = [
        "port",
        "twin",
        "netns",
        "index",
        "to kernel",
        "from kernel",
        "class",
        "passed",
        "limited",
    ];
    let mut table = Table::new(&heading);
    for twin in twins {
        let index = twin.index.map_or_else(|| "gone".to_owned(), |index| index.to_string());
        for (number, class) in twin.classes.iter().enumerate() {
            let once = |text: &str| if number == 0 { text.to_owned() } else { String::new() };
            table.row([
                once(&twin.port),
                once(&twin.name),
                once(twin.netns.as_deref().unwrap_or("-")),
                once(&index),
                once(&twin.to_kernel.to_string()),
                once(&twin.from_kernel.to_string()),
                class.class.clone(),
                class.passed.to_string(),
                class.limited.to_string(),
            ]);
        }
    }
    let problems = twins.iter().filter_map(|twin| {
        let problem = twin.problem.as_ref()?;
        Some(format!("{}: {problem}\n", twin.port))
    });
    table.render(style) + &problems.collect::<String>()
}
