//! `report`: shows saved runs again, as the dyno sheet, as a table, or in a format for other programs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fsdyno_fio_report::terse::Version;
use fsdyno_fio_report::{Details, FORMATS, Format};
use fsdyno_guide::Problem;
use fsdyno_guide::store::Store;
use fsdyno_os::files::{Readers, write_whole};
use fsdyno_present::{export, sheet};
use fsdyno_results::{RunRecord, Study};
use jiff::tz::TimeZone;

use crate::process::streams::{print, print_stderr, refused, report_problem};

/// Show saved runs again: as the dyno sheet (HTML), a table, CSV, or fio's formats.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Runs: a name or the beginning of one, a baseline's name, a file that `--record` saved, or `last`.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// Write to this file; its extension selects the format: .html, .md, .csv, .prom, .json, .txt. A directory gets
    /// fio's JSON of each row.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The format [default: by the extension of FILE; else fio's normal report for its runs, Markdown for others].
    #[arg(long = "as", value_parser = Form::words(), value_name = "FORM")]
    form: Option<Form>,
    /// Version of the terse format (2 to 5).
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=5))]
    terse_version: u8,
    /// Title of the sheet.
    #[arg(long)]
    title: Option<String>,
    /// Directory of saved runs [default: $XDG_DATA_HOME/fsdyno, on Windows %LOCALAPPDATA%\fsdyno].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// One of fio's.
    Fio(&'static Format),
    Html,
    Markdown,
    Csv,
    Openmetrics,
}

/// The formats of studies that fio does not have.
const FORMS: &[(Form, &str, &str)] = &[
    (Form::Html, "html", "The dyno sheet: one self-contained HTML page"),
    (Form::Markdown, "markdown", "A table for a ticket"),
    (Form::Csv, "csv", "CSV, one line per round"),
    (Form::Openmetrics, "openmetrics", "OpenMetrics, for node_exporter's textfile collector"),
];

impl Form {
    /// All formats, as words of the command line.
    fn words() -> impl TypedValueParser<Value = Form> {
        let fio = FORMATS.iter().map(|format| (format.word, format.help));
        let words = fio.chain(FORMS.iter().map(|(_, word, help)| (*word, *help)));
        PossibleValuesParser::new(words.map(|(word, help)| PossibleValue::new(word).help(help)))
            .try_map(|word| Form::named(&word).ok_or("no such form"))
    }

    fn named(word: &str) -> Option<Form> {
        let own = || FORMS.iter().find(|(_, own, _)| *own == word).map(|(form, ..)| *form);
        fsdyno_fio_report::format(word).map(Form::Fio).or_else(own)
    }

    /// The format of a file's extension.
    fn of(path: &Path) -> Option<Form> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "html" | "htm" => Some(Form::Html),
            "md" | "markdown" => Some(Form::Markdown),
            "csv" => Some(Form::Csv),
            "prom" | "om" | "openmetrics" => Some(Form::Openmetrics),
            "json" => Form::named("json"),
            "txt" => Form::named("normal"),
            _ => None,
        }
    }
}

impl Report {
    pub(crate) fn run(self) -> ExitCode {
        match self.report() {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => ExitCode::from(refused(&problem)),
        }
    }

