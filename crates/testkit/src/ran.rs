//! The result of a run.

use fsdyno_results::Study;
use serde_json::Value;

/// The result of a run.
#[derive(Debug)]
pub struct RunResult {
    /// `None`: killed by a signal.
    pub status: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// Its stderr.
    pub stderr: String,
}

impl RunResult {
    /// Requires exit status 0.
    #[track_caller]
    pub fn good(self) -> RunResult {
        assert_eq!(self.status, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Requires an empty stdout, this text on stderr, and exit status 2.
    #[track_caller]
    pub fn refused(self, says: &str) -> String {
        assert_eq!((self.status, self.stdout.as_str()), (Some(2), ""), "{}", self.stderr);
        assert!(self.stderr.contains(says), "no `{says}` in {}", self.stderr);
        self.stderr
    }

    /// The one document on stdout.
    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no single document ({error}):\n{}\n{}", self.stdout, self.stderr))
    }

    /// The documents on stdout, one after the other, and nothing else.
    #[track_caller]
    pub fn documents(&self) -> Vec<Value> {
        let documents = serde_json::Deserializer::from_str(&self.stdout).into_iter();
        documents.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }

    /// The study on stdout.
    #[track_caller]
    pub fn study(&self) -> Study {
        Study::from_json(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}\n{}", self.stdout, self.stderr))
    }
}
