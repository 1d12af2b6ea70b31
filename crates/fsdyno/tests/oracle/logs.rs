//! Tests log files: the same names, columns and requests as fio's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::text;

use crate::case::{Case, job_file, line};
use crate::tools::{self, FIO, OURS, Tool};

/// What must agree in the lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// All columns but time and value, line by line.
    InOrder,
    /// The same in any order: the sequence of random offsets differs.
    InAnyOrder,
    /// Number of columns, and directions: the clock decides the number of windows.
    Windows,
    /// Nothing: fio 3.33 leaves these files empty unless it shows its progress.
    Names,
}

/// The lines of each log, as fields.
type Logs = BTreeMap<String, Vec<Vec<String>>>;

fn logs_in(directory: &Path) -> Logs {
    let logs = files_in(directory, ".log").into_iter().map(|name| {
        let text = std::fs::read_to_string(directory.join(&name)).expect("a log is text");
        (name, lines_of(&text))
    });
    logs.collect()
}

fn files_in(directory: &Path, ending: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).expect("the directory of a run is readable");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    names.filter(|name| name.ends_with(ending)).collect()
}

fn lines_of(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(", ").map(str::to_owned).collect()).collect()
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
    windows: job("--rw=read --rate_iops=500 --time_based --runtime=1 --log_avg_msec=100"), Windows;
    windows_with_offsets: job("--rw=randrw --rate_iops=500 --time_based --runtime=1 --log_avg_msec=250 --log_offset=1"), Windows;
    windows_have_no_priority: job("--rw=read --rate_iops=500 --time_based --runtime=1 --log_avg_msec=100 --log_prio=1 --prio=3"), Windows;
    compressed_in_memory: job("--rw=read --log_compression=1k --log_compression_cpus=0"), InOrder;
    largest_of_windows: job("--rw=read --rate_iops=500 --time_based --runtime=1 --log_avg_msec=100 --log_max_value=1"), Windows;
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

/// The lines that `tool` makes of a compressed log.
#[track_caller]
fn inflated(tool: &Tool, log: &Path) -> String {
    let ran = Command::new(&tool.program).arg(format!("--inflate-log={}", log.display())).output().expect("it runs");
    assert!(ran.status.success(), "{} of {}: {}", tool.name, log.display(), text(&ran.stderr));
    text(&ran.stdout)
}

/// Each tool reads the files of both, with the same lines.
#[track_caller]
fn exchange(words: &str, how: Lines) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let case = job(&format!("--log_store_compressed=1 {words}"));
    let ran = [fio, &OURS].map(|tool| tools::run(tool, &case, &[]));
    assert_eq!([ran[0].status, ran[1].status], [Some(0); 2], "{}", ran[1].stderr);
    let [names, ours] = [0, 1].map(|tool| files_in(ran[tool].directory.path(), ".log.fz"));
    assert_eq!(ours, names, "names of the logs");
    assert!(names.iter().any(|name| name.contains("_clat")), "{names:?}");
    for name in &names {
        let logs = [0, 1].map(|tool| ran[tool].directory.path().join(name));
        // fio refuses to inflate an empty file.
        if logs.iter().any(|log| std::fs::metadata(log).expect("a log").len() == 0) {
            assert!(logs.iter().all(|log| inflated(&OURS, log).is_empty()), "{name}");
            continue;
        }
        let both = logs.map(|log| {
            let lines = inflated(&OURS, &log);
            assert!(lines == inflated(fio, &log), "{name}: fio reads other lines");
            lines_of(&lines)
        });
        assert_eq!(comparable(&both[1], how), comparable(&both[0], how), "{name}");
    }
}

/// Defines one test for each row.
macro_rules! exchanges {
    ($($name:ident: $words:expr, $how:ident;)*) => { $(
        #[test]
        fn $name() {
            exchange($words, Lines::$how);
        }
    )* };
}

exchanges! {
    compressed_reads: "--rw=read", InOrder;
    compressed_writes_with_offsets: "--rw=write --log_offset=1", InOrder;
    compressed_queue: "--rw=randread --ioengine=libaio --iodepth=4 --direct=1 --log_offset=1", InAnyOrder;
    compressed_in_parts: "--rw=write --size=8m --log_compression=1k", InOrder;
    compressed_in_large_parts: "--rw=write --size=8m --log_compression=1m", InOrder;
    compressed_priorities: "--rw=read --log_prio=1 --prioclass=2 --prio=4 --log_offset=1", InOrder;
    compressed_windows: "--rw=read --rate_iops=500 --time_based --runtime=1 --log_avg_msec=100 --log_max_value=1", Windows;
    compressed_clones: "--rw=read --numjobs=2", InOrder;
    compressed_together: "--rw=read --numjobs=2 --per_job_logs=0", InAnyOrder;
}

#[test]
fn what_cannot_be_inflated_is_told() {
    for name in ["missing", "lines"] {
        let case = line(&format!("--inflate-log={name}")).file("lines", b"0, 1, 0, 4096, 0\n".to_vec());
        let ran = tools::run(&OURS, &case, &[]);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
        let sentence = if name == "missing" { "fopen: No such file" } else { "fio: failed inflating log: -3" };
        assert!(ran.stderr.starts_with(sentence), "{}", ran.stderr);
        let Some(fio) = FIO.as_ref() else { continue };
        assert!(tools::run(fio, &case, &[]).stderr.starts_with(sentence), "fio says so too");
    }
}

#[test]
fn a_processor_that_is_not_there_writes_no_logs() {
    for tool in [FIO.as_ref(), Some(&OURS)].into_iter().flatten() {
        let ran = tools::run(tool, &job("--rw=read --log_compression=1k --log_compression_cpus=999"), &[]);
        assert_eq!(ran.status, Some(1));
        assert!(ran.stderr.contains("CPU 999 too large"), "{}", ran.stderr);
    }
}

