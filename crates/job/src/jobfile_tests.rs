//! Tests of job files, from their text to typed jobs.

use crate::testing::Fake;
use crate::*;

fn run(words: &str, sources: &mut Fake) -> Outcome {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    parse_command_line(&words, sources)
}

fn request(words: &str, sources: &mut Fake) -> Request {
    match run(words, sources) {
        Outcome::Run(request) => *request,
        Outcome::Rejected(rejection) => {
            let texts: Vec<String> = rejection.errors.iter().map(|error| error.render(false)).collect();
            panic!("{}", texts.join(""))
        }
        other => panic!("{other:?}"),
    }
}

fn jobs(text: &str) -> Vec<Job> {
    request("a.fio", &mut Fake::default().file("a.fio", text)).jobs
}

fn errors(text: &str) -> String {
    match run("a.fio", &mut Fake::default().file("a.fio", text)) {
        Outcome::Rejected(rejection) => rejection.errors.iter().map(|error| error.render(false)).collect(),
        other => panic!("{text} was accepted: {other:?}"),
    }
}

const TWO_GROUPS: &str = "\
; two groups, group_reporting, stonewall
[global]
ioengine=psync
size=8m
bs=4k
directory=/data/data
group_reporting
[readers]
rw=randread
numjobs=2
[writers]
stonewall
rw=randwrite
numjobs=3
end_fsync=1
";

#[test]
fn sections_and_defaults() {
    let jobs = jobs(TWO_GROUPS);
    let [readers, writers] = jobs.as_slice() else { panic!() };
    assert_eq!((readers.name.as_str(), readers.clones, readers.stonewall), ("readers", 2, false));
    assert_eq!((writers.name.as_str(), writers.clones, writers.stonewall), ("writers", 3, true));
    assert!(readers.reporting.group && writers.reporting.group && writers.durability.end_fsync);
    // The name of a section is not one of its options.
    assert_eq!(*readers.options, [("rw".to_owned(), "randread".to_owned()), ("numjobs".to_owned(), "2".to_owned())]);
}

#[test]
fn comments_blanks_and_flags() {
    let jobs = jobs("# c\n[a b]\n  bs=8k  # after\n iodepth= 4\nsize =64k\ndescription= hello world ; cut\nthread\n\n");
    let job = &jobs[0];
    assert_eq!(job.name, "a b");
    assert_eq!(job.pattern.block_size.read, BlockSize::Fixed(8192));
    assert_eq!((job.submission.depth, job.files.size), (4, Some(Amount::Bytes(65536))));
    assert_eq!(job.description.as_deref(), Some("hello world"));
    assert!(job.process.thread);
    assert!(errors("[a]\nsize = 64k\n").contains("write 64k right after the ="));
    assert!(errors("[a]\nrw= read\n").contains("no blank may stand before read"));
}

#[test]
fn several_defaults_add_up_for_what_is_below() {
    let jobs = jobs("[global]\nbs=8k\n[a]\n[global]\nsize=1m\n[b]\n");
    assert_eq!((jobs[0].files.size, jobs[1].files.size), (None, Some(Amount::Bytes(1 << 20))));
    assert_eq!(jobs[1].pattern.block_size.read, BlockSize::Fixed(8192));
}

#[test]
fn some_options_apply_before_others_whatever_the_order() {
    let job = &jobs("[a]\nsize=4k\nfilename=f\ndirectory=/d\nkb_base=1000\n")[0];
    assert_eq!(job.files.size, Some(Amount::Bytes(4000)));
    assert_eq!((job.files.names.as_slice(), job.files.directories.len()), (["f".to_owned()].as_slice(), 1));
}

#[test]
fn engine_options_may_stand_before_their_engine() {
    let job = &jobs("[a]\nhipri\nioengine=io_uring\n")[0];
    assert!(job.submission.engine_options.hipri);
    let job = &jobs("[global]\nioengine=io_uring\n[a]\nfixedbufs\n")[0];
    assert!(job.submission.engine_options.fixed_buffers);
    assert!(errors("[a]\nhipri\n").contains("hipri is an option of io_uring"));
    // The defaults of the command line apply to the first file.
    let mut sources = Fake::default().file("a.fio", "[a]\nhipri\n");
    assert!(request("--ioengine=io_uring a.fio", &mut sources).jobs[0].submission.engine_options.hipri);
}

#[test]
fn variables_and_arithmetic() {
    let mut sources = Fake::default()
        .file("a.fio", "[a]\nsize=${SIZE}\niodepth=$ncpus\nbs=2*$pagesize\nioengine=libaio\n")
        .variable("SIZE", "64m");
    let request = request("a.fio", &mut sources);
    let job = &request.jobs[0];
    assert_eq!((job.files.size, job.submission.depth), (Some(Amount::Bytes(64 << 20)), 2));
    assert_eq!(job.pattern.block_size.read, BlockSize::Fixed(8192));
    assert!(errors("[a]\nruntime=${UNSET}\n").contains("the value is empty"));
}

