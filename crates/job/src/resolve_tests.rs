//! Tests of the rules across options, from the command line to typed jobs.

use crate::testing::Fake;
use crate::*;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn request(text: &str) -> Request {
    match parse_command_line(&words(text), &mut Fake::default()) {
        Outcome::Run(request) => *request,
        other => panic!("{text}: {other:?}"),
    }
}

fn job(text: &str) -> Job {
    request(&format!("--name=x {text}")).jobs.remove(0)
}

fn codes(text: &str) -> Vec<WarningCode> {
    request(&format!("--name=x {text}")).warnings.iter().map(|warning| warning.code).collect()
}

fn refused(text: &str) -> String {
    match parse_command_line(&words(&format!("--name=x {text}")), &mut Fake::default()) {
        Outcome::Rejected(rejection) => {
            assert_eq!(rejection.status, 1);
            rejection.errors.iter().map(|error| error.render(false)).collect()
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn contract_case_a() {
    let request = request(
        "--randrepeat=1 --ioengine=libaio --direct=1 --gtod_reduce=1 --name=test --filename=/path/testfile --bs=4k \
         --iodepth=64 --size=4G --readwrite=randrw --rwmixread=75",
    );
    let job = &request.jobs[0];
    assert_eq!((job.name.as_str(), job.clones), ("test", 1));
    assert_eq!(job.files.names, ["/path/testfile"]);
    assert_eq!(job.files.size, Some(Amount::Bytes(4 << 30)));
    assert_eq!((job.submission.engine, job.submission.depth, job.submission.direct), (EngineName::Libaio, 64, true));
    assert_eq!((job.pattern.access.name(), job.pattern.read_percent), ("randrw", 75));
    assert_eq!(job.pattern.seed, Seed::Repeated);
    assert!(job.reporting.sampled_clock && !job.reporting.completion_latency && !job.reporting.clat_percentiles);
    assert_eq!(request.warnings, []);
    let names: Vec<&str> = request.global_options.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["randrepeat", "ioengine", "direct", "gtod_reduce"]);
    let options: Vec<String> = job.options.iter().map(|(name, text)| format!("{name}={text}")).collect();
    assert_eq!(
        options,
        ["name=test", "filename=/path/testfile", "bs=4k", "iodepth=64", "size=4G", "rw=randrw", "rwmixread=75"]
    );
}

#[test]
fn contract_case_c() {
    let request = request(
        "-filename=/mnt/s3/perf.txt -rw=read -direct=1 -iodepth 32 -thread -ioengine=libaio -bs=4k -size=1G \
         -numjobs=8 -group_reporting -runtime=30 -time_base -name=/root/fio_result_s3_read.txt",
    );
    let job = &request.jobs[0];
    assert_eq!((job.name.as_str(), job.clones), ("/root/fio_result_s3_read.txt", 8));
    assert!(job.extent.time_based && job.reporting.group && job.process.thread);
    assert_eq!(job.extent.runtime_ns, 30_000_000_000);
    assert_eq!(*job.options, [("name".to_owned(), "/root/fio_result_s3_read.txt".to_owned())]);
    assert!(request.global_options.contains(&("time_based".to_owned(), String::new())));
}

#[test]
fn contract_case_d() {
    let latency =
        job("--size=10g --fallocate=none --direct=1 --runtime=60 --time_based --ramp_time=5 --directory=/netapp \
         --ioengine=libaio --rw=randwrite --bs=4k --iodepth=1");
    assert_eq!(latency.files.fallocate, Fallocate::None);
    assert_eq!(latency.extent.ramp_ns, 5_000_000_000);
    assert_eq!(latency.files.directories, [std::path::PathBuf::from("/netapp")]);
    let windows = job(r"--directory=Z\:\ --thread");
    assert_eq!(windows.files.directories, [std::path::PathBuf::from(r"Z:\")]);
    assert!(refused("--ioengine=windowsaio").contains("needs a build for Windows"));
}

#[test]
fn the_last_of_a_pair_holds() {
    assert!(!job("--direct=1 --buffered=1").submission.direct);
    assert!(job("--buffered=0").submission.direct);
    assert_eq!(job("--rwmixread=70 --rwmixwrite=20").pattern.read_percent, 80);
    assert_eq!(job("--rwmixwrite=20 --rwmixread=70").pattern.read_percent, 70);
    assert_eq!(job("--bs=4k --bs=8k").pattern.block_size.read, BlockSize::Fixed(8192));
    let options = job("--bs=4k --bs=8k").options;
    assert_eq!(options.iter().filter(|(name, _)| name == "bs").count(), 1);
}

#[test]
fn block_sizes_rank() {
    let mixed = job("--bs=,8k --bsrange=1k-2k,,4k-4k --bssplit=,16k/100").pattern.block_size.clone();
    assert_eq!(mixed.read, BlockSize::Range(1024, 2048));
    assert_eq!(mixed.write, BlockSize::Fixed(16384));
    assert_eq!(job("--bsrange=1k-2k --bs=8k").pattern.block_size.read, BlockSize::Range(1024, 2048));
    assert_eq!(job("--bs=,8k").pattern.block_size.read, BlockSize::Fixed(4096));
    assert_eq!(job("--bssplit=4k/50:8k").pattern.block_size.read, BlockSize::Split(vec![(4096, 50), (8192, 50)]));
    let large = job("--bs=4g --bsrange=,4g-8g --bssplit=,,5g/50:6g/50").pattern.block_size.clone();
    assert_eq!(large.read, BlockSize::Fixed(4 << 30));
    assert_eq!(large.write, BlockSize::Range(4 << 30, 8 << 30));
    assert_eq!(large.trim, BlockSize::Split(vec![(5 << 30, 50), (6 << 30, 50)]));
}

#[test]
fn a_write_has_the_size_of_its_trim() {
    let sizes = job("--rw=randtrimwrite --bs=4k,8k,16k").pattern.block_size.clone();
    assert_eq!((sizes.write, sizes.trim), (BlockSize::Fixed(16384), BlockSize::Fixed(16384)));
    // Sequential writes and trims have sizes of their own, as in fio.
    assert_eq!(job("--rw=trimwrite --bs=4k,8k,16k").pattern.block_size.write, BlockSize::Fixed(8192));
}

#[test]
fn seeds() {
    assert_eq!(job("").pattern.seed, Seed::Repeated);
    assert_eq!(job("--randrepeat=0").pattern.seed, Seed::System);
    assert_eq!(job("--randseed=5 --randrepeat=0").pattern.seed, Seed::Fixed(5));
    assert_eq!(job("--allrandrepeat=0").pattern.seed, Seed::System);
}

#[test]
fn what_turns_the_random_map_off() {
    assert!(job("--rw=randread").pattern.random_map);
    assert!(!job("--norandommap").pattern.random_map);
    assert!(job("--norandommap=0").pattern.random_map);
    assert!(!job("--random_distribution=zipf:1.2").pattern.random_map);
    assert!(!job("--rw=randread --ba=512").pattern.random_map);
    assert_eq!(codes("--rw=randread --ba=512"), [WarningCode::BlockAlignWithoutMap]);
    assert_eq!(codes("--rw=randread --ba=512 --norandommap"), []);
    assert_eq!(codes("--rw=read --ba=512"), []);
    assert!(job("--rw=randread --ba=4k").pattern.random_map);
}

#[test]
fn access_modifiers() {
    assert_eq!(job("--rw=write:-8k").pattern.modifier, Some(-8192));
    assert_eq!(job("--rw=randread:8").pattern.modifier, Some(8));
    assert_eq!(job("--rw=randread:").pattern.modifier, None);
    let identical = job("--rw_sequencer=identical --rw=randread:8").pattern;
    assert!(identical.identical && identical.access.random);
    assert!(refused("--rw=randread:-1").contains("not a count"));
    assert!(refused("--rw=randread:4k").contains("fio would read 4"));
}

#[test]
fn a_trim_is_one_range() {
    assert!(job("--rw=randtrim --num_range=1").pattern.access.trims);
    assert!(job("--rw=write --num_range=4").pattern.access.writes);
    let message = refused("--rw=trim --num_range=4");
    assert!(message.contains("fio: can't use multiple ranges with IO engine psync"), "{message}");
}

#[test]
fn trims_among_writes_need_a_backlog_and_something_to_verify() {
    let trims = |words: &str| job(words).verify.and_then(|verify| verify.trims);
    let whole = "--rw=write --verify=crc32c --trim_percentage=50 --trim_backlog=4";
    let expected = TrimBacklog { percent: 50, backlog: 4, batch: 0, read_as_zeroes: true };
    assert_eq!(trims(whole), Some(expected));
    assert_eq!(codes(whole), []);
    for words in [
        "--rw=write --verify=crc32c --trim_percentage=50",
        "--rw=write --trim_percentage=50 --trim_backlog=4",
        "--rw=read --verify=crc32c --trim_percentage=50 --trim_backlog=4",
    ] {
        assert_eq!(trims(words), None);
        assert_eq!(codes(words), [WarningCode::WithoutEffect], "{words}");
    }
}

#[test]
fn batches_keep_within_the_depth() {
    let submission = job("--ioengine=libaio --iodepth=4 --iodepth_batch=100 --iodepth_batch_complete_min=0").submission;
    assert_eq!((submission.batch, submission.batch_complete_min, submission.batch_complete_max), (4, 0, 4));
    let submission = job("--ioengine=libaio --iodepth=64 --iodepth_batch=0 --iodepth_batch_complete=8").submission;
    assert_eq!((submission.batch, submission.batch_complete_min, submission.batch_complete_max), (64, 8, 8));
    assert_eq!(job("--ioengine=libaio --iodepth=8 --iodepth_low=9").submission.depth_low, None);
    assert_eq!(job("--ioengine=libaio --iodepth=8 --iodepth_low=2").submission.depth_low, Some(2));
    assert_eq!(codes("--iodepth=4"), [WarningCode::SynchronousDepth]);
}

#[test]
fn time_based_needs_a_runtime() {
    assert!(!job("--time_based").extent.time_based);
    assert_eq!(codes("--time_based"), [WarningCode::TimeBasedWithoutRuntime]);
    assert!(refused("--time_based --warnings-fatal").contains("fio: time_based requires a runtime/timeout setting"));
    assert!(job("--runtime=1 --time_based").extent.time_based);
}

#[test]
fn rates_must_agree() {
    assert!(refused("--rate=1m --rate_iops=5").contains("fio: rate and rate_iops are mutually exclusive"));
    let text = refused("--rate=1m --rate_min=2m");
    assert!(text.contains("fio: minimum rate exceeds rate, ddir 0") && text.contains("ddir 2"), "{text}");
    assert_eq!(codes("--parse-only --rate=1m --rate_iops=5"), [WarningCode::OnlyParsed]);
    assert_eq!(
        job("--rate=1m,,500k").pacing.rate,
        PerDirection { read: Some(1 << 20), write: None, trim: Some(512_000) }
    );
    assert_eq!(job("--rate=0").pacing.rate, PerDirection::all(None));
}

#[test]
fn gtod_reduce_may_be_followed_by_exceptions() {
    let reporting = job("--gtod_reduce=1 --disable_lat=0").reporting;
    assert!(reporting.total_latency && !reporting.completion_latency && reporting.sampled_clock);
    assert!(!job("--gtod_reduce=0").reporting.sampled_clock);
}

#[test]
fn names_and_directories_go_in_order() {
    let ordered = job("--directory=/d --filename=a:b --filename=c");
    assert_eq!(ordered.files.names, ["a", "b", "c"]);
    assert_eq!(ordered.files.directories.len(), 1);
    assert!(ordered.options.contains(&("filename".to_owned(), "a:b:c".to_owned())));
    assert!(job("--filename=a --directory=/d").files.directories.is_empty());
    assert_eq!(codes("--filename=a --directory=/d"), [WarningCode::DirectoryAfterFilename]);
    assert!(refused("--filename=a --directory=/d --filename=b").contains("before and after"));
}

#[test]
fn read_only_protects_wherever_it_stands() {
    let message = "fio: job <x> has write or trim bit set, but fio is in read-only mode";
    assert!(refused("--rw=write --readonly").contains(message));
    assert!(refused("--readonly --rw=randrw").contains(message));
    assert_eq!(job("--readonly --rw=randread").pattern.access.name(), "randread");
}

#[test]
fn options_that_are_not_built_fail_by_name_unless_harmless() {
    assert!(refused("--sprandom=1").contains("is not supported: it foresees"));
    assert!(refused("--ioscheduler=none").contains("is not supported: it changes the whole system"));
    assert!(refused("--rwmixcycle=3").contains("deprecated"));
    let harmless = "--verify=0 --do_verify=0 --verify_fatal=0 --verify_state_save=0 --zonemode=none --latency_run=0 \
                    --write_hint=none --log_avg_msec=0 --per_job_logs=1 --dedupe_percentage=0 --create_on_open=0 \
                    --steadystate=iops_slope:0.01% --hugepage-size=2m --latency_percentile=100";
    assert_eq!(codes(harmless), []);
    assert_eq!(job(harmless).verify, None);
    assert_eq!(codes("--clocksource=cpu --create_serialize=1"), [WarningCode::WithoutEffect]);
    assert_eq!(codes("--mem=shm"), []);
}

#[test]
fn logs_that_could_not_be_as_asked_for_are_refused() {
    let issue_time = "log_issue_time option requires write_lat_log and log_offset options";
    for words in ["--log_issue_time=1", "--log_issue_time=1 --log_offset=1", "--log_issue_time=1 --write_lat_log=x"] {
        assert!(refused(words).contains(issue_time), "{words}");
    }
    let logs = job("--log_issue_time=1 --log_offset=1 --write_lat_log=x").reporting.logs.clone();
    assert!(logs.issue_time && logs.of_requests());
    assert!(refused("--log_compression=513m").contains("max value out of range: 537919488 (536870912 max)"));
    assert_eq!(job("--log_compression=512m").reporting.logs.compressed_bytes, 512 << 20);
    assert_eq!(codes("--write_hist_log=x"), [WarningCode::WithoutEffect]);
    let logs = job("--write_hist_log=x --log_hist_msec=500").reporting.logs.clone();
    assert!(logs.any() && !logs.of_requests(), "no row for each request");
    assert_eq!(job("--log_compression_cpus=0,2-3").reporting.logs.compression_cpus, [0, 2, 3]);
}

#[test]
fn steady_states_are_judged_in_the_unit_of_their_metric() {
    let steady = |words: &str| job(words).reporting.steady_state.clone().expect("a duration was given");
    let judged = |words: &str| {
        let steady = steady(&format!("--ss_dur=10 --ss={words}"));
        (steady.metric, steady.slope, steady.limit, steady.percent)
    };
    use SteadyStateMetric::{Bandwidth, Iops, Latency};
    assert_eq!(judged("iops:2%"), (Iops, false, 2.0, true));
    assert_eq!(judged("iops_slope:0.3%"), (Iops, true, 0.3, true));
    assert_eq!(judged("iops:10.5"), (Iops, false, 10.5, false));
    assert_eq!(judged("bw:1m"), (Bandwidth, false, 1_048_576.0, false));
    assert_eq!(judged("bw_slope:0.1"), (Bandwidth, true, 0.1, false), "fio takes it for 0");
    assert_eq!(judged("lat:2ms"), (Latency, false, 2_000_000.0, false), "fio takes it for 2,000 ns");
    assert_eq!(judged("lat_slope:30"), (Latency, true, 30_000.0, false));
    assert_eq!(judged("lat:1ns"), (Latency, false, 1.0, false));
    assert_eq!(steady("--ss_dur=30").limit, 0.01);
    assert_eq!(steady("--ss_dur=30 --ss_interval=5 --ss_ramp=2").samples(), 6);
    assert_eq!(job("--ss=iops:2%").reporting.steady_state, None, "without a duration");
    for (words, message) in [
        ("--ss=iops", "fio: steadystate threshold must be specified in addition to criterion"),
        ("--ss=iops:x%", "fio: could not parse steadystate threshold percentage"),
        ("--ss=bw:1.5m", "1536k"),
        ("--ss_dur=10 --ss_interval=500ms", "fio: ss_check_interval must be at least 1s"),
        ("--ss_dur=5 --ss_interval=2", "fio: ss_duration 5000000us must be multiple of ss_check_interval 2000000us"),
        ("--ss_dur=1", "write steadystate_duration=2"),
        ("--ss_dur=3 --ss=lat:2% --disable_clat=1", "leave out gtod_reduce"),
    ] {
        assert!(refused(words).contains(message), "{words}: {}", refused(words));
    }
}

#[test]
fn think_time_may_go_by_the_clock() {
    let blocks = |words: &str| job(words).pacing.think_blocks;
    assert_eq!(blocks("--thinktime=1"), 1);
    assert_eq!(blocks("--thinktime=1 --thinktime_iotime=2"), u32::MAX, "blocks are not counted");
    assert_eq!(blocks("--thinktime_blocks=3 --thinktime=1 --thinktime_iotime=2"), 3);
    assert_eq!(job("--thinktime_iotime=2").pacing.think_interval_ns, 2_000_000_000, "seconds, without a unit");
}

#[test]
fn a_warm_up_goes_by_time_or_by_bytes() {
    assert_eq!(job("--ramp_size=20k").extent.ramp_bytes, 20 << 10);
    assert!(refused("--ramp_size=20k --ramp_time=1").contains("cannot specify both ramp_time and ramp_size"));
    assert!(refused("--ramp_size=0").contains("min value out of range"));
}

#[test]
fn jobs_wait_for_earlier_ones_alone() {
    let request = request("--name=a --size=4k --name=b --size=4k --wait_for=a");
    assert_eq!(request.jobs.last().and_then(|job| job.wait_for.as_deref()), Some("a"));
    for words in ["--wait_for=y", "--wait_for=x", "--wait_for=y --name=y"] {
        assert!(refused(words).contains("waitee job "), "{words}: {}", refused(words));
    }
}

#[test]
fn weights_make_a_flow() {
    assert_eq!(job("--flow_id=3 --flow_sleep=5").pacing.flow, None);
    let flow = job("--flow=8 --flow_id=3 --flow_sleep=5").pacing.flow;
    assert_eq!(flow, Some(Flow { id: 3, weight: 8, sleep_ns: 5000 }));
}

#[test]
fn samples_have_the_windows_of_the_logs_unless_they_have_their_own() {
    let windows = |words: &str| {
        let reporting = job(words).reporting;
        (reporting.bandwidth_window_ms, reporting.iops_window_ms)
    };
    assert_eq!(windows("--log_avg_msec=200"), (500, 500), "there is no log");
    assert_eq!(windows("--log_avg_msec=200 --write_bw_log=x"), (200, 500));
    assert_eq!(windows("--write_iops_log=x --log_avg_msec=200"), (500, 200), "in any order");
    assert_eq!(windows("--write_iops_log=x --write_bw_log=x"), (500, 500), "each I/O has its line");
    assert_eq!(windows("--write_bw_log=x --log_avg_msec=200 --bwavgtime=50 --iopsavgtime=60"), (50, 60));
}

#[test]
fn verify_is_told_what_it_cannot_do() {
    let verify = job("--rw=write --verify=crc32c --verify_interval=1k").verify.unwrap();
    assert_eq!(
        (verify.kind, verify.interval, verify.read_back, verify.fresh),
        (VerifyKind::Crc32c, Some(1024), true, true)
    );
    assert!(!job("--rw=write --verify=md5 --verify_header_seed=0").verify.unwrap().fresh);
    assert!(refused("--rw=write --verify=pattern").contains("without verify_pattern"));
    assert!(refused("--rw=write --bs=512 --verify=md5 --verify_offset=500").contains("write 0, or 56 to 456"));
    assert!(refused("--rw=write --bs=4g --verify=crc32c").contains("32 bits"));
    assert!(refused("--rw=write --bs=64 --verify=sha512").contains("header of 104 bytes does not fit 64 bytes"));
    // A job that only trims has no data to check, so no size is too small for a header.
    assert_eq!(codes("--rw=randtrim --verify=meta --bs=16"), [WarningCode::WithoutEffect]);
    let never = "--rw=write --verify=crc32c --time_based --runtime=1";
    assert_eq!(codes(never), [WarningCode::NothingVerified]);
    assert_eq!(codes(&format!("{never} --do_verify=0")), []);
}

#[test]
fn engine_options_reach_their_fields() {
    let options =
        job("--ioengine=io_uring --hipri --fixedbufs=1 --nonvectored=0 --force_async=3 --sqthread_poll_cpu=1")
            .submission
            .engine_options
            .clone();
    assert!(options.hipri && options.fixed_buffers);
    assert_eq!((options.nonvectored, options.force_async, options.sqthread_poll_cpu), (Some(false), 3, Some(1)));
    let sim = job("--ioengine=sim --sim_service=1ms --sim_channels=4 --sim_queue=8 --sim_faults=error:EIO@3,eof@9")
        .submission
        .engine_options
        .sim
        .clone();
    assert_eq!((sim.service_ns, sim.channels, sim.queue, sim.faults.len()), (1_000_000, 4, 8, 2));
    let line = "--ioengine=io_uring --hipri --name=y --ioengine=psync";
    assert_eq!(request(line).warnings[0].code, WarningCode::OtherEngine);
}

#[test]
fn kb_base_holds_for_what_follows() {
    assert_eq!(job("--kb_base=1000 --size=4k").files.size, Some(Amount::Bytes(4000)));
    assert_eq!(job("--size=4k --kb_base=1000").files.size, Some(Amount::Bytes(4096)));
    assert_eq!(codes("--size=4KiB"), [WarningCode::OddValue]);
}

#[test]
fn defaults_and_jobs() {
    let request = request("--bs=8k --name=a --rw=write --name=global --size=1m --name=b");
    let [a, b] = request.jobs.as_slice() else { panic!() };
    assert_eq!((a.pattern.access.name(), a.files.size), ("write", None));
    assert_eq!((b.pattern.access.name(), b.files.size), ("read", Some(Amount::Bytes(1 << 20))));
    assert_eq!(b.pattern.block_size.read, BlockSize::Fixed(8192));
}

#[test]
fn the_messages_people_search_for() {
    for (text, message) in [
        ("--iodepth=0", "iodepth: min value out of range: 0 (1 min)"),
        ("--iodepth=0", "fio: failed parsing iodepth=0"),
        ("--iodepth=x", "fio: failed parsing iodepth=x"),
        ("--direct=2", "direct: max value out of range: 2 (1 max)"),
        ("--rwmixread=101", "rwmixread: max value out of range: 101 (100 max)"),
        ("--rw=ranread", "fio: failed parsing rw=ranread"),
        ("--rw=ranread", "        valid values: read       Sequential read"),
        ("--rw=ranread", "did you mean `randread`?"),
        ("--ioengine=foo", "fio: engine foo not loadable"),
        ("--ioengine=rbd", "without a filesystem"),
        ("--bs=4k-16k", "bsrange=4k-16k"),
        ("--runtime=10sec", "write 10s"),
        ("--size=1.5g", "write 1536m"),
        ("--numjobs=0", "numjobs: min value out of range: 0 (1 min)"),
        ("--bs=4k,8k,16k,32k", "three directions"),
    ] {
        let rendered = refused(text);
        assert!(rendered.contains(message), "{text}: {rendered}");
    }
}

#[test]
fn engines_that_change_what_they_read_are_no_readers() {
    for engine in ["filedelete", "filecreate", "filerename", "dircreate", "dirdelete", "falloc"] {
        assert!(refused(&format!("--readonly --ioengine={engine}")).contains("changes its files"), "{engine}");
    }
    assert_eq!(codes("--readonly --ioengine=filestat --stat_type=lstat"), []);
}

#[test]
fn nodes_and_policies_are_read() {
    assert_eq!(job("--numa_cpu_nodes=0,2-3,2").process.nodes, [0, 2, 3]);
    assert!(job("--numa_cpu_nodes=all").process.nodes.is_empty());
    let policy = |text: &str| job(&format!("--numa_mem_policy={text}")).process.memory_policy.clone().unwrap();
    assert_eq!(policy("local"), MemoryPolicy::Local);
    assert_eq!(policy("prefer:1"), MemoryPolicy::Prefer(1));
    assert_eq!(policy("bind:0-1"), MemoryPolicy::Bind(vec![0, 1]));
    assert_eq!(policy("interleave:0,3"), MemoryPolicy::Interleave(vec![0, 3]));
    for text in ["bogus", "bind", "bind:", "prefer:0-1", "interleave:x", "bind:1024"] {
        assert!(refused(&format!("--numa_mem_policy={text}")).contains("numa_mem_policy"), "{text}");
    }
}

#[test]
fn memory_is_what_its_option_says() {
    assert_eq!(job("--mem=mmaphuge --hugepage-size=1g").submission.memory, Memory::Huge(1 << 30));
    assert_eq!(job("--hugepage-size=2m --mem=shmhuge").submission.memory, Memory::HugeSegment(0));
    let file = |shared| Memory::File { path: "f".into(), shared };
    assert_eq!(job("--mem=mmap:f").submission.memory, file(false));
    assert_eq!(job("--iomem=mmapshared:f").submission.memory, file(true));
}

#[test]
fn requests_have_priorities_by_share_and_size() {
    let of = |class, level, hint| IoPriority { class, level, hint };
    let shares =
        |words: &str| job(&format!("--ioengine=libaio {words}")).submission.engine_options.priority_shares.clone();
    let common = shares("--cmdprio_percentage=30,10 --cmdprio=3");
    let share = |block_bytes, percent, priority| PriorityShare { block_bytes, percent, priority };
    assert_eq!(common.read, [share(None, 30, of(1, 3, 0))]);
    assert_eq!(common.write, [share(None, 10, of(1, 3, 0))]);
    let split = shares("--cmdprio_bssplit=4k/20/2/7:4k/30/3/0/1:8k/100,64k/50 --cmdprio_class=3");
    assert_eq!(split.read[..2], [share(Some(4096), 20, of(2, 7, 0)), share(Some(4096), 30, of(3, 0, 1))]);
    assert_eq!(split.read[2], share(Some(8192), 100, of(3, 0, 0)));
    assert_eq!(split.write, [share(Some(65536), 50, of(3, 0, 0))]);
    for (words, sentence) in [
        ("--cmdprio_percentage=1 --cmdprio_bssplit=4k/20", "mutually exclusive"),
        ("--cmdprio_bssplit=4k/60:4k/50", "bs: 4096 exceeds 100"),
        ("--cmdprio_bssplit=4k/60/1", "is no share"),
        ("--cmdprio_bssplit=4k/101", "is no share"),
    ] {
        let text = refused(&format!("--ioengine=io_uring {words}"));
        assert!(text.contains(sentence), "{text}");
    }
}

#[test]
fn atomic_writes_are_direct_and_of_some_engines() {
    assert!(job("--ioengine=pvsync2 --rw=write --atomic=1").submission.direct);
    assert!(refused("--ioengine=psync --rw=write --atomic=1").contains("ioengine=psync has no atomic writes"));
}

#[test]
fn options_of_a_refused_engine_have_no_errors_of_their_own() {
    let said = refused("--ioengine=mtd --skip_bad=1 --size=1m");
    assert!(said.contains("ioengine=mtd is not supported") && !said.contains("skip_bad"), "{said}");
    assert!(
        refused("--cpuload=50 --size=1m").contains("cpuload is an option of cpuio"),
        "without its engine it is unknown"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn what_computes_needs_no_size_and_rests_between_bursts() {
    let computes = job("--ioengine=cpuio --cpuload=20 --cpuchunks=1000 --rw=randwrite --iodepth=8");
    assert_eq!((computes.pacing.think_ns, computes.pacing.think_blocks), (4_000_000, 1), "1 ms of 5 ms");
    assert_eq!(computes.pattern.access, Access::READ);
    assert_eq!(computes.submission.depth, 1);
    assert_eq!(job("--ioengine=cpuio --cpuload=300").pacing.think_ns, 0, "100 % at most");
    assert!(refused("--ioengine=cpuio").contains("cpu thread needs rate"));
    assert!(refused("--ioengine=exec --arguments=a").contains("no program is defined"));
    assert_eq!(job("--ioengine=exec --program=a --grace_time=3").submission.engine_options.program.grace_s, 3);
}

#[test]
fn jobs_hold_equal_parts_together_and_others_alone() {
    let words =
        ["--rw=read", "--bs=4k", "--name=a", "--iodepth=4", "--name=b", "--iodepth=4", "--name=c", "--iodepth=8"];
    let words: Vec<String> = words.map(str::to_owned).to_vec();
    let Outcome::Run(request) = crate::parse_command_line(&words, &mut Fake::default()) else { panic!("a run") };
    let [a, b, c] = request.jobs.as_slice() else { panic!("three jobs") };
    assert!(a.submission.is_one_with(&b.submission), "{a:?} {b:?}");
    assert!(!b.submission.is_one_with(&c.submission));
    assert!(a.pattern.is_one_with(&c.pattern) && a.reporting.is_one_with(&c.reporting));
    let mut changed = b.clone();
    changed.submission.depth = 2;
    assert_eq!((a.submission.depth, b.submission.depth, changed.submission.depth), (4, 4, 2));
}
