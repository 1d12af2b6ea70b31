//! `exec_prerun` and `exec_postrun`: runs shell commands of the job's author before and after the job.

use std::process::{Child, Command, Stdio};

use fsdyno_os::clock::{Clock, RealClock};
use fsdyno_os::errno::EIO;
use fsdyno_os::process::{end_with_this_thread, lead_group};
use fsdyno_os::written;

use super::Refused;
use crate::conduct::{Event, Shared};
use crate::plan::WorkerPlan;

/// Interval at which the command is checked, ns.
const LOOK_NS: u64 = 5_000_000;

/// When a command runs; its output goes to a file with that name.
#[derive(Clone, Copy)]
pub(super) enum CommandTime {
    Before,
    After,
}

impl CommandTime {
    fn name(self) -> &'static str {
        match self {
            CommandTime::Before => "prerun",
            CommandTime::After => "postrun",
        }
    }
}

/// Runs the job's command for that time, if it has one. If the command was ended with the run, the job did not fail.
pub(super) fn run(when: CommandTime, index: usize, shared: &Shared) -> Result<(), Refused> {
    let plan = &shared.plan.workers[index];
    let process = &plan.job.process;
    let Some(command) = (match when {
        CommandTime::Before => process.exec_prerun.as_ref(),
        CommandTime::After => process.exec_postrun.as_ref(),
    }) else {
        return Ok(());
    };
    let (job, name) = (plan.job.label(plan.clone), when.name());
    let output = plan.job.name_on_node(format!("{job}.{name}.txt"));
    shared.send(Event::Line(format!("{job} : Saving output of {name} in {output}")));
    let refused = |code, what: String| Refused {
        code,
        function: "exec",
        message: format!("exec of cmd <{command}> failed: {job}: {name}: {what}"),
    };
    let mut shell = Command::new("/bin/sh");
    // As in fio, the redirection belongs to the last of several commands. The output of the others goes to stderr, so
    // that a document on stdout stays valid.
    shell
        .args(["-c".into(), written::os_string(&format!("{command} > {} 2>&1", quoted(&output))), "sh".into()])
        .stdin(Stdio::null())
        .stdout(std::io::stderr());
    // Ctrl-C ends the run, and the run ends the command.
    lead_group(&mut shell);
    end_with_this_thread(&mut shell);
    let mut child = shell.spawn().map_err(|error| refused(error.raw_os_error().unwrap_or(EIO), error.to_string()))?;
    match wait(&mut child, plan, shared) {
        Ok(None) => Ok(()),
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(refused(EIO, format!("{status}"))),
        Err(error) => Err(refused(EIO, error.to_string())),
    }
}

/// Waits for the command; `None`: it was ended, because the run must end.
fn wait(child: &mut Child, plan: &WorkerPlan, shared: &Shared) -> std::io::Result<Option<std::process::ExitStatus>> {
    let cell = &shared.cells[plan.thread_number as usize - 1];
    let clock = RealClock::shared();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if shared.control.stopped() || cell.stopped() {
            fsdyno_os::process::end_group(child)?;
            return Ok(None);
        }
        // However long the command takes, the worker is not stuck.
        cell.step();
        clock.sleep_until_ns(clock.now_ns() + LOOK_NS);
    }
}

/// The word quoted for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_whatever_it_holds() {
        for name in ["plain", "two words", "$(touch x)", "a'b;c", "`x`"] {
            let echoed = Command::new("/bin/sh").args(["-c", &format!("printf %s {}", quoted(name))]).output().unwrap();
            assert_eq!(String::from_utf8(echoed.stdout).unwrap(), name);
        }
    }
}
