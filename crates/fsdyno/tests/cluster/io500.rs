//! Tests the phases of IO500 on several ranks.

use std::collections::BTreeSet;

use fsdyno_results::{Row, Study};
use testkit::{Running, TestDirectory, is_root, word};

use crate::launcher::{launcher, program, ran};
use crate::questions::{left, of_each_rank, row, run};

#[test]
fn the_phases_of_io500_run_on_all_ranks_and_a_short_run_has_no_score() {
    let place = TestDirectory::new();
    let words = "scale . --like=io500 --runtime=1 --size=2m --quiet --json --no-store";
    let Some(ran) = ran(&place.path(""), 4, words) else { return };
    let study: Study = ran.good().study();
    let patterns: Vec<&str> = study.rows.iter().map(|row| row.pattern.as_str()).collect();
    let [first, .., last] = patterns[..] else { panic!("{patterns:?}") };
    assert_eq!((patterns.len(), first, last), (13, "ior-easy-write", "mdtest-hard-delete"));
    // Two MiB are a request of ior-easy, and 44 blocks of ior-hard.
    for (phase, requests, bytes) in [("easy", 1, 2 << 20), ("hard", 44, 47_008)] {
        for what in ["write", "read"] {
            let row = row(&study, &format!("ior-{phase}-{what}"));
            assert_eq!(of_each_rank(row), [requests; 4], "{phase} {what}");
            assert_eq!(run(row).jobs.iter().map(|job| job.mixed().bytes).sum::<u64>(), 4 * requests * bytes);
        }
    }
    for (phase, others) in [("easy", &["stat", "delete"][..]), ("hard", &["stat", "read", "delete"])] {
        let written = of_each_rank(row(&study, &format!("mdtest-{phase}-write")));
        assert!(written[0] > 0 && written == [written[0]; 4], "all wear out at the same number: {written:?}");
        for other in others {
            let row = row(&study, &format!("mdtest-{phase}-{other}"));
            assert_eq!((of_each_rank(row), row.first_error()), (written.clone(), None), "{phase} {other}");
        }
    }
    let reason = "each phase that writes must run for 300 s, and --runtime says 1 s";
    assert!(study.sentences[0].contains("no score") && study.sentences[0].contains(reason), "{:?}", study.sentences);
    assert_eq!(left(&place), [""; 0]);
}

/// The phases on one rank and on two: three rounds of each, in turns.
#[test]
fn each_phase_of_io500_has_a_knee_where_the_ranks_differ_in_number() {
    let place = TestDirectory::new();
    // Without --quiet it names each phase when it begins, however long all of them take.
    let words = "scale . --like=io500 --nodes=1,2 --runtime=1 --size=2m --json --no-store";
    let Some(ran) = ran(&place.path(""), 2, words) else { return };
    let study: Study = ran.good().study();
    assert!(study.rows.iter().all(|row| row.first_error().is_none()), "{:?}", study.rows);
    for (pattern, ranks) in [("ior-hard-write-n1", 1), ("ior-hard-read-n2", 2), ("ior-easy-read-n2", 2)] {
        let rows: Vec<&Row> = study.rows.iter().filter(|row| row.pattern == pattern).collect();
        let rounds: BTreeSet<u32> = rows.iter().map(|row| row.round).collect();
        assert_eq!((rows.len(), rounds), (3, BTreeSet::from([0, 1, 2])), "{pattern}");
        assert!(rows.iter().all(|row| run(row).nodes.len() == ranks), "{pattern}");
    }
    for ranks in 1..=2 {
        let of = |what: &str| -> Vec<_> {
            let pattern = format!("mdtest-easy-{what}-n{ranks}");
            study.rows.iter().filter(|row| row.pattern == pattern).map(of_each_rank).collect()
        };
        let written = of("write");
        assert!(written.len() == 3 && written.iter().all(|each| each.len() == ranks && each[0] > 0), "{written:?}");
        assert_eq!((of("stat"), of("delete")), (written.clone(), written), "{ranks} ranks");
    }
    assert!(study.sentences[0].starts_with("The phases of IO500 on 2 nodes: "), "{:?}", study.sentences);
    let phases = &study.sentences[1..];
    assert!(phases.len() == 12 && phases.iter().all(|phase| phase.contains("saturate")), "{phases:?}");
    assert_eq!(left(&place), [""; 0]);
}

/// The offsets of all calls of a rank with as many bytes as a block.
fn offsets(place: &TestDirectory, rank: u32, call: &str) -> BTreeSet<u64> {
    let calls = place.read(&format!("calls.{rank}"));
    let of_call = calls.lines().filter(|line| line.contains(call));
    let offset = |line: &str| {
        let rest = line.split_once(", 47008, ")?.1;
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    };
    of_call.filter_map(offset).collect()
}

/// Four ranks on two machines, whose calls strace lists: the blocks that a rank reads in the file of all are those that a rank
/// of the other machine has written, each rank those of another one.
#[test]
fn the_blocks_of_the_other_machine_are_read() {
    let Some(program) = program() else { return };
    if !is_root("a machine's name for each rank") || !testkit::has("strace") {
        return;
    }
    let place = TestDirectory::new();
    let words = "scale . --like=io500 --runtime=1 --size=470080 --quiet --json --no-store";
    let script = format!(
        "rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; hostname machine$((rank / 2)); exec strace -f --seccomp-bpf -qq -s 0 -e \
         trace=pread64,pwrite64 -e signal=none -o calls.$rank {} {words}",
        word(program)
    );
    let mut command = launcher(&place.path(""), 4);
    command.args(["unshare", "--uts", "sh", "-ec", &script]);
    let study: Study = Running::start(&mut command).finish().good().study();
    assert!(!study.sentences[0].contains("another machine"), "{}", study.sentences[0]);
    let written: Vec<_> = (0..4).map(|rank| offsets(&place, rank, "pwrite64")).collect();
    for (rank, of_rank) in (0..).zip(&written) {
        let blocks: BTreeSet<u64> = (0..10).map(|segment| (segment * 4 + rank) * 47_008).collect();
        assert_eq!(*of_rank, blocks, "rank {rank}");
    }
    let readers: Vec<_> = (0..4).map(|rank| offsets(&place, rank, "pread64")).collect();
    let owners: Vec<usize> = readers
        .iter()
        .map(|read| written.iter().position(|of_rank| of_rank == read).expect("blocks of one rank"))
        .collect();
    assert!(owners.iter().enumerate().all(|(rank, owner)| rank / 2 != owner / 2), "{owners:?}");
    assert_eq!(owners.iter().collect::<BTreeSet<_>>().len(), 4, "{owners:?}");
}