#[test]
fn includes_are_relative_to_their_file() {
    let mut sources = Fake::default()
        .file("dir/a.fio", "[a]\ninclude b.fio\nrw=write\n")
        .file("dir/b.fio", "bs=8k\ninclude sub/c.fio\n")
        .file("dir/sub/c.fio", "size=1m\n");
    let job = request("dir/a.fio", &mut sources).jobs.remove(0);
    assert_eq!(job.pattern.block_size.read, BlockSize::Fixed(8192));
    assert_eq!((job.files.size, job.pattern.access.writes), (Some(Amount::Bytes(1 << 20)), true));
    let mut sources = Fake::default().file("a.fio", "[a]\ninclude b.fio\n").file("b.fio", "[b]\n");
    assert!(matches!(run("a.fio", &mut sources), Outcome::Rejected(_)));
    let mut sources = Fake::default().file("a.fio", "[a]\ninclude a.fio\n");
    assert!(matches!(run("a.fio", &mut sources), Outcome::Rejected(_)));
    assert!(errors("[a]\ninclude nope.fio\n").contains("fio: unable to open 'nope.fio' job file"));
}

#[test]
fn files_after_the_first_begin_anew() {
    let mut sources = Fake::default().file("a.fio", "[global]\nsize=1m\n[a]\n").file("b.fio", "[b]\nbs=8k\n[c]\n");
    let request = request("--iodepth=2 --ioengine=libaio --name=cli --rw=write a.fio b.fio", &mut sources);
    let [cli, a, b, c] = request.jobs.as_slice() else { panic!("{:?}", request.jobs) };
    assert_eq!(cli.name, "cli");
    assert_eq!((a.files.size, a.submission.depth), (Some(Amount::Bytes(1 << 20)), 2));
    assert_eq!((b.files.size, b.submission.depth), (None, 1));
    assert_eq!([cli, a, b, c].map(|job| job.starts_file), [false, false, true, false]);
    assert_eq!(request.global_options, []);
}

#[test]
fn only_the_sections_asked_for() {
    let mut sources = Fake::default().file("a.fio", "[global]\nbs=8k\n[a]\nbogus=1\n[b]\n");
    let request = request("--section=b a.fio", &mut sources);
    assert_eq!(request.jobs.len(), 1);
    assert_eq!(request.jobs[0].pattern.block_size.read, BlockSize::Fixed(8192));
    let mut sources = Fake::default().file("a.fio", "[a]\n");
    let Outcome::Rejected(rejection) = run("--section=z a.fio", &mut sources) else { panic!() };
    assert!(rejection.usage && rejection.errors[0].message == "No job(s) defined");
}

