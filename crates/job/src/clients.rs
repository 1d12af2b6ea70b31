//! Turns fio's `--client`, which sends jobs to servers on other machines, into advice: the command line that runs the
//! same jobs on ranks.

use crate::diagnostic::Origin;
use crate::showcmd::quoted;
use crate::{Diagnostic, Sources};

/// Adds that command line to the error about the first `--client`, if there is such an error.
pub(crate) fn advise(errors: &mut [Diagnostic], words: &[String], sources: &mut dyn Sources) {
    let is_of_client = |error: &&mut Diagnostic| matches!(&error.origin, Some(Origin::Word { word, .. }) if word.trim_start_matches('-').starts_with("client"));
    if let Some(error) = errors.iter_mut().find(is_of_client)
        && let Some(line) = line_of_ranks(words, sources)
    {
        error.help.push(line);
    }
}

/// The command line with ranks. `None`: a server has no name, all servers are this machine, or servers have different
/// jobs.
fn line_of_ranks(words: &[String], sources: &mut dyn Sources) -> Option<String> {
    let mut hosts = Vec::new();
    // Words before the first server apply to all servers; words after a server apply to that server only.
    let mut parts: Vec<Vec<String>> = vec![Vec::new()];
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, value) = word.split_once('=').map_or((&word[..], None), |(name, value)| (name, Some(value)));
        let mut value = || value.or_else(|| rest.next().map(String::as_str));
        match name.strip_prefix('-').map(|name| name.trim_start_matches('-')) {
            Some("client") => {
                hosts.extend(named(value()?, sources)?);
                parts.push(Vec::new());
            }
            // With fio this job file lies on the server; here each rank reads the first rank's file.
            Some("remote-config") => parts.last_mut()?.push(quoted(value()?)),
            _ => parts.last_mut()?.push(quoted(word)),
        }
    }
    let for_all = parts.remove(0);
    parts.retain(|own| !own.is_empty());
    parts.dedup();
    let own = parts.pop().unwrap_or_default();
    let line = [vec![format!("fsdyno --hosts {}", hosts.join(","))], for_all, own].concat().join(" ");
    (parts.is_empty() && !hosts.is_empty()).then_some(line)
}

/// The hosts that a value names: one host, or the lines of a file of that name.
fn named(value: &str, sources: &mut dyn Sources) -> Option<Vec<String>> {
    match sources.job_file(value) {
        Ok(text) => text.lines().map(str::trim).filter(|line| !line.is_empty()).map(host).collect(),
        Err(_) => Some(vec![host(value)?]),
    }
}

/// The host in `ip4:10.0.0.1,8765` and similar texts, without the kind of address and the port of fio's server.
fn host(text: &str) -> Option<String> {
    if text.starts_with("sock:") {
        return None;
    }
    let address = ["ip4:", "ip6:", "ip:"].iter().find_map(|kind| text.strip_prefix(kind)).unwrap_or(text);
    let name = address.split(',').next().unwrap_or_default();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-:%".contains(letter);
    (!name.is_empty() && name.chars().all(is_name)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use crate::testing::Fake;
    use crate::{Outcome, parse_command_line};

    fn advice(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut sources = Fake::default().file("hosts", "n1\nip4:10.0.0.2,8765\n\n").file("job.fio", "[a]\nrw=read\n");
        let Outcome::Rejected(rejection) = parse_command_line(&words, &mut sources) else { panic!("{line} is taken") };
        rejection.errors.iter().map(|error| error.render(false)).collect()
    }

    #[test]
    fn the_line_for_ranks_is_complete() {
        let one = advice("--client=n1 --name=a --rw=read --description=$x");
        assert!(one.contains("next: fsdyno --hosts n1 --name=a --rw=read \"--description=\\$x\"\n"), "{one}");
        let several = advice("--client n1 job.fio --client=ip6:fe80::2,9000 job.fio");
        assert!(several.contains("fsdyno --hosts n1,fe80::2 job.fio\n"), "{several}");
        assert!(advice("--client=hosts --remote-config=job.fio").contains("fsdyno --hosts n1,10.0.0.2 job.fio\n"));
        assert!(!advice("--client=n1 job.fio --client=n2 other.fio").contains("--hosts n"), "each has its own jobs");
        assert!(!advice("--client=sock:/tmp/s job.fio").contains("--hosts n"), "this machine alone");
        assert!(!advice("--client=a;b job.fio").contains("--hosts a"), "no name of a host");
    }
}
