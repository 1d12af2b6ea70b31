//! `fsdyno --hosts a,b,c COMMAND`: makes the call of the MPI library's launcher, and runs it.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use fsdyno_guide::Problem;

use crate::process::status::UNUSABLE;
use crate::process::streams::{print, report_problem};

/// A launcher's own exit status when a host has not answered.
const NOT_STARTED: i32 = 255;

/// The launcher of an MPI library, with its options.
#[derive(Debug)]
struct Launcher {
    name: &'static str,
    hosts: &'static str,
    hostfile: &'static str,
    /// The option that it requires from root.
    as_root: Option<&'static str>,
    always: &'static [&'static str],
    /// The program that it starts on each host by ssh.
    daemon: &'static str,
    /// The option that gives a variable to all ranks; `None`: all variables are given.
    variable: Option<&'static str>,
}

/// Variables that mean the same on all hosts.
const VARIABLES: [&str; 3] = ["FSDYNO_PATIENCE", "FSDYNO_SILENCE", "FSDYNO_LINK_MBIT"];

const OPEN_MPI: Launcher = Launcher {
    name: "mpirun",
    hosts: "--host",
    hostfile: "--hostfile",
    as_root: Some("--allow-run-as-root"),
    // The threads of a rank need all CPUs. Not with --enable-recovery: the launcher would then end with status 0
    // whatever happens to the ranks.
    always: &["--bind-to", "none"],
    daemon: "orted",
    variable: Some("-x"),
};

/// The launcher of MPICH and of libraries derived from it, such as Intel's.
const HYDRA: Launcher = Launcher {
    name: "mpiexec.hydra",
    hosts: "-hosts",
    hostfile: "-f",
    as_root: None,
    always: &[],
    daemon: "hydra_pmi_proxy",
    variable: None,
};

/// The options before the command.
#[derive(Debug, Default, PartialEq)]
struct Hosts {
    /// Names, or names with the number of ranks: `a,b:2`.
    hosts: Option<String>,
    /// A host file in the launcher's format.
    hostfile: Option<String>,
    /// Whether the call is only shown, not run.
    dry_run: bool,
}

/// Runs the command on the hosts; `None`: no hosts are named.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let (hosts, command) = match read(words)? {
        Ok(read) => read,
        Err(problem) => {
            report_problem(&problem);
            return Some(ExitCode::from(UNUSABLE));
        }
    };
    let library = fsdyno_cluster::library();
    let launcher = launcher_of(&library);
    let program = std::env::current_exe().map(OsString::from).unwrap_or_else(|_| "fsdyno".into());
    let mut variables = VARIABLES.to_vec();
    variables.retain(|name| std::env::var_os(name).is_some());
    let call = hosts.call(launcher, fsdyno_probe::user() == 0, &variables, program, command);
    if hosts.dry_run {
        let words: Vec<String> = call.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        print(&format!("{}\n", fsdyno_text::shell::as_typed(&words)));
        return Some(ExitCode::SUCCESS);
    }
    Some(match start(launcher, &call) {
        Ok(status) => status,
        Err(error) => {
            report_problem(
                &Problem::new(format!("cannot run {}: {error}", launcher.name))
                    .with_next(format!("install the programs of {library}, with which this program was built")),
            );
            ExitCode::from(UNUSABLE)
        }
    })
}

fn launcher_of(library: &str) -> &'static Launcher {
    if library.starts_with("Open MPI") { &OPEN_MPI } else { &HYDRA }
}

fn start(launcher: &Launcher, call: &[OsString]) -> std::io::Result<ExitCode> {
    let mut child = Command::new(&call[0]).args(&call[1..]).spawn()?;
    // The launcher passes signals to the ranks; without the relay it still receives a terminal's Ctrl-C.
    let _relay = fsdyno_run::SignalRelay::begin(child.id());
    let status = child.wait()?;
    if status.code() == Some(NOT_STARTED) {
        report_problem(
            &Problem::new(format!(
                "{} ended with status 255, as it does when it cannot start a rank on each of the hosts",
                launcher.name
            ))
            .with_next(format!(
                "see above which host it was, and try `ssh HOST {} --version` with it",
                launcher.daemon
            )),
        );
        return Ok(ExitCode::from(UNUSABLE));
    }
    let by_signal = || fsdyno_os::process::ended_by_signal(status).map_or(1, |signal| 128 + signal);
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
    fn call(
        &self,
        launcher: &Launcher,
        as_root: bool,
        variables: &[&str],
        program: OsString,
        command: &[OsString],
    ) -> Vec<OsString> {
        let mut call: Vec<OsString> = vec![launcher.name.into()];
        call.extend(launcher.as_root.filter(|_| as_root).map(OsString::from));
        if let Some(hosts) = &self.hosts {
            call.extend([launcher.hosts.into(), hosts.into()]);
        }
        if let Some(file) = &self.hostfile {
            call.extend([launcher.hostfile.into(), file.into()]);
        }
        call.extend(launcher.always.iter().map(OsString::from));
        let given = variables.iter().filter_map(|name| Some([launcher.variable?, name].map(OsString::from)));
        call.extend(given.flatten());
        call.push(program);
        call.extend(command.iter().cloned());
        call
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_launcher_is_called_with_all_hosts_and_the_command() {
        let line = words("--hosts a,b:2 --dry-run measure /mnt --quick");
        let (hosts, command) = read(&line).unwrap().unwrap_or_else(|problem| panic!("{problem}"));
        assert!(hosts.dry_run);
        let call = |library| {
            let call = hosts.call(launcher_of(library), true, &["FSDYNO_SILENCE"], "fsdyno".into(), command);
            call.join(OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(
            call("Open MPI"),
            "mpirun --allow-run-as-root --host a,b:2 --bind-to none -x FSDYNO_SILENCE fsdyno measure /mnt --quick"
        );
        assert_eq!(call("MPICH"), "mpiexec.hydra -hosts a,b:2 fsdyno measure /mnt --quick");
        assert!(read(&words("measure --hosts a")).is_none(), "it stands before the command");
        assert!(read(&words("--hostfile")).unwrap().is_err());
    }
}
