//! The ten rows that docs/benchmarks.md begins with.

use super::table::Row;

/// What a reader asks, then the case and the measure that answer it.
const ROWS: [(&str, &str, &str); 10] = [
    ("The tool's own work for a request: instructions, without any I/O", "null, randread, iodepth 64", INSTRUCTIONS),
    ("The same, in ns of CPU time", "null, randread, iodepth 64", CPU),
    ("CPU time of a cached read, one at a time, ns", "page-cached file, psync, iodepth 1", CPU),
    ("CPU time of a cached read, 64 in flight by libaio, ns", "page-cached file, libaio, iodepth 64", CPU),
    ("CPU time of a cached read, 64 in flight by io_uring, ns", "page-cached file, io_uring, iodepth 64", CPU),
    ("CPU time of a direct read, 64 in flight by io_uring, ns", "O_DIRECT file, io_uring, iodepth 64", CPU),
    (
        "Instructions for a request whose latency is logged",
        "null, randread, iodepth 64, write_lat_log of each I/O",
        INSTRUCTIONS,
    ),
    ("Time of a run of one I/O, ms", "start to exit, one job, one I/O", "wall, ms"),
    ("Memory for random reads of 8 TiB, each block once, MiB", "one job of 8 TiB, random map", "peak memory, MiB"),
    (
        "Time beyond the runtime of 16 jobs, ms",
        "16 jobs of the null engine, wall beyond the runtime",
        "wall beyond the runtime, ms",
    ),
];

const INSTRUCTIONS: &str = "instructions per I/O";
const CPU: &str = "CPU per I/O, ns";

/// These rows as a table; a row that was not measured has no figure.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut text = "| what is measured | fio | fsdyno | times better |\n|---|---|---|---|\n".to_owned();
    for (question, case, measure) in ROWS {
        let row = rows.iter().find(|row| row.case() == case && row.measure() == measure);
        let [fio, ours, ratio] = row.map_or(["-"; 3], Row::values);
        text.push_str(&format!("| {question} | {fio} | {ours} | {ratio} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases::CASES;

    #[test]
    fn each_row_is_that_of_a_case_and_stands_in_the_document() {
        let path = crate::workspace::folder().join("docs/benchmarks.md");
        let document = std::fs::read_to_string(path).expect("the document is there");
        for (question, case, _) in ROWS {
            assert!(CASES.iter().any(|known| known.title == case), "{case}");
            assert!(document.contains(&format!("| {question} | ")), "{question}");
        }
        assert_eq!(markdown(&[]).lines().count(), 2 + ROWS.len());
    }
}