#[test]
fn errors_show_their_line() {
    let text = errors("[x]\nbogus=1\niodepth=0\n[y]\nrw=foo\n");
    let without_words: Vec<&str> = text.lines().filter(|line| !line.contains("    : ")).collect();
    insta::assert_snapshot!(without_words.join("\n"), @r"
    error: Bad option <bogus=1>
     --> a.fio:2:1
      |
    2 | bogus=1
      | ^^^^^^^
      |
      = help: did you mean `bs`?
    fio: job x dropped
    error: fio: failed parsing iodepth=0
     --> a.fio:3:1
      |
    3 | iodepth=0
      | ^^^^^^^^^
      |
      = note: iodepth: min value out of range: 0 (1 min)
    fio: job x dropped
    error: fio: failed parsing rw=foo
     --> a.fio:5:1
      |
    5 | rw=foo
      | ^^^^^^
      |
      = note:         valid values: read       Sequential read
    fio: job y dropped
    ");
    for (text, message) in [
        ("size=1m\n[x]\n", "fio: option <size=1m> outside of [] job section"),
        ("[x\n", "no closing bracket"),
        ("[x]\ndirect\n", "Option direct requires an argument"),
        ("[x]\noutput=f\n", "--output belongs on the command line"),
        ("[x]\nsize=\n", "the value is empty"),
    ] {
        assert!(errors(text).contains(message), "{text}: {}", errors(text));
    }
    assert!(errors(&format!("[x]\ndescription={}\n", "a".repeat(8200))).contains("longer than 8192"));
    let Outcome::Rejected(rejection) = run("nosuch.fio", &mut Fake::default()) else { panic!() };
    let text = rejection.errors[0].render(false);
    assert!(text.starts_with("fio: unable to open 'nosuch.fio' job file\n"), "{text}");
    assert!(text.contains("at word 1") && text.contains("  next: name a job file that can be read; "), "{text}");
}

#[test]
fn a_name_in_a_section_is_the_label_of_its_first_clone() {
    let jobs = jobs("[global]\nname=all\nsize=1m\n[sect]\nname=disp\nnumjobs=2\n[other]\n");
    let labels = [(jobs[0].label(0), jobs[0].label(1)), (jobs[1].label(0), jobs[1].label(1))];
    assert_eq!(labels, [("disp", "sect"), ("other", "other")]);
    assert_eq!((jobs[0].name.as_str(), &jobs[0].options[0]), ("sect", &("name".to_owned(), "disp".to_owned())));
}

#[test]
fn what_is_read_as_meant_is_noted() {
    let text = "[x]\nrw=randrw\nsize=65536.0\nfsync=2 // every other, as\nrwmixread=70%\nthreads=8\n";
    let Request { jobs, warnings, .. } = request("a.fio", &mut Fake::default().file("a.fio", text));
    assert_eq!(jobs[0].files.size, Some(Amount::Bytes(65536)));
    assert_eq!((jobs[0].durability.fsync_every, jobs[0].pattern.read_percent), (2, 70));
    let texts: Vec<&str> = warnings.iter().map(|warning| warning.text.as_str()).collect();
    for said in ["65536.0 is read as 65536", "taken for a comment", "70% is read as 70", "threads has no effect"] {
        assert!(texts.iter().any(|text| text.contains(said)), "no {said}: {texts:?}");
    }
    assert!(errors("[x]\nsize=1m\niodepth=8.5\n").contains("fractions"), "8.5 has no clear meaning");
    assert!(errors("[x]\nsize=1m\nloops=3%\n").contains("no meaning"), "no percentage is meant");
    assert!(errors("[x]\nthreads=x\n").contains("failed parsing threads=x"));
}

#[test]
fn the_environment_says_where_findings_go_unless_the_words_do() {
    let findings = |words: &str, value: &str| {
        request(&format!("--name=a --size=1m {words}"), &mut Fake::default().variable("FSDYNO_FINDINGS", value))
            .settings
            .findings
    };
    assert_eq!((findings("", "off"), findings("", "")), (Findings::Off, Findings::Auto));
    assert_eq!(findings("--findings=auto", "off"), Findings::Auto);
    let Outcome::Rejected(rejection) = run("--name=a", &mut Fake::default().variable("FSDYNO_FINDINGS", "loud")) else {
        panic!()
    };
    assert!(rejection.errors[0].render(false).contains("loud is none of auto, all, off"));
}

#[test]
fn a_job_file_from_standard_input() {
    let mut sources = Fake::default().file("-", "[x]\nsize=1m\n");
    assert_eq!(request("-", &mut sources).jobs[0].name, "x");
}

#[test]
fn jobs_as_a_command_line() {
    let mut sources = Fake::default().file("multi.fio", TWO_GROUPS).file("b.fio", "[b c]\ndescription=a \"q\" b\n");
    let Outcome::Immediate(Action::Print { text, status: 0 }) = run("--showcmd multi.fio", &mut sources) else {
        panic!()
    };
    assert_eq!(
        text,
        "fio --ioengine=psync --size=8m --bs=4k --directory=/data/data --group_reporting --name=readers \
         --rw=randread --numjobs=2 --name=writers --stonewall --rw=randwrite --numjobs=3 --end_fsync=1 \n"
    );
    let Outcome::Immediate(Action::Print { text, .. }) = run("--showcmd --size=5k multi.fio b.fio", &mut sources)
    else {
        panic!()
    };
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("fio --size=5k --ioengine=psync "), "{text}");
    assert_eq!(lines[1], "fio --name=\"b c\" --description=\"a \\\"q\\\" b\" ");
}

#[test]
fn an_engine_that_is_refused_is_the_only_error_of_its_job() {
    let said = errors("[global]\nioengine=rdma\n[load]\nbindname=a\nverb=read\nsize=1m\n");
    assert_eq!(said.matches("error:").count(), 1, "{said}");
    assert!(said.contains("ioengine=rdma is not supported: it needs RDMA hardware"), "{said}");
    let said = errors("[a]\nioengine=rbd\nclientname=admin\npool=rbd\n[b]\nrw=read\nsize=1m\nrwmixread=200\n");
    assert_eq!(said.matches("error:").count(), 2, "errors of another job are reported, too: {said}");
    // Options of an engine that is built are refused as before.
    assert!(errors("[a]\nioengine=psync\ncpuload=50\nsize=1m\n").contains("an option of cpuio, not of psync"));
}

#[test]
fn rules_across_options_do_not_speak_of_refused_defaults() {
    let mut sources = Fake::default().file("a.fio", "[global]\nioengine=xnvme\nhipri=1\n[a]\nsize=1m\n");
    let Outcome::Rejected(rejection) = run("a.fio", &mut sources) else { panic!("xnvme is not built") };
    assert_eq!(rejection.errors.len(), 1, "{:?}", rejection.errors);
    assert_eq!(rejection.warnings, [], "not that hipri is no option of psync");
}

#[test]
fn a_profile_in_a_job_file_is_noted() {
    let mut sources = Fake::default().file("a.fio", "[a]\nprofile=act\nsize=1m\n");
    let warnings = request("a.fio", &mut sources).warnings;
    assert!(warnings[0].text.contains("profile has no effect in a job file"), "{warnings:?}");
}
