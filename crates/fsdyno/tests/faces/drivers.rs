//! Tests programs that call fio, with this program under that name in PATH: the real ones where a registry has them,
//! else with what they write, require and read.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::{RunResult, Running, TestDirectory, python, text};

/// A directory with a link `bin/fio`, and a directory for data.
fn place() -> TestDirectory {
    let place = TestDirectory::with(&["bin", "data"]);
    std::os::unix::fs::symlink(testkit::program(), place.path("bin/fio")).expect("a link is made");
    place
}

/// A command that finds this program when it looks for fio.
fn with_fio(place: &TestDirectory, program: &str, words: &[&str]) -> Command {
    let mut command = place.program(program, words);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(place.path("bin")).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders).expect("no colon in a path"));
    command
}

fn fio(place: &TestDirectory, words: &[&str]) -> RunResult {
    Running::start(&mut with_fio(place, "fio", words)).finish()
}

/// The document that a driver reads: neither stream may contain anything else.
#[track_caller]
fn document(ran: &RunResult) -> Value {
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    ran.document()
}

/// bench-fio fails at any output on stderr; fio-plot reads its documents and logs.
#[test]
fn bench_fio_measures_and_fio_plot_draws() {
    let (Some(bench_fio), Some(python), Some(_)) = (python("bench-fio"), python("python3"), python("fio-plot")) else {
        return;
    };
    let place = place();
    // It names its job file in /tmp after the target.
    let target = place.word("");
    let name = Path::new(&target).file_name().expect("a directory").to_string_lossy().into_owned();
    let output = place.word("measured");
    let series = "--type directory --size 4m --mode randread randwrite --iodepth 1 4 --numjobs 1 2 --runtime 1 \
                  --loginterval 200 --time-based --destructive --quiet";
    let words: Vec<&str> =
        ["--target", &target, "--output", &output].into_iter().chain(series.split_whitespace()).collect();
    let ran = Running::start(&mut with_fio(&place, testkit::word(&bench_fio), &words)).finish();
    let _ = std::fs::remove_file(format!("/tmp/{name}-tmpjobfile.fio"));
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("An error occurred"), "{}", ran.stdout);
    let measured = format!("measured/{name}/4k");
    let documents = place.names(&measured).into_iter().filter(|name| name.ends_with(".json")).count();
    assert_eq!(documents, 8, "two directions, two depths, two counts of jobs: {}", ran.stdout);
    let graphs = [
        "-l -d 1 4 -n 1",
        "-L -d 1 4 -n 1 2 -t iops",
        "-N -d 1 -n 1 2",
        "-H -d 4 -n 1",
        "-g -d 1 4 -n 1 -t bw iops lat",
    ];
    let lines = graphs
        .iter()
        .enumerate()
        .map(|(number, graph)| format!("-i {measured} -T title -r randread -o picture-{number}.png {graph}"));
    // Its modules are loaded once, which takes longer than to draw.
    let script = "import os, sys, fio_plot
for words in sys.argv[1:]:
    if os.fork() == 0:
        sys.argv = ['fio-plot', *words.split(' ')]
        sys.exit(fio_plot.main())
    if os.wait()[1] != 0:
        sys.exit(words)";
    let mut command = Command::new(python);
    let drawn = command.args(["-c", script]).args(lines).current_dir(place.path("")).output().expect("Python starts");
    let said = text(&drawn.stdout) + &text(&drawn.stderr);
    assert!(drawn.status.success(), "{said}");
    for (number, graph) in graphs.iter().enumerate() {
        let picture = std::fs::read(place.path(&format!("picture-{number}.png"))).unwrap_or_default();
        assert!(picture.starts_with(b"\x89PNG"), "{graph}: {said}");
    }
}

/// cdmpy writes sizes with a fraction of zero and asks for posixaio.
#[test]
fn cdmpy_prints_its_table() {
    let Some(cdm) = python("cdm") else { return };
    let place = place();
    let words = "-n 1 -s 4m -x 70 -a seq,1,1 -a rnd,4,2 data";
    let words: Vec<&str> = words.split_whitespace().collect();
    let ran = Running::start(&mut with_fio(&place, testkit::word(&cdm), &words)).finish();
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    let rows = ["|SEQ1M Q1 T1 |", "|RND4K Q4 T2 |", "|. IOPS      |", "|. latency us|"];
    for row in rows {
        let line = ran.stdout.lines().find(|line| line.starts_with(row));
        let line = line.unwrap_or_else(|| panic!("no {row}: {}", ran.stdout));
        let figures: Vec<f64> = line[row.len()..].split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
        assert!(figures.len() == 3 && figures.iter().all(|figure| *figure > 0.0), "read, write, mix: {line}");
    }
}

