//! Tests that ranks run one plan, from one start, into one record.

use std::path::Path;
use std::process::Command;

use fsdyno_results::{RunRecord, Study};
use launcher::{command, program, ran};
use testkit::{RunResult, Running, TestDirectory, has, is_root, text};

use crate::launcher;

/// The record of a run.
#[track_caller]
pub(crate) fn record(place: &TestDirectory) -> RunRecord {
    RunRecord::from_json(&place.read("run.json")).unwrap_or_else(|error| panic!("{error}"))
}

fn bytes_read(record: &RunRecord) -> u64 {
    record.jobs.iter().map(|job| job.directions.read.bytes).sum()
}

#[test]
fn a_program_without_mpi_refuses_to_be_several() {
    if !has("mpirun") {
        return;
    }
    let place = TestDirectory::new();
    let plain = testkit::program();
    // One with MPI shows the call of its launcher, whichever library that is of; one without refuses the option.
    let calls = Command::new(&plain).args(["--hosts", "a", "--dry-run", "--version"]).output().expect("it begins");
    if calls.status.success() {
        return testkit::skip("the program under test has MPI");
    }
    assert!(text(&calls.stderr).contains("this program was built without MPI"), "{}", text(&calls.stderr));
    let words = ["--name=a", "--ioengine=null", "--size=1m"];
    let ran = Running::start(&mut command(&place.path(""), 3, Path::new(&plain), &words)).finish();
    assert_ne!(ran.status, Some(0));
    assert_eq!(ran.stdout.matches("Starting 1").count(), 0, "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("has started 3 ranks, but this program was built without MPI").count(), 1);
}

#[test]
fn one_document_has_the_sums_of_all_ranks() {
    let place = TestDirectory::new();
    let words = "--name=a --ioengine=null --size=64m --bs=4k --rw=read --output-format=json --record=run.json";
    let Some(ran) = ran(&place.path(""), 4, words) else { return };
    let ran = ran.good();
    let stats = ran.document()["client_stats"].as_array().expect("clients").clone();
    assert_eq!(stats.len(), 5, "each rank, and all of them");
    let of = |index: usize| stats[index]["read"]["io_bytes"].as_u64().unwrap();
    assert!((0..4).all(|index| of(index) == 64 << 20));
    assert_eq!((stats[4]["jobname"].as_str(), of(4)), (Some("All clients"), 256 << 20));
    let record = record(&place);
    assert_eq!((record.jobs.len(), bytes_read(&record)), (4, 256 << 20));
    let mut nodes: Vec<&str> = record.nodes.iter().map(|node| node.name.as_str()).collect();
    nodes.dedup();
    assert_eq!((nodes.len(), record.machines().len()), (4, 1), "{nodes:?}");
    let together = record.ranks_record.expect("they ran together");
    assert_eq!((together.ranks, together.missing.len(), together.windows.len()), (4, 0, 1));
    for node in &record.nodes {
        let part = node.part.as_ref().expect("a part");
        let clock = part.clock.expect("its clock was compared");
        assert_eq!((clock.before_ns == 0, clock.error_ns == 0), (part.rank == 0, part.rank == 0), "{clock:?}");
        assert!(clock.after_ns.is_some() && part.spans.len() == 1);
    }
}

/// `FSDYNO_RANKS` is their number: 16, and 64 each night.
#[test]
fn many_ranks_are_one_record() {
    let place = TestDirectory::new();
    let ranks = std::env::var("FSDYNO_RANKS").ok().and_then(|ranks| ranks.parse().ok()).unwrap_or(16);
    let words = "--name=a --ioengine=null --size=1m --bs=4k --rw=read --output-format=json --record=run.json";
    let Some(ran) = ran(&place.path(""), ranks, words) else { return };
    ran.good();
    let record = record(&place);
    assert_eq!((record.nodes.len() as u32, bytes_read(&record)), (ranks, u64::from(ranks) << 20));
    assert_eq!(record.ranks_record.map(|together| together.windows[0].ranks), Some(ranks));
}

#[test]
fn generated_names_carry_the_rank_and_written_ones_are_shared() {
    let place = TestDirectory::new();
    let words = "--name=own --rw=write --size=1m --bs=64k --record=run.json";
    let Some(own) = ran(&place.path(""), 3, words) else { return };
    own.good();
    let made = place.names("");
    let own: Vec<&String> = made.iter().filter(|name| name.ends_with(".own.0.0")).collect();
    assert_eq!(own.len(), 3, "{made:?}");
    let read = "--name=shared --filename=one --rw=read --size=1m --bs=64k --record=run.json";
    ran(&place.path(""), 3, read).unwrap().good();
    assert_eq!(bytes_read(&record(&place)), 3 << 20);
    assert!(place.path("one").exists());
    let laid_out = record(&place).jobs.iter().filter(|job| job.plan.laid_out).count();
    assert_eq!(laid_out, 1, "for the others it was there");
}

/// The nodes in the names of files with this beginning and end.
fn nodes_of(names: &[String], begin: &str, end: &str) -> Vec<String> {
    let node = |name: &String| Some(name.strip_prefix(begin)?.strip_suffix(end)?.to_owned());
    names.iter().filter_map(node).collect()
}

#[test]
fn what_a_rank_writes_by_name_no_other_overwrites() {
    let place = TestDirectory::new();
    let job = "--name=a --bs=4k --size=1m --verify=crc32c";
    let logs = "--write_lat_log=L --write_bw_log=L --write_iops_log=L --write_hist_log=L --log_hist_msec=1000";
    let commands = "--exec_prerun=pwd --exec_postrun=pwd --mem=mmapshared:memory --record=run.json";
    let words = format!("{job} --rw=randwrite --do_verify=0 {logs} {commands}");
    let Some(wrote) = ran(&place.path(""), 4, &words[..]) else { return };
    wrote.good();
    let record = record(&place);
    let mut nodes: Vec<String> = record.nodes.iter().map(|node| node.name.replace(':', "-")).collect();
    nodes.sort();
    let names = place.names("");
    for kind in ["bw", "iops", "slat", "clat", "lat", "clat_hist"] {
        assert_eq!(nodes_of(&names, &format!("L_{kind}.1.log."), ""), nodes, "{kind}: {names:?}");
    }
    for (begin, end) in [("a.prerun.txt.", ""), ("a.postrun.txt.", ""), ("", "-a-0-verify.state")] {
        assert_eq!(nodes_of(&names, begin, end), nodes, "{begin}{end}: {names:?}");
    }
    let all_name_their_rank = names.iter().filter(|name| *name != "run.json" && *name != "home");
    assert!(all_name_their_rank.clone().all(|name| nodes.iter().any(|node| name.contains(node))), "{names:?}");
    for node in &nodes {
        let log = place.read(&format!("L_lat.1.log.{node}"));
        assert_eq!(log.lines().count(), 256, "each I/O of the rank {node}");
        assert!(log.lines().all(|line| line.split(", ").count() == 5), "{log}");
    }

    let read = format!("{job} --rw=randread --verify_state_load=1 --record=run.json");
    ran(&place.path(""), 4, &read[..]).unwrap().good();
    let notes = self::record(&place).notes;
    let verified = notes.iter().filter(|note| note.id == "verified-to-saved-state").count();
    assert_eq!(verified, 4, "each rank finds the state that it saved: {notes:?}");
}

#[test]
fn each_rank_dumps_what_it_read_of_a_damaged_file() {
    let place = TestDirectory::new();
    let job = "--name=a --filename=one --bs=4k --size=64k --verify=crc32c --verify_dump=1";
    let Some(wrote) = ran(&place.path(""), 2, &format!("{job} --rw=write --do_verify=0")[..]) else { return };
    wrote.good();
    let mut data = std::fs::read(place.path("one")).unwrap();
    data[8192 + 100] ^= 1;
    std::fs::write(place.path("one"), data).unwrap();
    assert_ne!(ran(&place.path(""), 2, &format!("{job} --rw=read")[..]).unwrap().status, Some(0));
    let names = place.names("");
    assert_eq!(nodes_of(&names, "one.8192.received.", "").len(), 2, "{names:?}");
}

#[test]
fn a_shared_file_is_laid_out_by_all_ranks() {
    let place = TestDirectory::new();
    let words = "--name=a --filename=one --rw=read --size=13000k --bs=64k --buffer_pattern=0x51ab --record=run.json";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    ran.good();
    let record = record(&place);
    assert!(record.notes.iter().any(|note| note.id == "laid-out-together"), "{:?}", record.notes);
    assert_eq!(bytes_read(&record), 3 * (13_000 << 10) / 65_536 * 65_536);
    let data = std::fs::read(place.path("one")).unwrap();
    assert_eq!(data.len(), 13_000 << 10);
    assert!(data.chunks(2).all(|pair| pair == [0x51, 0xab]), "each part goes on where the one before ends");
}

#[test]
fn a_shared_name_on_disks_of_their_own_is_laid_out_by_each_rank() {
    let place = TestDirectory::new();
    let words = "--name=a --filename=data/one --rw=read --size=4m --bs=64k --record=run.json";
    let Some(ran) = on_own_filesystems(&place, "tmpfs", [64, 64, 64], words) else { return };
    ran.good();
    let record = record(&place);
    assert_eq!(bytes_read(&record), 3 * (4 << 20));
    assert!(record.notes.iter().all(|note| note.id != "laid-out-together"), "{:?}", record.notes);
}

#[test]
fn with_shift_each_rank_reads_what_another_has_written() {
    let place = TestDirectory::new();
    let words = "--shift --name=a --rw=read --size=1m --bs=64k --record=run.json";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    ran.good();
    let record = record(&place);
    assert_eq!(bytes_read(&record), 3 << 20);
    for job in &record.jobs {
        let own = record.nodes[job.node].name.replace(':', "-");
        assert!(!job.plan.files[0].contains(&own), "{own} read {}", job.plan.files[0]);
    }
}

#[test]
fn stages_are_barriers() {
    let place = TestDirectory::new();
    let words =
        "--ioengine=null --bs=4k --rw=read --record=run.json --name=a --size=16m --name=b --size=16m --stonewall";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    ran.good();
    let together = record(&place).ranks_record.expect("they ran together");
    let [first, second] = &together.windows[..] else { panic!("{together:?}") };
    assert!(second.first_start_ns >= first.last_end_ns, "{together:?}");
}

#[test]
fn a_machine_is_counted_once() {
    let place = TestDirectory::new();
    let words = "--name=a --rw=write --size=4m --bs=64k --end_fsync=1 --record=run.json";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    ran.good();
    let record = record(&place);
    let counts = |node: &fsdyno_results::Node| {
        let samples = node.ledger.iter().flat_map(|ledger| &ledger.samples);
        samples.filter(|sample| sample.devices.value().is_some()).count() > 0
    };
    let counting: Vec<&str> = record.nodes.iter().filter(|node| counts(node)).map(|node| node.name.as_str()).collect();
    assert!(counting.len() <= 1 && counting.iter().all(|name| name.ends_with(":0")), "{counting:?}");
    let ledgers: Vec<_> = record.nodes.iter().filter_map(|node| node.ledger.as_ref()).collect();
    let [ledger] = &ledgers[..] else { panic!("{} ledgers of one machine", ledgers.len()) };
    let end = ledger.samples.last().expect("it was looked at");
    assert_eq!(end.application.bytes.write, 3 * (4 << 20), "what each rank did is in it");
}

#[test]
fn a_question_is_asked_from_all_ranks_and_leaves_nothing() {
    let place = TestDirectory::new();
    let words = "measure . --quick --only=seq-read,read-latency --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    let study: Study = ran.good().study();
    for row in &study.rows {
        let run = row.run.as_ref().expect("a row of a run");
        assert_eq!((run.nodes.len(), run.ranks_record.as_ref().map(|together| together.ranks)), (3, Some(3)));
    }
    assert!(!study.rows.is_empty());
    let left: Vec<String> = place.names("").into_iter().filter(|name| name.starts_with("fsdyno-work")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_question_for_one_machine_is_refused() {
    let place = TestDirectory::new();
    let Some(ran) = ran(&place.path(""), 2, "check etcd .") else { return };
    assert_ne!(ran.status, Some(0));
    assert_eq!(ran.stderr.matches("`check` runs on one: published requirements").count(), 1, "{}", ran.stderr);
}

/// Runs each rank with its own filesystem on `data`, with its size in MiB; 0: none. Needs root.
#[track_caller]
pub(crate) fn on_own_filesystems(
    place: &TestDirectory,
    fstype: &str,
    mebibytes: [u32; 3],
    words: &str,
) -> Option<RunResult> {
    let program = program()?;
    if !is_root("a mount for each rank") {
        return None;
    }
    std::fs::create_dir(place.path("data")).expect("a directory is made");
    let sizes = mebibytes.map(|size| size.to_string()).join(" ");
    let script = format!(
        "set -- {sizes}; rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; hostname machine-$rank; shift $rank; [ $1 = 0 ] || mount -t {fstype} -o size=${{1}}m none data; \
         exec {} {words}",
        testkit::word(program)
    );
    let mut command = launcher::launcher(&place.path(""), 3);
    command.args(["unshare", "--mount", "--uts", "sh", "-c", &script]);
    Some(Running::start(&mut command).finish())
}

#[test]
fn another_filesystem_at_one_rank_is_named_before_the_first_byte() {
    let place = TestDirectory::new();
    let words = "--name=a --rw=write --size=1m --bs=64k --directory=data --record=run.json";
    let Some(ran) = on_own_filesystems(&place, "ramfs", [0, 8, 0], words) else { return };
    assert_ne!(ran.status, Some(0));
    assert!(ran.stderr.contains("the ranks are not on the same filesystem: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("ramfs on "), "{}", ran.stderr);
    assert_eq!(place.names("data"), [""; 0]);
}

#[test]
fn scale_asks_more_ranks_at_each_step() {
    let place = TestDirectory::new();
    let words = "scale . --nodes 1,3 --size=16m --bs=64k --runtime=1 --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 3, words) else { return };
    let study: Study = ran.good().study();
    let steps = study.rows.iter().filter(|row| row.pattern.contains("-n"));
    let asked: Vec<(bool, usize)> = steps
        .map(|row| {
            let run = row.run.as_ref().expect("a row of a run");
            assert_eq!(run.ranks_record.as_ref().map_or(1, |together| together.ranks as usize), run.nodes.len());
            (row.pattern.ends_with("-n3"), run.nodes.len())
        })
        .collect();
    assert!(asked.contains(&(true, 3)) && asked.contains(&(false, 1)), "{asked:?}");
    assert!(asked.iter().all(|(three, nodes)| *nodes == if *three { 3 } else { 1 }), "{asked:?}");
    assert!(!study.sentences.is_empty());
}

/// The offsets of each rank's requests on a file that all share, by fio's log.
fn offsets(words: &str) -> Option<Vec<String>> {
    let place = TestDirectory::new();
    let job = "--name=a --filename=shared --size=1m --bs=4k --rw=randread --write_lat_log=L --log_offset=1";
    ran(&place.path(""), 2, &format!("{job} {words}")[..])?.good();
    let logs = place.names("").into_iter().filter(|name| name.starts_with("L_lat.1.log."));
    let offset = |line: &str| line.split(", ").nth(4).map(str::to_owned);
    Some(logs.map(|log| place.read(&log).lines().filter_map(offset).collect::<Vec<_>>().join(" ")).collect())
}

#[test]
fn ranks_read_a_shared_file_in_fios_order_or_each_in_its_own() {
    let Some(same) = offsets("") else { return };
    assert!(same.len() == 2 && same[0] == same[1] && same[0].contains(' '), "{same:?}");
    let own = offsets("--randrepeat=0").unwrap();
    assert!(own.len() == 2 && own[0] != own[1], "{own:?}");
}

#[test]
fn scale_lets_all_ranks_read_one_file() {
    let place = TestDirectory::new();
    let words = "scale . --shared --rw=randread --nodes 1,2 --size=16m --bs=64k --runtime=1 --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 2, words) else { return };
    let study: Study = ran.good().study();
    let of_two = study.rows.iter().find(|row| row.pattern.ends_with("-n2")).expect("a step of two nodes");
    let jobs = &of_two.run.as_ref().expect("a run").jobs;
    assert!(jobs.iter().all(|job| job.error.is_none() && job.directions.read.bytes > 0));
    assert!(jobs[0].plan.files[0].ends_with("/shared.dat") && jobs[0].plan.files == jobs[1].plan.files);
}

#[test]
fn scale_names_the_launcher_when_there_are_too_few() {
    let place = TestDirectory::new();
    let Some(ran) = ran(&place.path(""), 2, "scale . --nodes 1,4") else { return };
    assert_ne!(ran.status, Some(0));
    assert!(ran.stderr.contains("4 nodes are needed, and this run has 2 nodes"), "{}", ran.stderr);
}

#[test]
fn a_launcher_that_the_library_does_not_know_is_named_and_nothing_runs() {
    let Some(program) = program() else { return };
    let place = TestDirectory::new();
    let (variables, named) = match launcher::with_mpich() {
        Some(_) => (["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"], "this program's MPI (MPICH)"),
        None => (["SLURM_STEP_NUM_TASKS", "SLURM_PROCID"], "this program's MPI (Open MPI)"),
    };
    for (rank, says) in [("0", true), ("1", false)] {
        let mut command = Command::new(program);
        command.args(["--name=a", "--rw=write", "--size=1m"]).current_dir(place.path(""));
        let ran = Running::start(command.env(variables[0], "3").env(variables[1], rank)).finish();
        assert_eq!(ran.status, Some(2), "{}", ran.stderr);
        let is_said = ran.stderr.contains("has started 3 ranks") && ran.stderr.contains(named);
        assert_eq!(is_said, says, "{}", ran.stderr);
    }
    assert_eq!(place.names(""), [""; 0]);
}
