//! Log files: the same names, columns and requests as fio's.

use std::collections::BTreeMap;
use std::path::Path;

use crate::case::{Case, job_file, line};
use crate::tools::{self, FIO, OURS};

/// What must agree of the lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// All columns but time and value, line by line.
    InOrder,
    /// The same in any order: the sequence of random offsets is another one.
    InAnyOrder,
    /// How many columns, and which directions: the clock decides how many windows there are.
    Windows,
    /// Nothing: fio 3.33 leaves these files empty unless it shows its progress.
    Names,
}

/// The lines of each log, as fields.
type Logs = BTreeMap<String, Vec<Vec<String>>>;

fn logs_in(directory: &Path) -> Logs {
    let entries = std::fs::read_dir(directory).expect("the directory of a run is readable");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let fields = |line: &str| line.split(", ").map(str::to_owned).collect();
    let logs = names.filter(|name| name.ends_with(".log")).map(|name| {
        let text = std::fs::read_to_string(directory.join(&name)).expect("a log is text");
        (name, text.lines().map(fields).collect())
    });
    logs.collect()
}

/// What is compared of the lines of one log.
fn comparable(lines: &[Vec<String>], how: Lines) -> Vec<Vec<String>> {
    let mut rest: Vec<Vec<String>> = match how {
        Lines::InOrder | Lines::InAnyOrder => lines.iter().map(|fields| fields[2..].to_vec()).collect(),
        Lines::Names => Vec::new(),
        Lines::Windows => lines.iter().map(|fields| [&fields[2..], &[fields.len().to_string()]].concat()).collect(),
    };
    if how != Lines::InOrder {
        rest.sort();
    }
    if how == Lines::Windows {
        rest.dedup();
    }
    rest
}

#[track_caller]
fn compare(case: &Case, how: Lines) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let ran = [fio, &OURS].map(|tool| tools::run(tool, case, &[]));
    assert_eq!(ran[0].status, ran[1].status, "{}", ran[1].stderr);
    let [fio, ours] = [0, 1].map(|tool| logs_in(ran[tool].directory.path()));
    assert!(!fio.is_empty(), "fio writes a log");
    assert_eq!(ours.keys().collect::<Vec<_>>(), fio.keys().collect::<Vec<_>>(), "names of the logs");
    for (name, fio) in &fio {
        let ours = &ours[name];
        assert_eq!(comparable(ours, how), comparable(fio, how), "{name}");
        for fields in ours {
            let numbers = fields[..2].iter().all(|field| field.parse::<u64>().is_ok());
            assert!(numbers, "{name}: {fields:?}");
        }
    }
}

/// A job with all three kinds of logs.
fn job(words: &str) -> Case {
    let logs = "--write_bw_log=x --write_lat_log=x --write_iops_log=x";
    line(&format!("--name=a --filename=data --size=64k --bs=4k --output=report {logs}")).words(words)
}

/// Defines one test for each row.
macro_rules! logs {
    ($($name:ident: $case:expr, $how:ident;)*) => { $(
        #[test]
        fn $name() {
            compare(&$case, Lines::$how);
        }
    )* };
}

logs! {
    sequential_reads: job("--rw=read --log_offset=1"), InOrder;
    sequential_writes: job("--rw=write"), InOrder;
    random_reads: job("--rw=randread --log_offset=1"), InAnyOrder;
    a_queue: job("--rw=randread --log_offset=1 --ioengine=libaio --iodepth=4 --direct=1"), InAnyOrder;
    block_sizes: job("--rw=write --bs=8k --log_offset=1"), InOrder;
    read_back: job("--rw=write --verify=crc32c --do_verify=1"), InOrder;
    clones: job("--rw=read --numjobs=2"), InOrder;
    one_file_for_all: job("--rw=read --numjobs=2 --per_job_logs=0"), InAnyOrder;
    names_of_jobs: job_file("[global]\nwrite_bw_log\nfilename=data\nsize=16k\nioengine=psync\nrw=read\n[one]\n[two]\n\
                             write_iops_log=y\n").words("--output=report"), InOrder;
    without_total_latency: job("--rw=read --disable_lat=1"), InOrder;
    without_completion_latency: job("--rw=read --disable_clat=1"), InOrder;
    priority: job("--rw=read --log_prio=1 --prioclass=2 --prio=4"), InOrder;
    priority_without_its_class: job("--rw=read --log_prio=1 --prio=3"), InOrder;
    all_jobs_together: line("--bandwidth-log --name=a --filename=data --size=64k --rw=randrw --output=report"), Names;
    windows: job("--rw=read --time_based --runtime=1 --log_avg_msec=100"), Windows;
    windows_with_offsets: job("--rw=randrw --time_based --runtime=1 --log_avg_msec=250 --log_offset=1"), Windows;
    largest_of_windows: job("--rw=read --time_based --runtime=1 --log_avg_msec=100 --log_max_value=1"), Windows;
}

#[test]
fn an_interrupted_run_keeps_its_logs() {
    let words = "--name=a --ioengine=null --size=1g --rw=read --rate_iops=1000 --write_iops_log=x --output=report";
    let ran = tools::run(&OURS, &line(words).shell("timeout -s INT 2 \"$@\""), &[]);
    let lines = logs_in(ran.directory.path()).remove("x_iops.1.log").unwrap_or_default();
    assert!(lines.len() > 100, "{} lines; {}", lines.len(), ran.stderr);
    assert!(lines.iter().all(|fields| fields.len() == 5), "each line is whole");
}

#[test]
fn a_log_that_cannot_be_written_is_told_before_any_byte() {
    let ran = tools::run(&OURS, &line("--name=a --filename=data --size=4k --rw=write --write_bw_log=nowhere/x"), &[]);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("nowhere/x_bw.1.log") && ran.stderr.contains("Next step"), "{}", ran.stderr);
    assert!(!ran.directory.path().join("data").exists(), "nothing was laid out");
}