/// kubestr's default job: two sections renamed by `name=`, without a latency. Its rules: stderr is empty, and the
/// document fits structures of fixed width.
#[test]
fn kubestr_takes_the_default_job() {
    let place = place();
    let section = |number: u32, name: &str, rw: &str| {
        format!(
            "[job{number}]\nname={name}\nbs=4K\niodepth=64\nsize=2M\nreadwrite={rw}\ntime_based\nramp_time=1s\nruntime=1s\n"
        )
    };
    let global = "[global]\nrandrepeat=0\nverify=0\nioengine=libaio\ndirect=1\ngtod_reduce=1\n";
    place.write(
        "default",
        global.to_owned() + &section(1, "read_iops", "randread") + &section(2, "write_iops", "randwrite"),
    );
    let document = document(&fio(&place, &["--directory", "data", "default", "--output-format=json"]));
    let jobs = document["jobs"].as_array().expect("jobs");
    let names: Vec<&str> = jobs.iter().filter_map(|job| job["jobname"].as_str()).collect();
    assert_eq!(names, ["read_iops", "write_iops"]);
    let fits = |value: &Value| value.as_i64().is_some_and(|number| i32::try_from(number).is_ok());
    for job in jobs {
        for key in ["groupid", "error", "eta", "elapsed", "job_runtime", "ctx", "majf", "minf", "latency_depth"] {
            assert!(fits(&job[key]), "{key}: {}", job[key]);
        }
        for key in ["bw_samples", "iops_min", "iops_max", "iops_samples"] {
            assert!(fits(&job["read"][key]) && fits(&job["write"][key]), "{key}: {job}");
        }
        assert!(job["job options"].as_object().is_some_and(|options| options.values().all(Value::is_string)), "{job}");
    }
    assert!(jobs[0]["read"]["iops"].as_f64() > Some(0.0) && jobs[1]["write"]["iops"].as_f64() > Some(0.0));
    assert_eq!(jobs[0]["job options"]["name"], "read_iops");
}

/// KDiskMark's command line, for each of its patterns, and the figures that it reads.
#[test]
fn kdiskmark_reads_its_figures() {
    let place = place();
    assert!(fio(&place, &["--version"]).stdout.starts_with("fio-"), "so it finds fio");
    for (rw, depth, jobs) in
        [("read", "8", "1"), ("write", "1", "1"), ("rw", "1", "1"), ("randread", "32", "2"), ("randrw", "4", "1")]
    {
        let words = format!(
            "--output-format=json --ioengine=libaio --direct=1 --randrepeat=0 --refill_buffers --end_fsync=1 --rwmixread=70 \
             --filename=data/mark --name={rw} --size=4m --bs=64k --rw={rw} --iodepth={depth} --numjobs={jobs}"
        );
        let words: Vec<&str> = words.split_whitespace().collect();
        let document = document(&fio(&place, &words));
        for job in document["jobs"].as_array().expect("jobs") {
            assert_eq!(job["error"], 0);
            for (direction, used) in [("read", !rw.contains("write")), ("write", rw.contains('w'))] {
                let part = &job[direction];
                assert!(part["bw"].is_i64() && part["iops"].is_f64() && part["lat_ns"]["mean"].is_f64(), "{part}");
                assert_eq!(part["iops"].as_f64() > Some(0.0), used, "{rw}: {part}");
            }
        }
    }
}

