//! `fsdyno --hosts a,b,c COMMAND`: the call of Open MPI's launcher, written and run.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use guide::Problem;

use super::status::UNUSABLE;
use super::streams::{print, report_problem};

/// Status of Open MPI's launcher itself, where a host has not answered.
const NOT_STARTED: i32 = 255;

/// Options before the command.
#[derive(Debug, Default, PartialEq)]
struct Hosts {
    /// Names, or names with the number of ranks: `a,b:2`.
    hosts: Option<String>,
    /// A file of the launcher's form.
    hostfile: Option<String>,
    /// The call is shown and not run.
    dry_run: bool,
}

/// Runs the command on hosts; `None`: none are named.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let (hosts, command) = match read(words)? {
        Ok(read) => read,
        Err(problem) => {
            report_problem(&problem);
            return Some(ExitCode::from(UNUSABLE));
        }
    };
    let program = std::env::current_exe().map(OsString::from).unwrap_or_else(|_| "fsdyno".into());
    let call = hosts.call(probe::user() == 0, program, command);
    if hosts.dry_run {
        let words: Vec<String> = call.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        print(&format!("{}\n", present::shell::as_typed(&words)));
        return Some(ExitCode::SUCCESS);
    }
    Some(match start(&call) {
        Ok(status) => status,
        Err(error) => {
            report_problem(
                &Problem::new(format!("cannot run mpirun: {error}"))
                    .with_next("install Open MPI (on Debian: `apt-get install openmpi-bin`)"),
            );
            ExitCode::from(UNUSABLE)
        }
    })
}

fn start(call: &[OsString]) -> std::io::Result<ExitCode> {
    let mut child = Command::new(&call[0]).args(&call[1..]).spawn()?;
    // The launcher tells the ranks; without a listener it hears a terminal's Ctrl-C all the same.
    let _relay = run::SignalRelay::begin(child.id());
    let status = child.wait()?;
    if status.code() == Some(NOT_STARTED) {
        report_problem(
            &Problem::new("mpirun ended with status 255, as it does when it cannot start a rank on each of the hosts")
                .with_next("see above which host it was, and try `ssh HOST orted --version` with it"),
        );
        return Ok(ExitCode::from(UNUSABLE));
    }
    let by_signal = || engine::process::ended_by_signal(status).map_or(1, |signal| 128 + signal);
    Ok(ExitCode::from(status.code().unwrap_or_else(by_signal) as u8))
}

fn read(words: &[OsString]) -> Option<Result<(Hosts, &[OsString]), Problem>> {
    let mut hosts = Hosts::default();
    let mut rest = words;
    while let Some(word) = rest.first().and_then(|word| word.to_str()) {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let place = match name {
            "--hosts" => &mut hosts.hosts,
            "--hostfile" => &mut hosts.hostfile,
            "--dry-run" if value.is_none() => {
                hosts.dry_run = true;
                rest = &rest[1..];
                continue;
            }
            _ => break,
        };
        let (value, taken) = match (value, rest.get(1).and_then(|word| word.to_str())) {
            (Some(value), _) => (value, 1),
            (None, Some(value)) => (value, 2),
            (None, None) => return Some(Err(Problem::new(format!("{name} needs a value")))),
        };
        *place = Some(value.to_owned());
        rest = &rest[taken..];
    }
    (hosts.hosts.is_some() || hosts.hostfile.is_some()).then_some(Ok((hosts, rest)))
}

impl Hosts {
    fn call(&self, as_root: bool, program: OsString, command: &[OsString]) -> Vec<OsString> {
        let mut call: Vec<OsString> = vec!["mpirun".into()];
        if as_root {
            call.push("--allow-run-as-root".into());
        }
        if let Some(hosts) = &self.hosts {
            call.extend(["--host".into(), hosts.into()]);
        }
        if let Some(file) = &self.hostfile {
            call.extend(["--hostfile".into(), file.into()]);
        }
        // A rank has threads, which belong on all processors. Not with --enable-recovery: the launcher would then end with
        // status 0 whatever becomes of the ranks.
        call.extend(["--bind-to", "none"].map(OsString::from));
        call.push(program);
        call.extend(command.iter().cloned());
        call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_launcher_is_called_with_all_hosts_and_the_command() {
        let line = words("--hosts a,b:2 --dry-run measure /mnt --quick");
        let (hosts, command) = read(&line).unwrap().unwrap_or_else(|problem| panic!("{problem}"));
        assert!(hosts.dry_run);
        let call: Vec<String> =
            hosts.call(true, "fsdyno".into(), command).iter().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(
            call.join(" "),
            "mpirun --allow-run-as-root --host a,b:2 --bind-to none fsdyno measure /mnt --quick"
        );
        assert!(read(&words("measure --hosts a")).is_none(), "it stands before the command");
        assert!(read(&words("--hostfile")).unwrap().is_err());
    }
}
