use std::cell::RefCell;
use std::rc::Rc;

use fsdyno_guide::watch::IntervalLatency;
use fsdyno_results::{DirectionRecord, JobRecord, JobSetup, PerDirection, RunRecord};

use super::*;

/// Keeps what was written, for the test to read.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.borrow().clone()).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn totals(at_ms: u64, operations: u64) -> StepTotals {
    let amount = Amount { operations, bytes: operations * 4096 };
    StepTotals {
        at_ms,
        all: amount,
        read: Some(amount),
        write: Some(Amount::default()),
        latency: Some(IntervalLatency { p50_ns: 100_000, p99_ns: 900_000 }),
    }
}

fn running(elapsed_ms: u64, totals: Option<StepTotals>) -> LiveFigures {
    LiveFigures { phase: LivePhase::Running, elapsed_ms, totals, ..LiveFigures::default() }
}

fn row(operations: u64) -> Row {
    let read =
        DirectionRecord { ios: operations, bytes: operations * 4096, runtime_ms: 3500, ..DirectionRecord::default() };
    let mut run = RunRecord::new("fsdyno", 0);
    run.jobs.push(JobRecord {
        directions: PerDirection { read, ..PerDirection::default() },
        ..JobRecord::new("a", 1, JobSetup::default())
    });
    let mut study = Study::of_run(run);
    study.rows.remove(0)
}

/// A step of 3.5 s whose worker failed to answer in time once.
fn one_step() -> Vec<Value> {
    let written = Written::default();
    let mut stream = Stream::into(Box::new(written.clone()));
    let step = Step { target: "nfs".into(), title: "4k random read".into(), number: 2, of: 8, ..Step::default() };
    stream.open(&["sweep".to_string()]);
    stream.outline("8 points");
    stream.begin(&step);
    for elapsed_ms in [50, 600, 950, 1000, 1400, 2100] {
        let layout_bytes = Some(elapsed_ms * 1000);
        stream.progress(
            &step,
            &LiveFigures { phase: LivePhase::Layout, elapsed_ms, layout_bytes, ..LiveFigures::default() },
        );
    }
    stream.progress(&step, &LiveFigures { phase: LivePhase::Ramp, elapsed_ms: 3100, ..LiveFigures::default() });
    stream.progress(&step, &running(3500, None));
    for (elapsed_ms, looked) in [(4100, totals(1000, 1000)), (4150, totals(1000, 1000)), (5100, totals(1990, 2100))] {
        stream.progress(&step, &running(elapsed_ms, Some(looked)));
    }
    stream.progress(&step, &running(6100, Some(totals(3000, 500))));
    stream.message("something");
    stream.end(&step, &row(4321));
    stream.close(&Err(Problem::new("no").with_next("yes")));
    written.lines()
}

fn of<'a>(lines: &'a [Value], event: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

#[test]
fn lines_are_about_a_second_apart_and_tell_differences() {
    let lines = one_step();
    let progress = of(&lines, "progress");
    let reported: Vec<(u64, &str)> =
        progress.iter().map(|line| (line["elapsed_ms"].as_u64().unwrap(), line["phase"].as_str().unwrap())).collect();
    assert_eq!(
        reported,
        [(950, "layout"), (2100, "layout"), (3100, "warm-up"), (4100, "running"), (5100, "running"), (6100, "running")]
    );
    assert_eq!((&progress[0]["layout_bytes"], &progress[1]["layout_bytes"]), (&json!(950_000), &json!(1_150_000)));
    assert_eq!(progress[2].get("operations"), None, "nothing counts in the warm-up");
    assert_eq!((&progress[4]["operations"], &progress[4]["interval_ms"]), (&json!(1100), &json!(990)));
    assert_eq!(progress[4]["latency_ns_p99"], 900_000);
    assert_eq!(progress[5]["operations"], 0, "a look that fell behind takes nothing back");
}

#[test]
fn the_differences_add_up_to_the_row() {
    let lines = one_step();
    let sum = |key: &str| lines.iter().filter_map(|line| line.get(key)?.as_u64()).sum::<u64>();
    let end = of(&lines, "step_end")[0];
    for (part, total) in
        [("operations", 4321), ("bytes", 4321 * 4096), ("read_operations", 4321), ("interval_ms", 3500)]
    {
        assert_eq!(sum(part), total, "{part}");
    }
    assert_eq!((&end["total_operations"], &end["total_ms"]), (&json!(4321), &json!(3500)));
    assert_eq!(sum("write_operations"), 0);
}

#[test]
fn the_differences_add_up_where_the_last_look_counted_more_than_the_row_has() {
    let written = Written::default();
    let mut stream = Stream::into(Box::new(written.clone()));
    stream.begin(&Step::default());
    let figures = LiveFigures { totals: Some(totals(2000, 4331)), ..LiveFigures::default() };
    stream.progress(&Step::default(), &figures);
    stream.end(&Step::default(), &row(4321));
    let lines = written.lines();
    let sum = |key: &str| lines.iter().filter_map(|line| line.get(key)?.as_i64()).sum::<i64>();
    assert_eq!((sum("operations"), sum("bytes")), (4321, 4321 * 4096));
    assert_eq!(of(&lines, "step_end")[0]["operations"], -10);
}

#[test]
fn the_intervals_add_up_where_the_last_io_ends_before_the_last_look() {
    let written = Written::default();
    let mut stream = Stream::into(Box::new(written.clone()));
    stream.begin(&Step::default());
    for (elapsed_ms, looked) in [(1100, totals(1000, 1000)), (3600, totals(3522, 4321))] {
        stream.progress(&Step::default(), &running(elapsed_ms, Some(looked)));
    }
    stream.end(&Step::default(), &row(4321));
    let lines = written.lines();
    let intervals: Vec<i64> = lines.iter().filter_map(|line| line.get("interval_ms")?.as_i64()).collect();
    assert_eq!((&intervals[..], intervals.iter().sum::<i64>()), (&[1000, 2522, -22][..], 3500));
    assert_eq!(of(&lines, "step_end")[0]["total_ms"], 3500);
}

#[test]
fn every_line_says_what_it_is() {
    let lines = one_step();
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events[..3], ["open", "outline", "step_begin"]);
    assert_eq!(events[events.len() - 3..], ["message", "step_end", "close"]);
    assert!(lines.iter().all(|line| line["schema"] == 1 && line["at_ms"].is_u64()), "{lines:?}");
    assert_eq!((&lines[lines.len() - 1]["problem"], &lines[lines.len() - 1]["next"]), (&json!("no"), &json!("yes")));
}

#[test]
fn every_key_is_documented() {
    let document = include_str!("../../../../../docs/live-stream.md");
    for line in one_step() {
        for key in line.as_object().unwrap().keys() {
            assert!(document.contains(&format!("`{key}`")), "docs/live-stream.md does not know `{key}`");
        }
        let event = line["event"].as_str().unwrap();
        assert!(document.contains(&format!("`{event}`")), "docs/live-stream.md does not know `{event}`");
    }
}

#[test]
fn a_reader_who_leaves_ends_the_stream_and_nothing_else() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::BrokenPipe))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut stream = Stream::into(Box::new(Gone));
    stream.message("one");
    stream.message("two");
    assert!(stream.sink.is_none());
}
