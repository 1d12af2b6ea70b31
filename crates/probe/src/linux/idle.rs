//! Reads how long each processor had no work.

use super::look::{Look, read_text};
use crate::{Fact, NotVisible, ProcessorTime};

/// Times of each processor, ordered by number.
pub(super) fn processor_times(look: &Look) -> Fact<Vec<ProcessorTime>> {
    let path = look.proc.join("stat");
    let times = parse(&read_text(&path)?);
    if times.is_empty() { Err(NotVisible::new(path.display(), "it names no processor")) } else { Ok(times) }
}

/// Parses the lines `cpuN user nice system idle iowait irq softirq steal guest …`. Guest times are part of user and
/// nice. A processor that waits for I/O has no work; one whose time was stolen has work.
fn parse(text: &str) -> Vec<ProcessorTime> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<ProcessorTime> {
    let mut words = line.strip_prefix("cpu")?.split_whitespace();
    let number =
        line.as_bytes().get(3).filter(|byte| byte.is_ascii_digit()).and_then(|_| words.next()?.parse().ok())?;
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let [_, _, _, idle, iowait, _, _, _, ..] = ticks[..] else { return None };
    Some(ProcessorTime { number, idle: idle + iowait, all: ticks[..8].iter().sum() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_processor_has_its_line() {
        let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 1 5 70 4 1 2 7 3 0\ncpu2 0 0 0 5 0 0 0 0 0 0\ncpu 1 2\nintr 5\n";
        let times = parse(text);
        assert_eq!(times[0], ProcessorTime { number: 0, idle: 74, all: 100 });
        assert_eq!(times[1], ProcessorTime { number: 2, idle: 5, all: 5 });
        assert_eq!(times.len(), 2, "the sum and what is cut short are no processors");
    }
}