/// A histogram for each second of three, of reads and writes.
fn histograms(coarseness: u32) -> Case {
    let words =
        "--name=a --ioengine=null --size=1m --rw=randrw --bs=4k --rate_iops=500 --time_based --runtime=3 --thread";
    line(&format!("{words} --write_hist_log=h --log_hist_msec=1000 --log_hist_coarseness={coarseness} --output=report"))
}

const HISTOGRAMS: &str = "h_clat_hist.1.log";

#[test]
fn histograms_have_fio_s_columns() {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    for coarseness in [0, 3, 6] {
        let logs = [fio, &OURS].map(|tool| logs_in(tools::run(tool, &histograms(coarseness), &[]).directory.path()));
        let shapes = logs.map(|mut log| {
            let lines = log.remove(HISTOGRAMS).expect("the log has fio's name");
            assert!(log.is_empty(), "{:?}", log.keys());
            lines.iter().map(|fields| (fields.len(), fields[1].clone(), fields[2].clone())).collect::<BTreeSet<_>>()
        });
        assert_eq!(shapes[1], shapes[0], "columns, directions and sizes");
        assert_eq!(shapes[1].len(), 2);
    }
}

/// A tool of fio's from Debian's package, where it is among the documents.
fn tool_of_fio(name: &str, directory: &Path) -> Option<PathBuf> {
    let packed = format!("/usr/share/doc/fio/{name}.gz");
    if !Path::new(&packed).exists() {
        testkit::skip(&format!("there is no {packed}"));
        return None;
    }
    let program = directory.join(name);
    testkit::shell(&format!("gzip -dc {packed} > {}", program.display()));
    Some(program)
}

/// Runs a program of Python on each of the logs. What it imports is loaded once, which takes longer than to read them.
const READ_EACH: &str = "import os, runpy, sys
program, module, words = sys.argv[1:4]
__import__(module)
for log in sys.argv[4:]:
    if os.fork() == 0:
        sys.argv = [program, *words.split(' '), log]
        runpy.run_path(program, run_name='__main__')
        sys.exit()
    if os.wait()[1] != 0:
        sys.exit(log)
    print('END', flush=True)";

/// Runs one of fio's tools on fio's log and on ours, and compares the listed times and the fields of each line. `module`:
/// what the tool needs most.
fn tool_reads_both(name: &str, module: &str, words: &str, coarsenesses: &[u32]) {
    let Some(fio) = FIO.as_ref() else {
        testkit::skip("fio is not installed");
        return;
    };
    let directory = testkit::directory();
    let (Some(python), Some(program)) = (testkit::python("python3"), tool_of_fio(name, directory.path())) else {
        return;
    };
    let runs: Vec<_> = coarsenesses
        .iter()
        .flat_map(|coarseness| [fio, &OURS].map(|tool| tools::run(tool, &histograms(*coarseness), &[])))
        .collect();
    let logs = runs.iter().map(|ran| ran.directory.path().join(HISTOGRAMS));
    let mut command = Command::new(&python);
    let read = command.args(["-c", READ_EACH]).arg(&program).args([module, words]).args(logs).output();
    let read = read.expect("python runs");
    let said = text(&read.stderr);
    if said.contains(&format!("No module named '{module}'")) {
        testkit::skip(&format!("there is no {module}; .ci/run installs it"));
        return;
    }
    assert!(read.status.success(), "{name}: {said}");
    let listed = text(&read.stdout);
    let listed: Vec<&str> = listed.split_terminator("END\n").collect();
    assert_eq!(listed.len(), runs.len(), "{listed:?}");
    for (runs, listed) in runs.chunks(2).zip(listed.chunks(2)) {
        let [theirs, ours] = [0, 1].map(|tool| {
            let (ran, listed) = (&runs[tool], listed[tool]);
            let rows = listed.lines().map(|line| line.split(',').map(str::trim).collect::<Vec<_>>());
            let rows = rows.filter(|fields| fields[0].parse().is_ok_and(|at_ms: u64| at_ms > 0));
            let rows: Vec<(u64, usize)> =
                rows.map(|fields| (fields[1].parse().expect("how many I/Os"), fields.len())).collect();
            let report = std::fs::read_to_string(ran.directory.path().join("report")).expect("a report");
            let issued = report.split_once("issued rwts: total=").expect("the I/Os of the run").1;
            let issued = issued.split(',').take(2).map(|ios| ios.parse::<u64>().expect("a number")).sum::<u64>();
            (rows, listed, issued)
        });
        let fields = theirs.0.first().map(|(_, fields)| *fields);
        assert!(fields.is_some(), "{}", theirs.1);
        // 500 reads and 500 writes in each of three seconds, which have the I/Os of the run, but for those beyond the last
        // whole second.
        assert_eq!(ours.0.len(), 3, "{}", ours.1);
        assert!(ours.0.iter().all(|(ios, had)| (900..1100).contains(ios) && Some(*had) == fields), "{}", ours.1);
        let listed = ours.0.iter().map(|(ios, _)| ios).sum::<u64>();
        assert!(listed.abs_diff(ours.2) * 10 < ours.2, "{listed} of {}: {}", ours.2, ours.1);
    }
}

#[test]
fn fio_s_percentiles_of_histogram_logs_can_be_had() {
    tool_reads_both("fio-histo-log-pctiles.py", "math", "--log-hist-msec 1000 --time-quantum 1", &[0]);
}

#[test]
fn fio_s_parser_of_histogram_logs_reads_them() {
    tool_reads_both("fiologparser_hist.py", "pandas", "--noweight --interval 1000", &[0, 3]);
}
