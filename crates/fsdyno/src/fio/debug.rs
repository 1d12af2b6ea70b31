//! `--debug`: prints fio's debug lines: channel, process, text.

use fsdyno_job::Request;
use fsdyno_run::plan::WorkerPlan;

/// The debug lines before those that announce the jobs.
pub(super) struct Lines<'request> {
    request: &'request Request,
    /// Number of jobs whose options were printed.
    told: usize,
    begun: bool,
}

impl<'request> Lines<'request> {
    pub(super) fn new(request: &'request Request) -> Self {
        Lines { request, told: 0, begun: false }
    }

    /// The lines before this worker's; workers come in their order.
    pub(super) fn before(&mut self, worker: &WorkerPlan) -> String {
        let mut text = self.begin();
        if worker.clone == 0 {
            text.push_str(&self.next_of_parse());
        }
        if self.request.settings.debugs("random") {
            let seeds = worker.random_seeds();
            text.push_str(&line("random", &format!("FIO_RAND_NR_OFFS={}", seeds.len())));
            for (number, seed) in seeds.iter().enumerate() {
                text.push_str(&line("random", &format!("rand_seeds[{number}]={seed}")));
            }
        }
        text
    }

    /// The lines about all options, for a run without jobs.
    pub(super) fn all_of_parse(&mut self) -> String {
        let mut text = self.begin();
        while self.told < self.request.trace.len() {
            text.push_str(&self.next_of_parse());
        }
        text
    }

    fn begin(&mut self) -> String {
        if std::mem::replace(&mut self.begun, true) {
            return String::new();
        }
        let said = |channel: &String| {
            let prints = fsdyno_job::debug::PRINTING.contains(&channel.as_str()) || channel == "all";
            let nothing =
                if prints { String::new() } else { format!("fio: debug option {channel} prints nothing here\n") };
            format!("fio: set debug option {channel}\n{nothing}")
        };
        self.request.settings.debug.iter().map(said).collect()
    }

    fn next_of_parse(&mut self) -> String {
        let told =
            self.request.trace.get(self.told).map(|texts| texts.iter().map(|text| line("parse", text)).collect());
        self.told += 1;
        told.unwrap_or_default()
    }
}

fn line(channel: &str, text: &str) -> String {
    format!("{channel:<8} {pid:<5} {text}\n", pid = std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_and_process_stand_in_columns() {
        let pid = std::process::id();
        assert_eq!(line("parse", "  ret=0, out=1"), format!("parse    {pid:<5}   ret=0, out=1\n"));
    }
}
