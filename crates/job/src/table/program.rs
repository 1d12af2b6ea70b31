//! Rows: options of the program itself. Job files cannot contain them.

use super::ProgramRow;
use super::build::*;
use crate::debug;
use crate::help;
use crate::lookup;
use crate::option::{Kind, Offer::*, OptionRow, Status, Status::*};
use crate::settings::{Action, Eta, Findings, IdleProfile, Settings};
use crate::value::{self, Refusal, TimeUnit};

const NETWORK: Status =
    Rejected("there is no server and no client: many nodes run over MPI (docs/scale.md), with --hosts or under mpirun");
const TRIGGERS: Status = Rejected("it simulates power cuts through fio's server");
const SELF_TEST: Status = Rejected("it tests fio itself");

const fn program(name: &'static str, kind: Kind<Settings>) -> OptionRow<Settings> {
    OptionRow::new(name, kind)
}

/// fio's single letters, for the options that people use them for. `-r` is readonly, not read.
pub const SHORT_OPTIONS: &[(char, &str)] = &[
    ('E', "eta-newline"),
    ('F', "output-format"),
    ('L', "status-interval"),
    ('O', "eta-interval"),
    ('P', "parse-only"),
    ('V', "terse-version"),
    ('c', "cmdhelp"),
    ('d', "debug"),
    ('e', "eta"),
    ('f', "append-terse"),
    ('h', "help"),
    ('i', "enghelp"),
    ('m', "minimal"),
    ('o', "output"),
    ('r', "readonly"),
    ('s', "showcmd"),
    ('v', "version"),
    ('w', "warnings-fatal"),
    ('x', "section"),
];

/// The words of `--output-format`. The crate `fio_report` has one format for each.
pub const FORMATS: &[&str] = &["normal", "terse", "json", "json+"];

