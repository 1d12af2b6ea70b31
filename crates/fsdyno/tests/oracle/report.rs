//! Compares the shape of the normal report: lines, their order and their words, with every measured number masked. The
//! lines before the first job's block contain no measurement and are compared to the letter.

use crate::differences;

/// Compares two normal reports line by line.
pub(crate) fn compare(fio: &str, ours: &str, found: &mut Vec<String>) {
    let (fio, ours) = (shape(fio), shape(ours));
    if fio == ours {
        return;
    }
    let at = fio.iter().zip(&ours).position(|(fio, ours)| fio != ours).unwrap_or(fio.len().min(ours.len()));
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_else(|| "(the end)".to_owned());
    found.push(format!("report: line {at} differs\n      fio:  {:?}\n      ours: {:?}", line(&fio), line(&ours)));
    for missing in fio.iter().filter(|line| !ours.contains(line)) {
        found.push(format!("report: only in fio:  {missing:?}"));
    }
    for added in ours.iter().filter(|line| !fio.contains(line)) {
        found.push(format!("report: only in ours: {added:?}"));
    }
}

/// The lines that do not depend on speed, masked.
pub(crate) fn shape(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut in_blocks = false;
    for line in text.lines() {
        let line = differences::reword(line);
        if differences::is_message(&line) || depends_on_speed(&line) {
            continue;
        }
        in_blocks |= line.contains("(groupid=");
        let line = if in_blocks { masked_line(&line) } else { before_blocks(&line) };
        let line = line.trim_end_matches(',');
        if line.trim_start().starts_with("| ") {
            // The number of percentiles on a line depends on the width of the largest.
            match lines.last_mut() {
                Some(last) if last.trim_start().starts_with("| ") => {
                    last.push_str(", ");
                    last.push_str(line.trim_start().trim_start_matches("| "));
                    continue;
                }
                _ => {}
            }
        }
        let is_distribution = line.starts_with("  lat (");
        if (is_distribution && lines.last().is_some_and(|last| last.starts_with("  lat (")))
            || (line.is_empty() && lines.last().is_none_or(String::is_empty))
        {
            continue;
        }
        lines.push(if is_distribution { "  lat (time) : #".to_owned() } else { line.to_owned() });
    }
    lines
}

/// Whether runs shorter than a sample window lack the line.
fn depends_on_speed(line: &str) -> bool {
    line.starts_with("   bw (") || line.starts_with("   iops        :") || line.starts_with("Jobs: ")
}

fn before_blocks(line: &str) -> String {
    let line = line.trim_end();
    if line.starts_with("fio-") { "fio-VERSION".to_owned() } else { line.to_owned() }
}

/// Masks a line: numbers become `#`, units of time `time`, multiples of bytes `B`; the date after the pid and the
/// source position of an error are removed.
fn masked_line(line: &str) -> String {
    let line = match line.split_once(": pid=") {
        Some((before, _)) => format!("{}: pid=# DATE", without_source(before)),
        None => line.to_owned(),
    };
    let indent = line.len() - line.trim_start().len();
    let mut masked = mask_numbers(line.trim());
    for unit in ["(nsec)", "(usec)", "(msec)"] {
        masked = masked.replace(unit, "(time)");
    }
    let joined = masked.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}{}", &line[..indent], joined.replace("= #", "=#").replace("[ #", "[#"))
}

/// `err=28 (file:io_u.c:2057, func=io_u error, error=No space)` becomes `err=28 (error=No space)`.
fn without_source(header: &str) -> String {
    match (header.rfind(" (").map(|at| at + 1), header.find("error=")) {
        (Some(start), Some(error)) if start < error => format!("{}({}", &header[..start], &header[error..]),
        _ => header.to_owned(),
    }
}

/// Masks numbers. Percentile labels (`99.00th`) and depth labels (`>=64=`, `4=`) are words and stay; so do numbers
/// inside words (`vda1`).
fn mask_numbers(line: &str) -> String {
    let labels_stay = ["submit", "complete", "IO depths"].iter().any(|name| line.starts_with(name));
    let mut masked = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, number_on) = rest.split_at(start);
        masked.push_str(before);
        let length = number_on.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number_on.len());
        let (number, after) = number_on.split_at(length);
        let inside_a_word = masked.chars().last().is_some_and(char::is_alphabetic);
        let is_label = after.starts_with("th=") || (labels_stay && after.starts_with('='));
        let is_error = masked.ends_with("err= ") || masked.ends_with("err=") || masked.ends_with("first_error=");
        let is_count = masked.ends_with("groupid=") || masked.ends_with("jobs=") || masked.ends_with("group ");
        if inside_a_word || is_label || is_error || is_count {
            masked.push_str(number);
            rest = after;
        } else {
            masked.push('#');
            rest = without_multiple(after);
        }
    }
    masked + rest
}

