//! Tests of the reader of command lines.

use super::*;
use crate::settings::Findings;

fn line(text: &str) -> CommandLine {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    read(&words, Settings::default())
}

/// `name: option=text ...` of each section, the implicit defaults first.
fn sections(line: &CommandLine) -> Vec<String> {
    assert_eq!(line.errors, []);
    line.jobs
        .iter()
        .map(|job| {
            let options: Vec<String> = job
                .assignments
                .iter()
                .map(|assignment| match &assignment.text {
                    Some(text) => format!("{}={text}", assignment.row.name),
                    None => assignment.row.name.to_owned(),
                })
                .collect();
            format!("{}: {}", job.name, options.join(" "))
        })
        .collect()
}

fn errors(text: &str) -> String {
    let line = line(text);
    assert!(!line.errors.is_empty(), "{text} was accepted");
    line.errors.iter().map(|error| error.render(false)).collect()
}

#[test]
fn the_contract_lines() {
    assert_eq!(
        sections(&line(
            "-filename=/mnt/s3/perf.txt -rw=read -direct=1 -iodepth 32 -thread -ioengine=libaio -bs=4k -size=1G \
             -numjobs=8 -group_reporting -runtime=30 -time_base -name=/root/fio_result_s3_read.txt"
        )),
        [
            "global: filename=/mnt/s3/perf.txt rw=read direct=1 iodepth=32 thread ioengine=libaio bs=4k size=1G \
             numjobs=8 group_reporting runtime=30 time_based",
            "/root/fio_result_s3_read.txt: name=/root/fio_result_s3_read.txt",
        ]
    );
    let text = "--randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=f --bs=4k \
                --iodepth=64 --size=4G --readwrite=randrw --rwmixread=75";
    assert_eq!(
        sections(&line(text)),
        [
            "global: randrepeat=1 ioengine=libaio direct=1 gtod_reduce=1",
            "test: name=test filename=f bs=4k iodepth=64 size=4G rw=randrw rwmixread=75",
        ]
    );
}

#[test]
fn values_follow_the_equals_sign_or_the_next_word() {
    for text in ["--iodepth=4", "--iodepth 4", "-iodepth=4", "-iodepth 4"] {
        assert_eq!(sections(&line(text)), ["global: iodepth=4"], "{text}");
    }
    // Flags take a value only with the equals sign: the next word is a job file.
    let flags = line("--group_reporting 1 --thread=0");
    assert_eq!(flags.job_files[0].0, "1");
    assert_eq!(sections(&flags), ["global: group_reporting thread=0"]);
    assert_eq!(line("-output-format terse").settings.formats, ["terse"]);
}

#[test]
fn options_and_job_files_mix() {
    let mixed = line("a.fio --bs=8k - b.fio -- --c.fio");
    let files: Vec<&str> = mixed.job_files.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(files, ["a.fio", "-", "b.fio", "--c.fio"]);
    assert_eq!(sections(&mixed), ["global: bs=8k"]);
}

#[test]
fn prefixes_must_be_unique() {
    for (text, name) in [
        ("--time_base", "time_based"),
        ("--randre=1", "randrepeat"),
        ("--group_rep", "group_reporting"),
        ("--runt=1", "runtime"),
    ] {
        assert!(sections(&line(text))[0].contains(name), "{text}");
    }
    let ambiguous = errors("--name=x --rwmix=70");
    assert!(
        ambiguous.contains(
            "fio: option '--rwmix=70' is ambiguous; possibilities: '--rwmixread' '--rwmixwrite' '--rwmixcycle'"
        ),
        "{ambiguous}"
    );
    assert!(errors("-iodep 4").contains("'-iodepth' '-iodepth_batch'"));
    assert!(errors("--tim=1").contains("ambiguous"));
    assert!(errors("-n").contains("ambiguous"));
    // An option shares its prefix with its alias.
    assert!(errors("--disable_b=1").contains("ambiguous"));
}

#[test]
fn our_own_options_make_no_abbreviation_ambiguous() {
    assert_eq!(line("--record=r.json").settings.record.as_deref(), Some("r.json"));
    assert!(errors("--recor=r.json").contains("unrecognized"));
}

