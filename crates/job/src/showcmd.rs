//! `--showcmd`: prints jobs as a command line.

use crate::raw::{Assignment, RawJob};

/// One line for the jobs of the command line, and one for each job file. Each line ends with a blank, as in fio.
pub(crate) fn show_command(jobs: &[RawJob]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut previous: Option<&RawJob> = None;
    for job in jobs {
        let begins = match previous {
            None => true,
            // Defaults of the command line also apply to the first job file, so they are repeated in its line.
            Some(previous) => {
                job.resets_defaults || (previous.on_command_line && !previous.global && !job.on_command_line)
            }
        };
        if begins {
            lines.push("fio ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !job.global && !job.on_command_line {
                line.push_str(&format!("--name={} ", quoted(&job.name)));
            } else if job.global && line.contains("--name=") {
                line.push_str("--name=global ");
            }
            job.assignments.iter().for_each(|assignment| line.push_str(&word(assignment)));
        }
        previous = Some(job);
    }
    lines.retain(|line| line != "fio ");
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn word(assignment: &Assignment) -> String {
    let name = assignment.row.name;
    match assignment.shown() {
        Some(text) if name == "description" => format!("--{name}=\"{}\" ", escaped(text)),
        Some(text) => format!("--{name}={} ", quoted(text)),
        None => format!("--{name} "),
    }
}

/// Quotes the text so that a shell reads it unchanged.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+./,:=%@^".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { format!("\"{}\"", escaped(text)) }
}

fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| "\"\\$`".contains(c).then_some('\\').into_iter().chain([c])).collect()
}