/// PerfKitBenchmarker makes a job file, finds each job of the answer among its sections, and reads all these
/// statistics.
#[test]
fn perfkitbenchmarker_finds_its_samples() {
    let place = place();
    let sections = ["sequential_write", "sequential_read", "random_write", "random_read", "random_mix"];
    let patterns = ["write", "read", "randwrite", "randread", "randrw"];
    let mut file = "[global]\nioengine=libaio\ninvalidate=1\ndirect=1\nruntime=1\ntime_based\nfilename=data/file\n\
                    do_verify=0\nverify_fatal=0\nrandrepeat=0\ngroup_reporting=1\npercentile_list=1:5:10:50:99:99.9:99.99\nsize=4m\n"
        .to_owned();
    for (name, rw) in sections.iter().zip(patterns) {
        file += &format!("\n[{name}]\nstonewall\nrw={rw}\nblocksize=16k\niodepth=8\nnumjobs=2\n");
    }
    place.write("fio.job", file);
    let document = document(&fio(&place, &["--output-format=json", "fio.job"]));
    let jobs = document["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), sections.len());
    for (job, (name, rw)) in jobs.iter().zip(sections.iter().zip(patterns)) {
        assert_eq!(job["jobname"], *name);
        for direction in ["read", "write", "trim"].into_iter().filter(|direction| job[direction]["io_bytes"] != 0) {
            let part = &job[direction];
            assert!(rw.contains(direction) || rw == "randrw", "{name}: {part}");
            let rates = ["bw", "bw_min", "bw_max", "bw_dev", "bw_agg", "bw_mean", "iops"];
            assert!(rates.iter().all(|key| part[key].is_number()), "{part}");
            let latency = &part["clat_ns"];
            assert!(["min", "max", "mean", "stddev"].iter().all(|key| latency[key].is_number()), "{latency}");
            let percentiles = ["1.000000", "5.000000", "10.000000", "50.000000", "99.000000", "99.900000", "99.990000"];
            assert!(percentiles.iter().all(|key| latency["percentile"][key].is_i64()), "{latency}");
        }
    }
}

/// kbench writes to a file with `--output` and takes the n-th job of each; the latencies are means.
#[test]
fn kbench_finds_its_jobs() {
    let place = place();
    place.write(
        "iops.fio",
        "[global]\nioengine=libaio\ndirect=1\nrandrepeat=0\nverify=0\nverify_fatal=0\ntime_based=1\nramp_time=1s\nruntime=1s\n\
         bs=4k\niodepth=16\nnumjobs=2\ngroup_reporting=1\n[rand-read-iops]\nstonewall\nrw=randread\nnorandommap=1\n\
         [rand-write-iops]\nstonewall\nrw=randwrite\nnorandommap=1\n",
    );
    let words = ["iops.fio", "--filename=data/file", "--size=4m", "--output-format=json", "--output=out-iops.json"];
    let ran = fio(&place, &words);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let document: Value = serde_json::from_str(&place.read("out-iops.json")).expect("one document");
    let figure = |job: usize, direction: &str, key: &str| document["jobs"][job][direction][key].as_f64();
    assert!(figure(0, "read", "iops") > Some(0.0) && figure(1, "write", "iops") > Some(0.0), "{document}");
    assert!(document["jobs"][0]["read"]["lat_ns"]["mean"].as_f64() > Some(0.0));
}

/// kbench's run and parser with CPU_IDLE_PROF=enabled: whole percents, and mean rates of its four patterns.
#[test]
fn kbench_reads_how_idle_the_cpus_are() {
    let place = place();
    let section = |name: &str, rw: &str| format!("[{name}]\nstonewall\nrw={rw}\n");
    let patterns =
        [("rand-read", "randread"), ("rand-write", "randwrite"), ("seq-read", "read"), ("seq-write", "write")];
    let sections: String = patterns.iter().map(|(name, rw)| section(name, rw)).collect();
    place.write(
        "iops-quick.fio",
        format!(
            "[global]\nioengine=libaio\ndirect=1\nrandrepeat=0\nverify=0\nverify_fatal=0\ntime_based=1\nramp_time=100ms\n\
             runtime=1s\nbs=4k\niodepth=16\n{sections}"
        ),
    );
    let line = "fio iops-quick.fio --idle-prof=percpu --filename=data/file --size=4m --output-format=json --output=out-iops.json";
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let ran = fio(&place, &words);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let document: Value = serde_json::from_str(&place.read("out-iops.json")).expect("one document");
    let idle = document["cpu_idleness"].as_object().expect("it was asked for");
    let system = idle["system"].as_f64().expect("a percentage");
    assert!((0.0..=100.0).contains(&system), "{idle:?}");
    let cpus: Vec<f64> =
        idle.iter().filter(|(key, _)| key.starts_with("cpu-")).filter_map(|(_, value)| value.as_f64()).collect();
    let mean = cpus.iter().sum::<f64>() / cpus.len() as f64;
    assert!((mean - system).abs() < 2.0, "each counts as much: {idle:?}");
    assert!(idle["unit_mean"].as_f64() > Some(0.0) && idle["unit_stddev"].is_f64(), "{idle:?}");
    for (job, direction) in [(0, "read"), (1, "write"), (2, "read"), (3, "write")] {
        assert!(document["jobs"][job][direction]["iops_mean"].as_f64() > Some(0.0), "{job}");
    }
    if testkit::has("jq") {
        let line = "jq .cpu_idleness.system out-iops.json | cut -f1 -d.";
        let ran = Running::start(&mut place.program("sh", &["-c", line])).finish();
        assert!(ran.stdout.trim().parse::<u32>().is_ok_and(|percent| percent <= 100), "{}", ran.stdout);
    }
}

/// PerfKitBenchmarker's job for the IOPS at a latency target: not time-based, one block each for several jobs of each
/// section; the depth that was found is read.
#[test]
fn perfkitbenchmarker_finds_the_depth_that_keeps_a_latency() {
    let place = place();
    let job = |run: &str| {
        format!(
            "[global]\nioengine=libaio\ninvalidate=1\nramp_time=100ms\ndirect=1\nfilename=data/file\ndo_verify=0\nverify_fatal=0\n\
             group_reporting=1\npercentile_list=1:5:10:20:25:30:40:50:60:70:75:80:90:95:99:99.5:99.9:99.95:99.99\nrandrepeat=0\n\
             latency_target=5s\nlatency_percentile=99\nlatency_window=50ms\n{run}\n\
             [rand_4k_read_100%-io-depth-8-num-jobs-2]\nstonewall\nrw=randread\nblocksize=4k\niodepth=8\nsize=64m\nnumjobs=2\n"
        )
    };
    place.write("found.job", job("loops=100"));
    place.write("goes-on.job", job("latency_run=1\nruntime=1\ntime_based"));
    for name in ["found.job", "goes-on.job"] {
        let document = document(&fio(&place, &["--output-format=json", name]));
        let jobs = document["jobs"].as_array().expect("jobs");
        assert_eq!(jobs.len(), 1, "{name}");
        let job = &jobs[0];
        assert_eq!((&job["error"], &job["latency_depth"]), (&Value::from(0), &Value::from(8)), "{name}: {job}");
        assert_eq!(
            (&job["latency_target"], &job["latency_window"]),
            (&Value::from(5_000_000_000_u64), &Value::from(50_000))
        );
        assert_eq!(job["latency_percentile"].as_f64(), Some(99.0));
        let read = &job["read"];
        assert!(read["iops"].as_f64() > Some(0.0) && read["clat_ns"]["percentile"]["99.000000"].is_i64(), "{read}");
    }
}

/// Both streams in one pipe, with a caution to report: still one document.
#[test]
fn both_streams_are_one_document() {
    let place = place();
    // A depth that a synchronous engine does not have.
    let line = "fio --name=a --filename=data/file --size=4m --rw=randread --ioengine=psync --iodepth=32 --gtod_reduce=1 \
                --clocksource=cpu --output-format=json 2>&1";
    let ran = Running::start(&mut with_fio(&place, "sh", &["-c", line])).finish();
    let document = ran.document();
    assert_eq!(document["jobs"][0]["error"], 0);
    let findings = document["fsdyno"]["findings"].as_array().cloned().unwrap_or_default();
    assert!(findings.iter().any(|finding| finding["id"] == "depth-not-reached"), "{}", document["fsdyno"]);
    if testkit::has("jq") {
        let line = format!("{line} | jq .jobs[0].read.io_bytes");
        let ran = Running::start(&mut with_fio(&place, "sh", &["-c", &line])).finish();
        assert_eq!((ran.status, ran.stdout.trim()), (Some(0), "4194304"), "{}", ran.stderr);
    }
}