/// The options of the program (`--output`, `--eta`, ...), which job files cannot hold.
#[rustfmt::skip]
pub const ROWS: &[ProgramRow] = &[
    program("output", text(|s, path| { s.output = Some(path.into()); Ok(()) }))
        .tier(1).help("Write reports into this file").offer(Files),
    program("output-format", text(set_formats))
        .tier(1).default("normal").help("Reports to write: normal, terse, json, json+, with commas")
        .offer(Words(FORMATS)),
    program("minimal", Kind::Switch(|s| s.formats = vec!["terse"]))
        .help("Only the terse report"),
    program("append-terse", Kind::OptionalText(|s, _| { add_format(&mut s.formats, "terse"); Ok(()) }))
        .help("The terse report too"),
    program("terse-version", text(set_terse_version))
        .default("3").help("Version of the terse report, 2 to 5").offer(Words(&["2", "3", "4", "5"])),
    program("bandwidth-log", Kind::OptionalText(|s, stem| {
        s.bandwidth_log = Some(stem.unwrap_or("agg").to_owned());
        Ok(())
    })).help("Log the bandwidth of all jobs together"),
    program("eta", text(set_eta))
        .tier(1).default("auto").help("Progress line: auto (on a terminal), always or never")
        .offer(Words(&["auto", "always", "never"])),
    program("eta-interval", text(|s, text| {
        s.eta_interval_ms = milliseconds(text)?;
        match s.eta_interval_ms {
            250.. => Ok(()),
            _ => Err(Refusal::new("fio: eta interval time too short (250msec min)")),
        }
    })).default("1").help("Time between two progress lines, at least 250ms; in seconds without a unit"),
    program("eta-newline", text(|s, text| {
        s.eta_newline_ms = Some(milliseconds(text)?);
        match s.eta_newline_ms {
            Some(0) => Err(Refusal::new("fio: eta new line time too short")),
            _ => Ok(()),
        }
    })).tier(1).help("Begin a new progress line after this time"),
    program("status-interval", text(|s, text| {
        s.status_interval_ms = Some(milliseconds(text)?);
        match s.status_interval_ms {
            Some(0) => Err(Refusal::new("fio: status interval too small")),
            _ => Ok(()),
        }
    })).tier(1).help("Print an interim report at this interval"),
    program("section", text(|s, name| {
        if name.starts_with("global") {
            return Err(Refusal::new("fio: can't use global as only section"));
        }
        s.sections.push(name.to_owned());
        Ok(())
    })).help("Run only this section of job files; may be repeated"),
    program("showcmd", Kind::Switch(|s| s.show_command = true))
        .help("Print the jobs as a command line and stop"),
    program("parse-only", Kind::Switch(|s| s.parse_only = true))
        .help("Check the options and stop"),
    program("readonly", Kind::Switch(|s| s.read_only = true))
        .help("Refuse jobs that write or trim"),
    program("warnings-fatal", Kind::Switch(|s| s.warnings_fatal = true))
        .tier(3).help("Treat warnings about jobs as errors"),
    program("max-jobs", text(ignore_text))
        .help("Formerly the largest number of jobs").status(WithoutEffect("the number of jobs has no limit; fio ignores it too")),
    program("cmdhelp", Kind::OptionalText(|s, name| { s.action = Some(help::command_help(name)); Ok(()) }))
        .help("Help on an option, or on \"all\""),
    program("enghelp", Kind::OptionalText(|s, name| { s.action = Some(help::engine_help(name)); Ok(()) }))
        .help("The engines, the options of one, or help on one: ENGINE,OPTION"),
    program("version", Kind::Switch(|s| s.action = Some(Action::Version)))
        .tier(1).help("Print the version and stop"),
    program("help", Kind::Switch(|s| s.action = Some(Action::Help)))
        .tier(1).help("Print this page and stop"),
    program("debug", text(set_debug))
        .tier(3).help("Print what the program does: parse (the options), random (the seeds); help lists the channels")
        .status(Partial("parse, and the seeds of random; the other channels print nothing")),
    program("alloc-size", text(ignore_text))
        .tier(4).help("Size of fio's memory pool").status(WithoutEffect("memory comes from the system when it is needed: no pool can be too small")),
    program("aux-path", text(|s, path| { s.aux_path = Some(path.into()); Ok(()) }))
        .tier(4).help("Directory for states and dumped blocks of verification").offer(Files),
    program("idle-prof", text(set_idle_profile))
        .tier(4).help("Measure how idle the CPUs are: system, percpu, or calibrate (and stop)")
        .offer(Words(&["system", "percpu", "calibrate"])),
    program("inflate-log", text(|s, path| { s.action = Some(Action::InflateLog(path.into())); Ok(()) }))
        .tier(4).help("Print the lines of a log that log_store_compressed=1 has written, and stop").offer(Files),
    program("latency-log", text(ignore_text))
        .tier(4).help("Formerly a switch for latency logs").status(Rejected("deprecated in fio: use write_lat_log")),
    program("trigger-file", text(ignore_text)).tier(4).help("Run the trigger when this file appears").status(TRIGGERS),
    program("trigger-timeout", text(ignore_text)).tier(4).help("Run the trigger after this time").status(TRIGGERS),
    program("trigger", text(ignore_text)).tier(4).help("Command to run").status(TRIGGERS),
    program("trigger-remote", text(ignore_text)).tier(4).help("Command to run on the server").status(TRIGGERS),
    program("merge-blktrace-only", Kind::Switch(|s| s.merge_only = true)).tier(4)
        .help("Write the files of merge_blktrace_file, and stop"),
    program("cpuclock-test", Kind::Switch(ignore_switch)).tier(4).help("Test the clock").status(SELF_TEST),
    program("crctest", Kind::OptionalText(|_, _| Ok(()))).tier(4).help("Time the checksums").status(SELF_TEST),
    program("memcpytest", Kind::OptionalText(|_, _| Ok(()))).tier(4).help("Time copies of memory").status(SELF_TEST),
    program("server", Kind::OptionalText(|_, _| Ok(()))).tier(4).help("Take jobs from the network").status(NETWORK),
    program("daemonize", text(ignore_text)).tier(4).help("Run the server in the background").status(NETWORK),
    program("client", text(ignore_text)).tier(4).help("Send jobs to a server").status(NETWORK),
    program("remote-config", text(ignore_text)).tier(4).help("Job file on the server").status(NETWORK),
    // Options that fio does not have must be written in full, so that they make no abbreviation of fio's options
    // ambiguous.
    program("record", text(|s, path| { s.record = Some(path.into()); Ok(()) }))
        .help("Save the record of the run into this file (not in fio)").offer(Files),
    program("record-interval", text(|s, text| { s.record_interval_ms = milliseconds(text)?; Ok(()) }))
        .default("10").help("Save the record at this interval during the run, 0: only at its end; in seconds without \
                             a unit (not in fio)"),
    program("fsdyno-json", Kind::OptionalText(|s, text| { s.fsdyno_json = on_or_off(text.unwrap_or("1"))?; Ok(()) }))
        .default("0").help("Add the findings and the evidence behind them to the JSON report (not in fio)")
        .offer(Words(&["0", "1"])),
    program("findings", Kind::OptionalText(|s, text| { s.findings = findings(text.unwrap_or("all"))?; Ok(()) }))
        .default("auto").help("Findings against the numbers: auto (at the end of the normal report, in the JSON \
                               report; on a terminal also on stderr), all (on stderr), off; also by FSDYNO_FINDINGS \
                               (not in fio)")
        .offer(Words(Findings::WORDS)),
];

