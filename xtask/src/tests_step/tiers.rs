//! The tiers: which tests are run together, and by which chore.

/// A tier: tests that are run together. They are cargo targets with the tier's name; the units are all others.
pub(super) struct Tier {
    pub(super) name: &'static str,
    /// The cargo targets; empty: all without `test = false`.
    pub(super) targets: &'static [&'static str],
    /// A choice of their tests; empty: all.
    pub(super) choice: &'static [&'static str],
    /// How many tests run at a time, where most of them wait; `None`: the number of CPUs.
    pub(super) at_a_time: Option<&'static str>,
    /// Whether its tests judge how long storage takes: what fails on a busy machine is not judged, and counts as
    /// skipped. `nightly` also runs these tests, on an idle machine.
    pub(super) judges_timing: bool,
    pub(super) chore: Chore,
    /// A variable that is set for its tests.
    pub(super) variables: &'static [(&'static str, &'static str)],
}

/// The chore that runs a tier. `nightly` also runs the tiers that judge timing, whatever their chore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chore {
    /// Each push, with other tests beside it.
    Ci,
    /// Each push, on a machine of its own: its tests need a quiet one, or compile a program of their own.
    Timing,
    /// It takes long, or builds for another system.
    Nightly,
}

/// Those that take longest first: they run side by side with those below. What compiles for another system begins early.
pub(super) const TIERS: &[Tier] = &[
    Tier { choice: &["series::", "trust::", CELLS], chore: Chore::Nightly, ..judges_timing("trust", &["lab"]) },
    Tier { chore: Chore::Timing, ..judges_timing("traps", &["traps"]) }.waits("4"),
    Tier {
        chore: Chore::Timing,
        choice: &[
            "--skip=series::",
            "--skip=trust::",
            "--skip=nfs::",
            "--skip=s3fs::caches",
            "--skip=stores::",
            "--skip=sockets::",
            "--skip=devices::",
            WITHOUT_CELLS,
            LONG,
            PROOF,
        ],
        ..judges_timing("disks", &["lab"])
    }
    .waits("4"),
    // It takes longest: with six of its tests at a time it ends with the others.
    Tier {
        choice: &[
            "--skip=fio_s_parser_of",
            "--skip=logs::compressed_clones",
            "--skip=logs::compressed_queue",
            "--skip=logs::compressed_in_large_parts",
            "--skip=logs::compressed_writes",
            "--skip=logs::compressed_together",
            "--skip=logs::compressed_reads",
            "--skip=logs::compressed_priorities",
            "--skip=idle_prof_of_terse",
            "--skip=idle_prof_of_the_system",
            "--skip=latency_target_while_running",
            "--skip=content_has_its_fractions",
            "--skip=readings::drawn_",
            "--skip=a_signal_before_a_job",
        ],
        ..tier("oracle", &["oracle", "differential"])
    }
    .waits("6"),
    // What these look at does not depend on how fast a storage is: a failure is one on a busy machine, too.
    Tier {
        choice: &["--skip=bench_fio_measures", "--skip=rights::", "--skip=signatures::"],
        ..tier("faces", &["faces", "inspect", "installed", "sentences"])
    }
    .waits("4"),
    Tier {
        choice: &["--skip=nfs::", "--skip=each_phase_of_io500_has_a_knee", "--skip=each_way_of_one_command"],
        chore: Chore::Timing,
        ..tier(CLUSTER, &[CLUSTER])
    }
    .waits("4"),
    // They use the disk more than the CPUs: side by side with the others, not at the end.
    Tier { choice: &["--skip=all_recipes_run", "--skip=literal_runs_the"], ..judges_timing("questions", QUESTIONS) }
        .waits("4"),
    tier("attacker", &["attacker"]).waits("4"),
    Tier {
        choice: &[
            "--skip=hangs::a_disk_that_never_answers",
            "--skip=hangs::frozen",
            "--skip=limits::of_the_system",
            "--skip=space::a_failing_disk",
            "--skip=verify::dropped_writes",
        ],
        ..tier("faults", &["faults"])
    }
    .waits("4"),
    Tier {
        choice: &[
            "--skip=real_runs_take",
            "--skip=what_a_busy",
            "--skip=pictures_of_other",
            "--skip=nothing_on_other",
            "--skip=fio_plot_draws",
        ],
        ..tier("sheet", &["browser"])
    },
    Tier { choice: &["nfs::"], chore: Chore::Nightly, ..judges_timing(CLIENTS, &[CLUSTER]) },
    Tier {
        choice: &["--skip=nfs::the_knee", "--skip=a_mount_that_never_answers", FILE_LIMIT],
        variables: &[("FSDYNO_RANKS", "64")],
        ..nightly(MPICH, &[CLUSTER])
    }
    .waits("4"),
    Tier {
        choice: &["nfs::", "s3fs::caches", "sockets::", "stores::"],
        chore: Chore::Timing,
        ..judges_timing("mounts", &["lab"])
    }
    .waits("4"),
    Tier { choice: &["devices::"], ..nightly("devices", &["lab"]) },
    nightly("wine", &["wine"]),
    nightly(DIST, &[DIST]),
    Tier {
        choice: &["drawn_"],
        variables: &[("FSDYNO_DIFFERENTIAL_CASES", "300"), ("FSDYNO_DIFFERENTIAL_SIZES", "120")],
        ..nightly("drawn", &["differential"])
    },
    Tier {
        choice: &[
            "logs::compressed_clones",
            "logs::compressed_queue",
            "logs::compressed_in_large_parts",
            "logs::compressed_writes",
            "logs::compressed_together",
            "logs::compressed_reads",
            "logs::compressed_priorities",
            "idle_prof_of_terse",
            "idle_prof_of_the_system",
            "latency_target_while_running",
            "content_has_its_fractions",
            "readings::drawn_",
            "a_signal_before_a_job",
        ],
        ..nightly("variants", &["oracle"])
    }
    .waits("4"),
    // What each push leaves out, or does with fewer ranks, pages or kills.
    Tier {
        choice: &["each_phase_of_io500_has_a_knee", "each_way_of_one_command", "many_ranks_are_one_record"],
        variables: &[("FSDYNO_RANKS", "64")],
        ..nightly(RANKS, &[CLUSTER])
    }
    .waits("4"),
    Tier {
        choice: &["real_runs_take", "what_a_busy", "pictures_of_other", "nothing_on_other"],
        ..nightly("pages", &["browser"])
    },
    // Programs in Python whose libraries take longer to install and to load than the tests.
    Tier {
        choice: &["fio_s_parser_of", "bench_fio_measures", "rights::", "signatures::", "fio_plot_draws"],
        ..nightly("python", &["browser", "faces", "oracle"])
    },
    Tier { choice: &["killed_at_any_"], variables: &[("FSDYNO_KILLS", "50")], ..nightly("kills", &["attacker"]) },
    Tier { choice: &["all_recipes_run", "literal_runs_the"], ..nightly("loops", QUESTIONS) },
    // Each begins a kernel of its own, which takes more CPU time than the test.
    Tier {
        choice: &[
            "hangs::a_disk_that_never_answers",
            "hangs::frozen",
            "limits::of_the_system",
            "space::a_failing_disk",
            "verify::dropped_writes",
        ],
        ..nightly("guests", &["faults"])
    }
    .waits("4"),
    nightly("judgements", &["judgements"]),
    nightly("memory", &["memcheck"]),
    Tier { choice: &["case_c::", "time_proof::"], variables: &[("FSDYNO_LAB_LONG", "1")], ..nightly("long", &["lab"]) },
    tier(UNITS, &[]),
    tier(DOC, &[]),
];

