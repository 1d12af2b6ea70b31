//! Determines the files of a clone: `filename`, or names made from `filename_format`.

use std::path::PathBuf;

use fsdyno_job::Job;
use fsdyno_os::written;

const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// Paths of one clone's files. `clone` counts from 0.
pub(crate) fn file_paths(job: &Job, clone: u32) -> Vec<PathBuf> {
    let names: Vec<String> = if job.files.names.is_empty() {
        let format = job.files.name_format.as_deref().unwrap_or(DEFAULT_FORMAT);
        let client = job.files.client.as_deref();
        let before = client.filter(|_| job.files.unique);
        let prefix = before.map_or_else(String::new, |client| format!("{client}."));
        let name = |file| prefix.clone() + &expand(format, &job.name, client.unwrap_or("localhost"), clone, file);
        (0..job.files.count).map(name).collect()
    } else {
        job.files.names.clone()
    };
    let directories = &job.files.directories;
    if directories.is_empty() {
        return names.iter().map(|name| written::path(name)).collect();
    }
    // Clones use the directories in turn; the directory is also prepended to absolute names, as in fio.
    let directory = written::path(&directories[clone as usize % directories.len()]);
    names.iter().map(|name| directory.join(written::path(name.trim_start_matches('/')))).collect()
}

fn expand(format: &str, job_name: &str, client: &str, clone: u32, file: u32) -> String {
    let keywords = [
        ("$jobname", job_name.to_string()),
        ("$jobnum", clone.to_string()),
        ("$filenum", file.to_string()),
        ("$clientuid", client.to_string()),
    ];
    let mut text = String::new();
    let mut rest = format;
    'next: while let Some(dollar) = rest.find('$') {
        text.push_str(&rest[..dollar]);
        rest = &rest[dollar..];
        for (keyword, value) in &keywords {
            if rest.get(..keyword.len()).is_some_and(|word| word.eq_ignore_ascii_case(keyword)) {
                text.push_str(value);
                rest = &rest[keyword.len()..];
                continue 'next;
            }
        }
        text.push('$');
        rest = &rest[1..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_expand_in_any_case() {
        assert_eq!(expand(DEFAULT_FORMAT, "nv", "localhost", 3, 0), "nv.3.0");
        assert_eq!(expand("f.$FILENUM-$jobnumx$", "a", "localhost", 1, 2), "f.2-1x$");
    }

    #[test]
    fn generated_names_carry_the_node_and_written_ones_do_not() {
        let mut job = Job { name: "r".to_owned(), ..Job::default() };
        job.files.client = Some("node-b".to_owned());
        assert_eq!(file_paths(&job, 0), [PathBuf::from("node-b.r.0.0")]);
        job.files.unique = false;
        assert_eq!(file_paths(&job, 0), [PathBuf::from("r.0.0")]);
        job.files.name_format = Some("$clientuid-$jobname".to_owned());
        assert_eq!(file_paths(&job, 0), [PathBuf::from("node-b-r")]);
        job.files.unique = true;
        job.files.names = vec!["shared".to_owned()];
        assert_eq!(file_paths(&job, 0), [PathBuf::from("shared")]);
    }
}