/// Reads a switch that has a value.
fn on_or_off(text: &str) -> Result<bool, Refusal> {
    match text {
        "1" | "on" | "yes" => Ok(true),
        "0" | "off" | "no" => Ok(false),
        _ => Err(Refusal::new(format!("fio: {text} is neither on nor off")).advise("values are on (1) and off (0)")),
    }
}

fn findings(text: &str) -> Result<Findings, Refusal> {
    Findings::named(text).ok_or_else(|| meant(Refusal::new(Findings::refusal(text)), text, Findings::WORDS))
}

/// The refusal with the word that was meant, else all words.
fn meant(refusal: Refusal, text: &str, words: &'static [&str]) -> Refusal {
    match lookup::nearest(text, words.iter().copied()) {
        Some(near) => refusal.advise(format!("did you mean `{near}`?")),
        None => refusal.advise(format!("words are {}", words.join(", "))),
    }
}

fn ignore_switch(_: &mut Settings) {}

/// Reads a time in milliseconds; a number without a unit counts seconds.
fn milliseconds(text: &str) -> Result<u64, Refusal> {
    value::time(text, TimeUnit::Seconds).map(|ns| ns / 1_000_000).map_err(|refusal| Refusal {
        reason: format!("fio: failed parsing time {text}\n{}", refusal.reason),
        ..refusal
    })
}

fn set_formats(settings: &mut Settings, text: &str) -> Result<(), Refusal> {
    let mut formats = Vec::new();
    for name in text.split(',').map(str::trim) {
        let word = if ["minimal", "csv"].contains(&name) { "terse" } else { name };
        let Some(word) = FORMATS.iter().find(|known| **known == word) else {
            let text = format!("fio: invalid output format {name}\nfio: failed parsing output-format");
            return Err(meant(Refusal::new(text), name, FORMATS));
        };
        add_format(&mut formats, word);
    }
    settings.formats = formats;
    Ok(())
}

/// Adds a format. `json+` contains `json`, so that both become one document.
fn add_format(formats: &mut Vec<&'static str>, word: &'static str) {
    let is_covered = formats.contains(&word) || word == "json" && formats.contains(&"json+");
    if !is_covered {
        formats.retain(|other| !(word == "json+" && *other == "json"));
        formats.push(word);
    }
}

fn set_idle_profile(settings: &mut Settings, text: &str) -> Result<(), Refusal> {
    match text {
        "system" => settings.idle_profile = Some(IdleProfile::System),
        "percpu" => settings.idle_profile = Some(IdleProfile::EachProcessor),
        "calibrate" => settings.action = Some(Action::CalibrateIdle),
        other => {
            let text = format!("fio: incorrect idle-prof option: {other}");
            return Err(meant(Refusal::new(text), other, &["system", "percpu", "calibrate"]));
        }
    }
    Ok(())
}

/// Reads the channels of `--debug`. `job:N` would limit the output to one job and is accepted; with other channels,
/// text after the colon has no meaning, as in fio.
fn set_debug(settings: &mut Settings, text: &str) -> Result<(), Refusal> {
    if text == "help" || text == "?" {
        settings.action = Some(Action::Print { text: debug::list(), status: 0 });
        return Ok(());
    }
    for word in text.split(',') {
        let (channel, job) = word.split_once(':').map_or((word, None), |(channel, job)| (channel, Some(job)));
        if !debug::CHANNELS.contains(&channel) {
            settings.remarks.push(format!("fio: debug mask {word} not found"));
        } else if channel == "job" && job.is_none_or(|job| job.parse::<u32>().is_err()) {
            return Err(Refusal::new("fio: missing job number").advise("write --debug=job:1"));
        } else {
            settings.debug.push(channel.to_owned());
        }
    }
    Ok(())
}

fn set_terse_version(settings: &mut Settings, text: &str) -> Result<(), Refusal> {
    match text.parse::<u8>() {
        Ok(version @ 2..=5) => {
            settings.terse_version = version;
            Ok(())
        }
        _ => Err(Refusal::new("fio: bad terse version format").advise("versions are 2, 3, 4 and 5")),
    }
}

fn set_eta(settings: &mut Settings, text: &str) -> Result<(), Refusal> {
    settings.eta = match text {
        "always" => Eta::Always,
        "never" => Eta::Never,
        "auto" => Eta::Auto,
        other => {
            settings.remarks.push(format!("--eta={other} is none of auto, always, never; auto is used, as fio does"));
            Eta::Auto
        }
    };
    Ok(())
}

/// Options that fio does not have.
pub const OWN_OPTIONS: &[&str] = &["record", "record-interval", "fsdyno-json", "findings"];