/// Removes the `k`, `Mi`, … of `48.5k` and `190MiB/s`, which depend on the size of the number.
fn without_multiple(text: &str) -> &str {
    let Some(rest) = text.strip_prefix(['k', 'K', 'M', 'G', 'T', 'P']) else { return text };
    rest.strip_prefix('i').unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: &str = "a: (g=0): rw=read, bs=(R) 4096B-4096B\nfio-3.33\nStarting 1 process\n\n\
        a: (groupid=0, jobs=1): err= 0: pid=7491: Sat Nov 21 14:26:30 2026\n\
        \x20 write: IOPS=16.0k, BW=62.5MiB/s (65.5MB/s)(64.0KiB/1msec); 0 zone resets\n\
        \x20   clat (nsec): min=2164, max=22574, avg=3684.44, stdev=5064.14\n\
        \x20   clat percentiles (nsec):\n\
        \x20    |  1.00th=[ 2160],  5.00th=[ 2160],\n\
        \x20    | 99.00th=[22656]\n\
        \x20 lat (usec)   : 4=87.50%\n\
        \x20 IO depths    : 1=100.0%, >=64=0.0%\n\
        \x20    latency   : target=0, window=0, percentile=100.00%, depth=1\n";
    const SLOW: &str = "a: (g=0): rw=read, bs=(R) 4096B-4096B\nfio-3.42-own\nStarting 1 process\n\n\
        a: (groupid=0, jobs=1): err= 0: pid=1: Sun Nov 22 14:26:30 2026\n\
        \x20 write: IOPS=7, BW=28.0KiB/s (29.5kB/s)(64.0KiB/1001msec)\n\
        \x20   clat (usec): min=21, max= 2257, avg= 3.44, stdev= 5.14\n\
        \x20   clat percentiles (usec):\n\
        \x20    |  1.00th=[    2],  5.00th=[    2], 99.00th=[    3]\n\
        \x20  bw (  KiB/s): min= 1, max= 2, per=99.94%, avg=1.00, stdev= 0.06, samples=6\n\
        \x20 lat (usec)   : 4=80.50%\n\
        \x20 lat (msec)   : 4=7.00%\n\
        \x20 IO depths    : 1=99.9%, >=64=0.0%\n\
        \x20    latency   : target=0.00ns, window=0.00ns, percentile=100.00%, depth=1\n";

    fn differences_of(fio: &str, ours: &str) -> usize {
        let mut found = Vec::new();
        compare(fio, ours, &mut found);
        found.len()
    }

    #[test]
    fn speed_and_version_do_not_matter() {
        assert_eq!(shape(FAST), shape(SLOW));
        assert_eq!(shape(FAST)[8], "     | 1.00th=[#], 5.00th=[#], 99.00th=[#]");
        assert_eq!(shape(FAST)[10], "  IO depths : 1=#%, >=64=#%");
    }

    #[test]
    fn words_order_and_lines_matter() {
        assert_ne!(differences_of(FAST, &SLOW.replace("IOPS", "iops")), 0);
        assert_ne!(differences_of(FAST, &SLOW.replace("5.00th", "6.00th")), 0);
        assert_ne!(differences_of(FAST, &SLOW.replace("err= 0", "err= 5")), 0);
        assert_ne!(differences_of(FAST, &SLOW.replace("Starting 1 process\n", "")), 0);
        assert_ne!(differences_of(FAST, &SLOW.replace(">=64=", "64=")), 0);
    }

    #[test]
    fn the_place_in_the_source_of_an_error_goes() {
        let fio = "a: (groupid=0, jobs=1): err=28 (file:io_u.c:2057, func=io_u error, error=No space left): pid=9: X";
        assert_eq!(shape(fio), ["a: (groupid=0, jobs=1): err=28 (error=No space left): pid=# DATE"]);
    }
}
