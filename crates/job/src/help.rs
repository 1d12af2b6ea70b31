//! Texts of `--help`, `--cmdhelp` and `--enghelp`, in fio's layout, from the option table.

use std::fmt::Write;

use crate::lookup;
use crate::option::{Arity, OptionRow, Status};
use crate::settings::Action;
use crate::table::{self, JobRow};
use crate::typed::EngineName;
use crate::value;

/// The page of `--help`, without the version line before it.
pub fn usage() -> String {
    let mut text = "fio [options] [job options] <job file(s)>\n".to_owned();
    for row in table::PROGRAM.iter().filter(|row| !matches!(row.status, Status::Rejected(_))) {
        let written = match row.kind.arity() {
            Arity::None => format!("--{}", row.name),
            Arity::Optional => format!("--{}[=x]", row.name),
            Arity::Required => format!("--{}=x", row.name),
        };
        push_line(&mut text, &format!("  {written:<24}{}", row.help));
    }
    text.push_str("\nJob options are listed by --cmdhelp, engines and their options by --enghelp.\n");
    text
}

/// `--cmdhelp[=NAME]`. Exit status 0 in any case, as fio's.
pub(crate) fn command_help(name: Option<&str>) -> Action {
    let print = |text| Action::Print { text, status: 0 };
    let Some(name) = name.filter(|name| *name != "all") else {
        return print(list(table::job_rows().filter(|row| row.engines.is_empty())));
    };
    if let Some(row) = table::job_rows().find(|row| row.names().any(|known| known == name)) {
        return print(details(row));
    }
    if let Some(row) = table::PROGRAM.iter().find(|row| row.name == name) {
        return print(details(row));
    }
    let mut text = format!("No such command: {name}");
    let names = table::job_rows().flat_map(|row| row.names());
    let closest = lookup::nearest(name, names).filter(|near| lookup::distance(name, near) < 3);
    match closest.and_then(|near| table::job_rows().find(|row| row.names().any(|known| known == near))) {
        Some(row) => {
            text.push_str(" - showing closest match\n");
            text.push_str(&details(row));
        }
        None => text.push('\n'),
    }
    print(text)
}

/// `--enghelp[=ENGINE[,OPTION]]`.
pub(crate) fn engine_help(text: Option<&str>) -> Action {
    let Some(text) = text else {
        let mut list = "Available IO engines:\n".to_owned();
        EngineName::all().for_each(|engine| push_line(&mut list, &format!("\t{}", engine.name())));
        return Action::Print { text: list, status: 0 };
    };
    let (name, wanted) = text.split_once(',').map_or((text, None), |(name, option)| (name, Some(option)));
    let Some(engine) = EngineName::named(name) else {
        let meant = lookup::nearest(name, EngineName::all().map(EngineName::name));
        let next = meant.map(|near| format!("  next: did you mean `{near}`? `--enghelp` shows all engines\n"));
        let next = next.unwrap_or_default();
        let message = format!("fio: engine {name} not loadable\nIO engine {name} not found\n{next}");
        return Action::Print { text: message, status: 1 };
    };
    let rows: Vec<&'static JobRow> = options_of(engine).collect();
    if rows.is_empty() {
        return Action::Print { text: format!("IO engine {} has no options\n", engine.name()), status: 1 };
    }
    let Some(wanted) = wanted else {
        return Action::Print { text: list(rows.into_iter()), status: 0 };
    };
    match rows.into_iter().find(|row| row.names().any(|known| known == wanted)) {
        Some(row) => Action::Print { text: details(row), status: 0 },
        None => Action::Print { text: format!("No such command: {wanted}\n"), status: 1 },
    }
}

fn options_of(engine: EngineName) -> impl Iterator<Item = &'static JobRow> {
    table::job_rows().filter(move |row| row.engines.contains(&engine.name()))
}

fn list(rows: impl Iterator<Item = &'static JobRow>) -> String {
    let mut text = String::new();
    rows.for_each(|row| push_line(&mut text, &format!("{:<24}: {}", row.name, row.help)));
    text
}

/// Everything the table says about one option.
fn details<T>(row: &OptionRow<T>) -> String {
    let mut text = String::new();
    let mut field = |label: &str, content: &str| push_line(&mut text, &format!("{label:>20}: {content}"));
    field(row.name, row.help);
    row.aliases.iter().for_each(|alias| field("alias", alias));
    if !row.engines.is_empty() {
        field("engines", &row.engines.join(", "));
    }
    field("type", row.kind.description());
    field("default", row.default.unwrap_or("no default"));
    if let Some(range) = row.kind.range() {
        field("range", &range);
    }
    if row.status != Status::Full {
        field("status", &format!("{}: {}", row.status.label(), row.status.reason()));
    }
    if !row.kind.choices().is_empty() {
        push_line(&mut text, &value::valid_values(row.kind.choices()));
    }
    text.push('\n');
    text
}

fn push_line(text: &mut String, line: &str) {
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(action: Action) -> (String, u8) {
        match action {
            Action::Print { text, status } => (text, status),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_option_in_fios_layout() {
        let (text, _) = printed(command_help(Some("readwrite")));
        let head: Vec<&str> = text.lines().take(6).collect();
        insta::assert_snapshot!(head.join("\n"), @r"
                  rw: Direction and order of the I/O
               alias: readwrite
                type: word of the list below
             default: read
        valid values: read       Sequential read
                    : write      Sequential write
        ");
        assert!(printed(command_help(Some("iodept"))).0.starts_with("No such command: iodept - showing closest match"));
        assert_eq!(printed(command_help(Some("bogusbogus"))), ("No such command: bogusbogus\n".to_owned(), 0));
        assert!(printed(command_help(None)).0.contains("\niodepth                 : "));
    }

    #[test]
    fn engines_and_their_options() {
        assert!(printed(engine_help(None)).0.contains("\tio_uring\n"));
        assert!(printed(engine_help(Some("io_uring"))).0.contains("hipri                   : "));
        assert_eq!(printed(engine_help(Some("null"))), ("IO engine null has no options\n".to_owned(), 1));
        assert_eq!(printed(engine_help(Some("bogus"))).1, 1);
        assert_eq!(printed(engine_help(Some("io_uring,bogus"))), ("No such command: bogus\n".to_owned(), 1));
        assert!(printed(engine_help(Some("sim,sim_faults"))).0.contains("error:EIO@3"));
    }

    #[test]
    fn usage_names_every_option_that_does_something() {
        for name in ["--output=x", "--output-format=x", "--eta=x", "--showcmd ", "--record=x"] {
            assert!(usage().contains(name), "{name}");
        }
    }
}
