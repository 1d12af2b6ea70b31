//! Tests that what our messages and help say about fio is true: each statement has a row here with a run of fio that
//! shows it. A new statement without a row fails, and so does a row without its statement.

use std::path::Path;
use std::process::Command;

use crate::parsers::{self, Depth, Reading, Written};
use crate::tools::{CLOCK, FIO};

/// The result of a run of fio: its status, its output, its directory.
pub(crate) struct RunResult {
    pub(crate) status: Option<i32>,
    pub(crate) said: String,
    pub(crate) directory: tempfile::TempDir,
}

impl RunResult {
    /// Requests of the first job in this direction.
    pub(crate) fn ios(&self, direction: &str) -> Option<u64> {
        let document: serde_json::Value = serde_json::from_str(&self.said[self.said.find("{\n")?..]).ok()?;
        document["jobs"][0][direction]["total_ios"].as_u64()
    }

    pub(crate) fn holds(&self, name: &str) -> bool {
        self.directory.path().join(name).exists()
    }
}

pub(crate) fn run(words: &str) -> RunResult {
    run_with(words, "")
}

/// The run with this text in a job file called `jobs`.
pub(crate) fn run_with(words: &str, jobs: &str) -> RunResult {
    let fio = FIO.as_ref().expect("looked at before");
    let directory = testkit::directory();
    std::fs::write(directory.path().join("jobs"), jobs).expect("job files are written");
    let words = words.split_whitespace();
    let mut command = Command::new(&fio.program);
    let output =
        testkit::apart(&mut command).arg(CLOCK).args(words).current_dir(&directory).output().expect("fio runs");
    let said = testkit::text(&output.stderr) + &testkit::text(&output.stdout);
    RunResult { status: output.status.code(), said, directory }
}

/// Requests of a job of 16 that touches no file.
pub(crate) fn ios(words: &str) -> Option<u64> {
    run(&format!("--output-format=json --name=a --ioengine=null --size=64k {words}")).ios("read")
}

pub(crate) fn is_read_as(option: &'static str, text: &str, numbers: &[&str]) -> bool {
    let written = Written { option, text: text.to_owned() };
    parsers::fio(&[written], Depth::Numbers).is_some_and(|all| match &all[0] {
        Reading::Read(read) => read == numbers,
        Reading::Refused(_) => false,
    })
}

/// Whether fio says so of each option whose status begins with this reason.
fn all_are_called_deprecated(reason: &str) -> bool {
    let options = fsdyno_job::table::job_rows().map(|row| (row.name, row.status.reason()));
    let program = fsdyno_job::table::PROGRAM.iter().map(|row| (row.name, row.status.reason()));
    let mut named = options.chain(program).filter(|row| row.1.starts_with(reason)).peekable();
    let called =
        |name: &str| run(&format!("--name=a --ioengine=null --size=4k --{name}=1")).said.contains("deprecated");
    named.peek().is_some() && named.all(|(name, _)| called(name))
}

