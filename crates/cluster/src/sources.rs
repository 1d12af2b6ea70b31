//! Records what the words of a run depend on (files, variables and sizes of the machine): those of the first rank apply
//! to all.

use std::cell::RefCell;

use fsdyno_job::{Machine, Sources};
use fsdyno_run::MachineSources;
use serde::{Deserialize, Serialize};

/// Each question of the job language with its answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answers {
    job_files: Vec<(String, Result<String, String>)>,
    patterns: Vec<(String, Result<Vec<u8>, String>)>,
    variables: Vec<(String, Option<String>)>,
    directories: Vec<(String, Result<Vec<String>, String>)>,
    page_bytes: u64,
    memory_mib: u64,
    processors: u32,
}

/// Records the answers of this machine.
#[derive(Default)]
pub(crate) struct Recorder {
    answers: RefCell<Answers>,
}

impl Recorder {
    pub(crate) fn into_answers(self) -> Answers {
        let Machine { page_bytes, memory_mib, processors } = MachineSources.machine();
        Answers { page_bytes, memory_mib, processors, ..self.answers.into_inner() }
    }
}

impl Sources for Recorder {
    fn job_file(&mut self, path: &str) -> Result<String, String> {
        let answer = match path {
            // Standard input was read when the run was planned.
            "-" => Err("a run on several ranks cannot read it from standard input: name a file".to_owned()),
            path => MachineSources.job_file(path),
        };
        self.answers.get_mut().job_files.push((path.to_owned(), answer.clone()));
        answer
    }

    fn pattern_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        let answer = MachineSources.pattern_file(path);
        self.answers.get_mut().patterns.push((path.to_owned(), answer.clone()));
        answer
    }

    fn variable(&self, name: &str) -> Option<String> {
        let answer = MachineSources.variable(name);
        self.answers.borrow_mut().variables.push((name.to_owned(), answer.clone()));
        answer
    }

    fn files_below(&mut self, directory: &str) -> Result<Vec<String>, String> {
        let answer = MachineSources.files_below(directory);
        self.answers.get_mut().directories.push((directory.to_owned(), answer.clone()));
        answer
    }

    fn machine(&self) -> Machine {
        MachineSources.machine()
    }
}

fn answer<T: Clone>(known: &[(String, Result<T, String>)], name: &str) -> Result<T, String> {
    let found = known.iter().find(|(asked, _)| asked == name);
    found.map_or_else(|| Err("the first rank has not read it".to_owned()), |(_, answer)| answer.clone())
}

impl Sources for Answers {
    fn job_file(&mut self, path: &str) -> Result<String, String> {
        answer(&self.job_files, path)
    }

    fn pattern_file(&mut self, path: &str) -> Result<Vec<u8>, String> {
        answer(&self.patterns, path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.iter().find(|(asked, _)| asked == name).and_then(|(_, value)| value.clone())
    }

    fn files_below(&mut self, directory: &str) -> Result<Vec<String>, String> {
        answer(&self.directories, directory)
    }

    fn machine(&self) -> Machine {
        Machine { page_bytes: self.page_bytes, memory_mib: self.memory_mib, processors: self.processors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsdyno_job::Outcome;

    #[test]
    fn a_job_file_means_the_same_where_it_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("jobs.fio");
        std::fs::write(&file, "[global]\nioengine=null\nsize=1m\n[a]\nnumjobs=$ncpus\ndescription=${HOME}\n").unwrap();
        let words = vec![file.to_str().unwrap().to_owned()];
        let mut recorder = Recorder::default();
        let Outcome::Run(here) = fsdyno_job::parse_command_line(&words, &mut recorder) else { panic!("it is a run") };
        let mut answers = recorder.into_answers();
        std::fs::remove_file(&file).unwrap();
        let Outcome::Run(there) = fsdyno_job::parse_command_line(&words, &mut answers) else {
            panic!("it is one there")
        };
        assert_eq!(here, there);
    }
}