/// Tests of cache findings beside neighbours, which use the disk all the time.
const CELLS: &str = "neighbour_matrix::cells_of";
const WITHOUT_CELLS: &str = "--skip=neighbour_matrix::cells_of";

/// The tests of the tier `long`.
const LONG: &str = "--skip=case_c::";
const PROOF: &str = "--skip=time_proof::";

/// Questions to directories, by the binary.
const QUESTIONS: &[&str] = &["check", "compare", "guided", "readme", "smallfiles", "sweep", "time"];

/// All targets without `test = false`.
pub(super) const UNITS: &str = "units";

/// The tests with many ranks, and their target.
pub(super) const CLUSTER: &str = "cluster";

/// Those of its tests that need many ranks or many minutes.
const RANKS: &str = "ranks";

/// Those of its tests that judge the speed of several clients of one server.
const CLIENTS: &str = "clients";

/// The same tests with MPICH in place of Open MPI.
pub(super) const MPICH: &str = "mpich";

/// A test that limits the length of files, under which MPICH's own shared memory cannot be made.
const FILE_LIMIT: &str = "--skip=a_rank_that_cannot_write_its_small_files";

/// The tests of a release.
pub(super) const DIST: &str = "dist";

/// Tiers that start the program built with MPI.
pub(super) const WITH_MPI: &[&str] = &[CLUSTER, RANKS, CLIENTS, DIST];

/// Tiers that start the program built with MPICH.
pub(super) const WITH_MPICH: &[&str] = &[MPICH, DIST];

/// The examples in the documentation; they are no cargo targets.
pub(super) const DOC: &str = "doc";

const fn tier(name: &'static str, targets: &'static [&'static str]) -> Tier {
    Tier { name, targets, choice: &[], at_a_time: None, judges_timing: false, chore: Chore::Ci, variables: &[] }
}

const fn judges_timing(name: &'static str, targets: &'static [&'static str]) -> Tier {
    Tier { judges_timing: true, ..tier(name, targets) }
}

const fn nightly(name: &'static str, targets: &'static [&'static str]) -> Tier {
    Tier { chore: Chore::Nightly, ..tier(name, targets) }
}
