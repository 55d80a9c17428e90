//! The router's process, as the kernel has it.

use super::answer::*;

/// What the process may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The number of the user as whom it runs.
    pub user: u32,
    /// The capabilities that it has, as in `net_raw`.
    pub capabilities: Vec<String>,
    /// Those that it had and gave up when it started.
    pub given_up: Vec<String>,
    /// Whether it can come to no other rights, whatever it executes.
    pub no_new_privileges: bool,
    /// Threads that it has.
    pub threads: u32,
    /// Files and sockets that it has open.
    pub descriptors: u32,
}

impl View for Process {
    view!("show process", "/v1/process", All => Self, "What the router's process may do, and has");

    const METRICS: Option<Metrics<Self>> = Some((All, |process, out| {
        out.one(process).gauge("process_threads", "Threads of the router.", |it| it.threads).gauge(
            "process_descriptors",
            "Files and sockets that it has open.",
            |it| it.descriptors,
        );
    }));

    fn text(process: &Self, _: Style) -> String {
        let listed = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(" "),
        };
        let Self { pid, user, threads, descriptors, .. } = process;
        let closed = if process.no_new_privileges { "no others, ever" } else { "not closed" };
        format!(
            "process {pid} of user {user}, {threads} threads, {descriptors} descriptors\n\
             capabilities  {}\ngiven up      {}\nnew rights    {closed}\n",
            listed(&process.capabilities),
            listed(&process.given_up),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_it_may_and_what_it_gave_up() {
        let process = Process {
            pid: 7,
            user: 0,
            capabilities: vec!["net_admin".to_owned(), "net_raw".to_owned()],
            given_up: Vec::new(),
            no_new_privileges: true,
            threads: 3,
            descriptors: 9,
        };
        let wanted = "process 7 of user 0, 3 threads, 9 descriptors\n\
                      capabilities  net_admin net_raw\ngiven up      none\n\
                      new rights    no others, ever\n";
        assert_eq!(Process::text(&process, Style::new(false)), wanted);
    }
}