#[test]
fn what_getopt_takes_by_accident_is_refused() {
    for text in ["-foo", "-bogus=4", "-iodepht=4", "--time-based", "--IODEPTH=4", "--=4", "-q"] {
        assert!(errors(text).contains("fio: unrecognized option"), "{text}");
    }
    assert!(errors("-foo").contains("take it for -f"));
    assert!(errors("--iodepht=4").contains("did you mean `iodepth`?"));
    assert!(errors("--time-based").contains("did you mean `time_based`?"));
}

#[test]
fn short_options() {
    assert_eq!(line("-o out.txt").settings.output.as_deref(), Some("out.txt"));
    assert_eq!(line("-m").settings.formats, ["terse"]);
    assert_eq!(line("-f").settings.formats, ["normal", "terse"]);
    assert!(line("-r").settings.read_only);
    assert_eq!(line("-v").settings.action, Some(crate::settings::Action::Version));
    assert_eq!(line("--help --bogus").settings.action, Some(crate::settings::Action::Help));
}

#[test]
fn a_missing_value_is_an_error() {
    assert!(errors("--name=x --iodepth").contains("fio: option '--iodepth' requires an argument"));
    assert!(errors("--iodepth=").contains("fio: option iodepth requires an argument"));
    assert!(errors("--direct --size=4k").contains("--size=4k looks like the next option"));
    assert!(errors("--minimal=1").contains("doesn't allow an argument"));
    assert!(errors("--write_bw_log").contains("requires an argument"));
    // A value may begin with a dash.
    assert_eq!(sections(&line("--nice -5")), ["global: nice=-5"]);
}

#[test]
fn engine_options_follow_their_engine() {
    assert_eq!(sections(&line("--ioengine=io_uring --hipri")), ["global: ioengine=io_uring hipri"]);
    assert!(errors("--hipri --ioengine=io_uring").contains("write --ioengine before it"));
    // Each job has its own engine; a new job begins with the engine of the defaults.
    assert_eq!(sections(&line("--name=a --ioengine=sim --sim_channels=2 --name=b")).len(), 3);
    assert!(errors("--name=a --ioengine=sim --name=b --sim_channels=2").contains("sim_channels is an option of sim"));
}

#[test]
fn several_jobs_and_a_return_to_the_defaults() {
    assert_eq!(
        sections(&line("--bs=4k --name=a --rw=read --name=global --size=1m --name=b")),
        ["global: bs=4k", "a: name=a rw=read", "global: size=1m", "b: name=b"]
    );
}

#[test]
fn settings() {
    let settings =
        line("--output-format=normal,json+ --eta-newline=2 --status-interval=500ms --section=a --section=b").settings;
    assert_eq!(settings.formats, ["normal", "json+"]);
    assert_eq!(line("--output-format=json,csv,json+,minimal,json").settings.formats, ["terse", "json+"]);
    assert_eq!(settings.eta_newline_ms, Some(2000));
    assert_eq!(settings.status_interval_ms, Some(500));
    assert_eq!(settings.sections, ["a", "b"]);
    for (text, message) in [
        ("--output-format=xml", "fio: invalid output format xml\nfio: failed parsing output-format"),
        ("--terse-version=7", "fio: bad terse version format"),
        ("--eta-newline=0", "fio: eta new line time too short"),
        ("--eta-interval=100ms", "fio: eta interval time too short (250msec min)"),
        ("--status-interval=0", "fio: status interval too small"),
        ("--status-interval=x", "fio: failed parsing time x"),
        ("--section=global", "fio: can't use global as only section"),
        ("--client=host", "not supported"),
        ("--latency-log=1", "deprecated"),
        ("--findings=maybe", "maybe is none of auto, all, off"),
        ("--findings=of", "did you mean `off`?"),
        ("--findings=everything", "words are auto, all, off"),
        ("--idle-prof=sytem", "did you mean `system`?"),
        ("--output-format=normal,jsn", "did you mean `json`?"),
    ] {
        let text = errors(text);
        assert!(text.contains(message), "{text}");
    }
    let ours = |text: &str| {
        let settings = line(text).settings;
        (settings.findings, settings.fsdyno_json)
    };
    assert_eq!(ours(""), (Findings::Auto, false));
    assert_eq!(ours("--findings=off --fsdyno-json=1"), (Findings::Off, true));
    assert_eq!(ours("--findings --fsdyno-json=0"), (Findings::All, false));
    assert_eq!(ours("--findings=auto"), (Findings::Auto, false));
    assert_eq!(line("--eta=bogus").warnings.len(), 1);
    assert_eq!(line("--max-jobs=9").warnings.len(), 1);
}