/// A part of the statement in the source, and whether fio does so.
type Claim = (&'static str, fn() -> bool);

#[rustfmt::skip]
const CLAIMS: &[Claim] = &[
    ("fio would take it for -{letter} with something behind it", || {
        run("--name=a --ioengine=null --size=4k -iodepht=4").said.contains("odepht=4")
    }),
    // `readings` tries each number that ours prints.
    ("{reason}: fio would read {read}", || is_read_as("number_ios", "4x", &["4"]) && is_read_as("runtime", "10sec", &["10"])),
    ("; fio misreads the %", || is_read_as("rwmixread", "70%", &["18446744073709551545"])),
    ("is read with its unit; fio would read {} microseconds", || is_read_as("startdelay", "5s-10s", &["5", "10000000"])),
    ("with 0x anywhere fio takes both ends for hexadecimal", || is_read_as("filesize", "4096-0x2000", &["16534", "8192"])),
    ("a power of 1000, as fio documents for kb_base=1024", || is_read_as("number_ios", "4KiB", &["4000"])),
    ("k is 1024, kib is 1000, as in fio", || is_read_as("number_ios", "1k", &["1024"]) && is_read_as("number_ios", "1kib", &["1000"])),
    ("one number only: fio would keep one of them", || ios("--number_ios=5,6") == Some(5) && ios("--size=64k,32k") == Some(8)),
    ("nothing may follow {head}: fio would drop :{tail}", || {
        let words = ["--rw_sequencer=identical:x", "--fallocate=none:x", "--random_distribution=random:5"];
        words.iter().all(|words| ios(words) == Some(16)) && run("--name=a --ioengine=null:x --size=4k").status == Some(0)
    }),
    ("directory was written after filename and does not apply to it, as in fio", || {
        let ran = run("--name=a --filename=f --directory=/proc --size=4k --rw=write");
        ran.status == Some(0) && ran.holds("f")
    }),
    ("--eta={other} is none of auto, always, never; auto is used, as fio does", || ios("--eta=bogus") == Some(16)),
    ("the number of jobs has no limit; fio ignores it too", || {
        run("--max-jobs=1 --ioengine=null --size=4k --name=a --name=b").said.matches("(g=0)").count() == 2
    }),
    ("deprecated in fio", || all_are_called_deprecated("deprecated in fio")),
    ("fio says that it is deprecated, and does nothing with it", || all_are_called_deprecated("fio says that it is deprecated")),
    ("leave gaps, and in fio's order the job ends before its size", || {
        let ran = run("--output-format=json --name=a --ioengine=null --size=256k --rw=randrw --bs=4k,6k");
        let bytes = ran.ios("read").zip(ran.ios("write")).map(|(reads, writes)| reads * 4096 + writes * 6144);
        bytes.is_some_and(|bytes| bytes < 200 << 10)
    }),
    ("as fio 3.33 does: local-JOB-NUMBER-verify.state", || {
        run("--name=a --filename=f --size=4k --rw=write --verify=md5").holds("local-a-0-verify.state")
    }),
    // Each tool reads the other's blocks in `verify`; the missing bits show in the words of the digest.
    ("SHA-256, of which 64 bits are kept, as by fio", || {
        let ran = run("--name=a --filename=f --size=4k --rw=write --verify=sha256 --do_verify=0");
        std::fs::read(ran.directory.path().join("f")).is_ok_and(|block| block[0x48..0x60].iter().all(|byte| *byte == 0))
    }),
    ("profile has no effect in a job file, as in fio", || {
        run_with("--output-format=json jobs", "[a]\nprofile=act\nioengine=null\nsize=64k\n").ios("read") == Some(16)
    }),
    ("(not in fio)", || {
        fsdyno_job::table::OWN_OPTIONS.iter().all(|name| run(&format!("--name=a --{name}=1")).said.contains("unrecognized"))
            && run("--name=a --ioengine=sim --size=4k").said.contains("not loadable")
    }),
];

/// Texts that name fio but state nothing that a run (of 3.33) could show.
const NAMES: &[&str] = &[
    "| written | fio 3.42 |",
    "fio [options]",
    // The first line of an iolog, which `recorded` exchanges with fio in both directions.
    "fio version ",
    "but fio is in read-only mode",
    "fio's plug-in interface is C code compiled against fio",
    "fio's 32-bit generator",
    "fio's 64-bit generator",
    "A built-in workload of fio",
    "through fio's server",
    "it tests fio itself",
    "Size of fio's memory pool",
    "ends fio 3.42 with an assertion",
    // `words` compares all options without effect with fio at once.
    "without that, fio does nothing with it",
    "fio: aio_read, aio_write",
    // Of fio's documents: no fio that can be installed here has it.
    "new after fio 3.42",
];

/// Crates whose messages are about single options.
const CRATES: &[&str] = &["job", "workload", "drive", "run", "engine"];

#[test]
fn each_statement_about_fio_is_so() {
    if FIO.is_none() {
        testkit::skip("fio is not installed");
        return;
    }
    let wrong: Vec<&str> = CLAIMS.iter().filter(|(_, is_so)| !is_so()).map(|(statement, _)| *statement).collect();
    assert!(wrong.is_empty(), "fio does otherwise: {wrong:#?}");
}

#[test]
fn each_statement_about_fio_has_its_run() {
    let mut statements = Vec::new();
    for name in CRATES {
        add_statements(&testkit::workspace().join("crates").join(name).join("src"), &mut statements);
    }
    let known = || CLAIMS.iter().map(|(statement, _)| *statement).chain(NAMES.iter().copied());
    let new: Vec<&String> =
        statements.iter().filter(|text| !known().any(|statement| text.contains(statement))).collect();
    assert!(new.is_empty(), "no row of CLAIMS tries, and none of NAMES names: {new:#?}");
    let gone: Vec<&str> = known().filter(|statement| !statements.iter().any(|text| text.contains(statement))).collect();
    assert!(gone.is_empty(), "nothing says this any more: {gone:#?}");
}

/// Adds literals about fio, except the words `fio:` that begin its own messages. The chosen differences are tested in
/// `chosen`.
fn add_statements(path: &Path, statements: &mut Vec<String>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("sources are readable").flatten();
        entries.filter(|_| name != "differences").for_each(|entry| add_statements(&entry.path(), statements));
        return;
    }
    if !name.ends_with(".rs") || name.ends_with("tests.rs") {
        return;
    }
    let source = std::fs::read_to_string(path).expect("sources are texts");
    let source = source.split("#[cfg(test)]").next().unwrap_or_default().replace("\\\"", "'");
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    for literal in code.split('"').skip(1).step_by(2) {
        let text = literal.split("\\\n").map(str::trim_start).collect::<String>();
        let message = text.strip_prefix("fio: ").unwrap_or(&text);
        let spoken_of = message.match_indices("fio").any(|(at, _)| {
            let before = message[..at].chars().next_back().unwrap_or(' ');
            let after = message[at + 3..].chars().next().unwrap_or(' ');
            !before.is_alphanumeric() && before != '{' && matches!(after, ' ' | '\'' | ')' | ':' | ';' | ',')
        });
        if spoken_of && text.trim() != "fio" && !message.contains("\\nfio:") {
            statements.push(text);
        }
    }
}
