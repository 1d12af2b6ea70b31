//! Runs the binary on the virtual device.

use serde_json::Value;

/// The result of a run.
pub(crate) struct RunResult {
    /// The exit status.
    pub(crate) status: Option<i32>,
    /// The one document on stdout.
    pub(crate) document: Value,
    /// The messages.
    pub(crate) stderr: String,
}

/// Runs `words` on the virtual device: 1,000 random reads of 4 KiB, each served in 100 µs, one at a time, unless the
/// words say otherwise.
pub(crate) fn simulate(words: &str) -> RunResult {
    let job = "--name=sim --ioengine=sim --sim_service=100us --size=4000k --bs=4k --rw=randread --output-format=json";
    let ran = testkit::TestDirectory::new().run(&format!("{job} {words}"));
    RunResult { status: ran.status, document: ran.document(), stderr: ran.stderr }
}

impl RunResult {
    /// The value at a path below the first job, such as `read/lat_ns/max`.
    pub(crate) fn at(&self, path: &str) -> &Value {
        let found = self.document.pointer(&format!("/jobs/0/{path}"));
        found.unwrap_or_else(|| panic!("the document has no jobs/0/{path}: {:#}", self.document))
    }

    /// An integer of the first job.
    pub(crate) fn integer(&self, path: &str) -> u64 {
        self.at(path).as_u64().unwrap_or_else(|| panic!("{path} is no integer but {}", self.at(path)))
    }

    /// A float of the first job, with the six decimals that are printed.
    pub(crate) fn float(&self, path: &str) -> f64 {
        assert!(self.at(path).is_f64(), "{path} is no float but {}", self.at(path));
        self.at(path).as_f64().expect("a float")
    }

    /// Minimum, mean, maximum and number of a latency of reads, ns.
    #[track_caller]
    pub(crate) fn assert_latency(&self, kind: &str, (min, mean, max, count): (u64, f64, u64, u64)) {
        let path = |key| format!("read/{kind}/{key}");
        assert_eq!(self.integer(&path("min")), min, "{kind} min");
        assert_close(self.float(&path("mean")), mean, &format!("{kind} mean"));
        assert_eq!(self.integer(&path("max")), max, "{kind} max");
        assert_eq!(self.integer(&path("N")), count, "{kind} N");
    }
}

/// Checks equality in the six decimals of the document.
#[track_caller]
pub(crate) fn assert_close(is: f64, should: f64, what: &str) {
    assert!((is - should).abs() < 1e-5, "{what} is {is}, should be {should}");
}