    fn report(&self) -> Result<(), Problem> {
        let studies = self.runs.iter().map(|word| self.load_study(word)).collect::<Result<Vec<Study>, Problem>>()?;
        let form = self.form(&studies)?;
        if let Some(directory) = self.output.as_deref().filter(|path| is_directory(path)) {
            return into_directory(directory, form, &studies);
        }
        let text = self.text(form, &studies)?;
        match self.output.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => into_file(path, &text),
            None if print(&text) => Ok(()),
            None => Err(Problem::new("cannot write to stdout")),
        }
    }

    /// The study that a word of the command line names.
    fn load_study(&self, word: &str) -> Result<Study, Problem> {
        let path = Path::new(word);
        if path.exists() {
            fsdyno_guide::store::read(path)
        } else {
            Store::at(self.store.as_deref())?.warning(report_problem).find(word)
        }
    }

    fn form(&self, studies: &[Study]) -> Result<Form, Problem> {
        if let Some(form) = self.form {
            return Ok(form);
        }
        let output = self.output.as_deref().filter(|path| *path != Path::new("-"));
        let fio = |word| Form::named(word).ok_or_else(no_fio_form);
        match output {
            Some(path) if is_directory(path) => fio("json+"),
            Some(path) => Form::of(path).ok_or_else(|| {
                Problem::new(format!("{}: its extension is not a known format", path.display()))
                    .with_next("use .html, .md, .csv, .prom, .json or .txt, or choose the format with --as")
            }),
            None if studies.iter().all(|study| study.question == fsdyno_results::Question::Fio) => fio("normal"),
            None => Ok(Form::Markdown),
        }
    }

    fn text(&self, form: Form, studies: &[Study]) -> Result<String, Problem> {
        match form {
            Form::Html => {
                let options = sheet::SheetOptions { title: self.title.clone(), zone: TimeZone::system() };
                Ok(sheet::html(studies, &options))
            }
            Form::Markdown => Ok(studies.iter().map(export::markdown).collect::<Vec<_>>().join("\n")),
            Form::Csv => Ok(joined_csv(studies)),
            Form::Openmetrics => match studies {
                [study] => Ok(export::openmetrics(study)),
                _ => Err(Problem::new("OpenMetrics text takes one run: two runs would write the same series twice")
                    .with_next("write one file for each run")),
            },
            Form::Fio(format) => {
                let records = records(studies);
                if format.is_json && records.len() != 1 {
                    return Err(several_documents(studies));
                }
                if records.is_empty() {
                    return Err(no_fio_form());
                }
                let details = Details {
                    terse: Version::numbered(self.terse_version),
                    evidence: false,
                    remarks: true,
                    announced: false,
                    zone: TimeZone::system(),
                };
                Ok(records.into_iter().map(|record| format.report(record, &details)).collect())
            }
        }
    }
}

fn records(studies: &[Study]) -> Vec<&RunRecord> {
    studies.iter().flat_map(|study| &study.rows).filter_map(|row| row.run.as_ref()).collect()
}

fn no_fio_form() -> Problem {
    Problem::new("operations on names and small files cannot be shown in fio's formats")
        .with_next("use --as markdown, csv, html or openmetrics")
}

fn several_documents(studies: &[Study]) -> Problem {
    match records(studies).len() {
        0 => no_fio_form(),
        count => Problem::new(format!("{count} rows are {count} JSON documents, but a file or stdout takes one"))
            .with_next("use a directory: -o DIRECTORY/"),
    }
}

/// The studies as one table with one header.
fn joined_csv(studies: &[Study]) -> String {
    let mut text = String::new();
    for study in studies {
        let table = export::csv(study);
        text.push_str(if text.is_empty() { &table } else { table.split_once('\n').map_or("", |(_, rows)| rows) });
    }
    text
}

/// Whether the path is a directory, or is written like one.
fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/')
}

fn into_directory(directory: &Path, form: Form, studies: &[Study]) -> Result<(), Problem> {
    if !matches!(form, Form::Fio(format) if format.is_json) {
        return Err(Problem::new(format!(
            "{} is a directory, but only fio's JSON is written to several files",
            directory.display()
        ))
        .with_next("use a file name, or --as json"));
    }
    if records(studies).is_empty() {
        return Err(no_fio_form());
    }
    std::fs::create_dir_all(directory)
        .map_err(|error| Problem::new(format!("cannot make {}: {error}", directory.display())))?;
    for (index, study) in studies.iter().enumerate() {
        for row in fsdyno_fio_report::json::documents(study, &TimeZone::system()) {
            // Rows of several runs may have the same name.
            let name = if studies.len() > 1 { format!("{}-{}", index + 1, row.name) } else { row.name };
            into_file(&directory.join(name), &row.document)?;
        }
    }
    Ok(())
}

/// Writes the file whole or not at all. It replaces an earlier export, never a saved run.
fn into_file(path: &Path, text: &str) -> Result<(), Problem> {
    if path.exists() && !path.is_file() {
        return Err(Problem::new(format!("{} is not a regular file", path.display()))
            .with_next("use a file name, or leave out -o to write to stdout"));
    }
    if path.is_file() && fsdyno_guide::store::read(path).is_ok() {
        return Err(Problem::new(format!("{} is a saved run, which the report would overwrite", path.display()))
            .with_next("use another file name"));
    }
    write_whole(path, Readers::ByUmask, text.as_bytes())
        .map_err(|error| Problem::new(format!("cannot write {}: {error}", path.display())))?;
    print_stderr(&format!("wrote {} ({})", path.display(), fsdyno_text::quantity::bytes(text.len() as u64)));
    Ok(())
}
