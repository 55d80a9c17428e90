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
    /// How many calls the kernel takes from it; none: any.
    pub calls: Option<u32>,
    /// Calls that it was refused, and how often.
    pub refused: Vec<RefusedCall>,
    /// Threads that it has.
    pub threads: u32,
    /// Files and sockets that it has open.
    pub descriptors: u32,
}

/// A call of the kernel's that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedCall {
    /// Its name, as in `execve`.
    pub call: String,
    /// How often.
    pub times: u64,
}

impl View for Process {
    view!("show process", "/v1/process", All => Self, "What the router's process may do, and has");

    const METRICS: Option<Metrics<Self>> = Some((All, |process, out| {
        out.one(process)
            .gauge("process_threads", "Threads of the router.", |it| it.threads)
            .gauge("process_descriptors", "Files and sockets that it has open.", |it| {
                it.descriptors
            })
            .counter("process_refused_calls", "Calls that the kernel refused it.", |it| {
                it.refused.iter().map(|refused| refused.times).sum::<u64>()
            });
    }));

    fn text(process: &Self, _: Style) -> String {
        let listed = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(" "),
        };
        let Self { pid, user, threads, descriptors, .. } = process;
        let calls = match process.calls {
            Some(count) => format!("{count} of the kernel's, no others"),
            None => "any".to_owned(),
        };
        let refused = process.refused.iter().map(|it| format!("{} ({})", it.call, it.times));
        let closed = if process.no_new_privileges { "no others, ever" } else { "not closed" };
        format!(
            "process {pid} of user {user}, {threads} threads, {descriptors} descriptors\n\
             capabilities  {}\ngiven up      {}\nnew rights    {closed}\n\
             calls         {calls}\nrefused       {}\n",
            listed(&process.capabilities),
            listed(&process.given_up),
            listed(&refused.collect::<Vec<_>>()),
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
            calls: Some(180),
            refused: vec![RefusedCall { call: "execve".to_owned(), times: 2 }],
            threads: 3,
            descriptors: 9,
        };
        let wanted = "process 7 of user 0, 3 threads, 9 descriptors\n\
                      capabilities  net_admin net_raw\ngiven up      none\n\
                      new rights    no others, ever\n\
                      calls         180 of the kernel's, no others\n\
                      refused       execve (2)\n";
        assert_eq!(Process::text(&process, Style::new(false)), wanted);
    }
}
