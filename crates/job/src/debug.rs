//! `--debug`: the names of its channels, and the lines of the channel `parse`.

use crate::option::{Kind, Value};
use crate::raw::{Assignment, RawJob};
use crate::table::JobRow;
use crate::typed::Amount;
use crate::value::{self, Reading};

/// fio's channels.
pub const CHANNELS: &[&str] = &[
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
    "sprandom",
    "all",
];

/// The channels that print something here.
pub const PRINTING: &[&str] = &["random", "parse"];

/// What `--debug=help` prints.
pub(crate) fn list() -> String {
    format!("fio: dumping debug options:{}\nfsdyno prints: {}\n", CHANNELS.join(","), PRINTING.join(", "))
}

/// Lines of the channel `parse` for each job. Defaults are listed before the first job that they apply to; without a
/// job they are listed alone.
pub(crate) fn parse_lines(jobs: &[RawJob]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut lines = Vec::new();
    for job in jobs {
        if !job.global {
            lines.push("dup options".to_owned());
        }
        job.assignments.iter().for_each(|assignment| lines.extend(of_option(assignment)));
        if !job.global {
            all.push(std::mem::take(&mut lines));
        }
    }
    if all.is_empty() {
        all.push(lines);
    }
    all
}

fn of_option(assignment: &Assignment) -> Vec<String> {
    let Assignment { row, text, .. } = assignment;
    let name = row.name;
    let shown = assignment.shown().unwrap_or("(null)");
    let mut lines = vec![fields(&[("handle_option", name), ("ptr", shown)])];
    let (of_type, separator) = type_of(row);
    let outs = outs(row, text.as_deref());
    let mut rest = shown;
    for item in 0.. {
        lines.push(fields(&[("__handle_option", name), ("type", of_type), ("ptr", rest)]));
        lines.extend(outs.get(item).map(|out| format!("  {out}")));
        match rest.split_once(separator) {
            Some((_, after)) => rest = after,
            None => break,
        }
    }
    if name == "steadystate" {
        lines.extend(text.as_deref().and_then(steady_state));
    }
    lines
}

/// How fio tells the limit of a steady state.
fn steady_state(text: &str) -> Option<String> {
    let (metric, limit) = text.split_once(':')?;
    let threshold = match limit.strip_suffix('%') {
        Some(percent) => format!("threshold to {:.6}%", percent.parse::<f64>().ok()?),
        None if metric.starts_with("iops") => format!("IOPS threshold to {:.6}", limit.parse::<f64>().ok()?),
        None if metric.starts_with("bw") => {
            format!("BW threshold to {}", value::size(limit, &mut Reading::default()).ok()?)
        }
        None => return None,
    };
    Some(format!("set steady state {threshold}"))
}

/// Names with their values, in fio's form.
fn fields(fields: &[(&str, &str)]) -> String {
    let texts: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
    texts.join(", ")
}

/// fio's name of the option's type, and the separators of its list.
fn type_of(row: &JobRow) -> (&'static str, &'static [char]) {
    const RANGE: &[char] = &['-', ':', ','];
    match &row.kind {
        Kind::Flag(_) | Kind::Switch(_) => ("OPT_STR_SET", &[]),
        Kind::Bool(_) => ("OPT_BOOL", &[]),
        Kind::Integer { .. } => ("OPT_INT", &[]),
        Kind::Numbers { .. } if ["bs", "ba", "rate", "rate_min"].contains(&row.name) => ("OPT_ULL", &[',']),
        Kind::Numbers { .. } => ("OPT_INT", &[',']),
        Kind::Size { .. } => ("OPT_STR_VAL", &[]),
        Kind::SizeRange { .. } => ("OPT_STR_VAL", RANGE),
        Kind::SizeRanges(_) => ("OPT_RANGE", &[',']),
        Kind::Amount(_) => ("OPT_STR_VAL_ZONE", &[]),
        Kind::Time { .. } => ("OPT_STR_VAL_TIME", &[]),
        Kind::TimeRange { .. } => ("OPT_STR_VAL_TIME", RANGE),
        Kind::Times { .. } => ("OPT_STR_VAL_TIME", &[',']),
        Kind::Word { .. } if row.name == "ioengine" => ("OPT_STR_STORE", &[]),
        Kind::Word { .. } => ("OPT_STR", &[]),
        Kind::Floats { .. } => ("OPT_FLOAT_LIST", &[':']),
        Kind::OptionalText(_) | Kind::Text(_) => ("OPT_STR_STORE", &[]),
    }
}

/// The numbers that the text was read as, item by item.
fn outs(row: &JobRow, text: Option<&str>) -> Vec<String> {
    let out = |number: u64| format!("ret=0, out={number}");
    let written = text.map_or(1, |text| text.split(',').count());
    match row.kind.read(row.name, text, &mut Reading::default()) {
        Ok(Value::Flag(on) | Value::Bool(on)) => vec![out(on.into())],
        Ok(Value::Integer(number)) => vec![format!("ret=0, out={number}")],
        Ok(Value::Size(size) | Value::Amount(Amount::Bytes(size))) => vec![out(size)],
        Ok(Value::Time(ns)) => vec![out(ns / 1000)],
        Ok(Value::SizeRange(low, high)) => vec![out(low), out(high)],
        Ok(Value::TimeRange(low, high)) => vec![out(low / 1000), out(high / 1000)],
        Ok(Value::Numbers(list)) => list.iter().take(written).map(|(_, item)| out(item.unwrap_or(0))).collect(),
        Ok(Value::Times(list)) => list.iter().take(written).map(|(_, item)| out(item.unwrap_or(0) / 1000)).collect(),
        Ok(Value::Floats(floats)) => floats.iter().map(|float| format!("out={float:.6}")).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Fake;
    use crate::{Outcome, parse_command_line};

    #[test]
    fn limits_of_a_steady_state_are_told_as_fio_s_tests_read_them() {
        for (text, told) in [
            ("iops:10", Some("set steady state IOPS threshold to 10.000000")),
            ("iops:10%", Some("set steady state threshold to 10.000000%")),
            ("iops_slope:.1%", Some("set steady state threshold to 0.100000%")),
            ("bw:12", Some("set steady state BW threshold to 12")),
            ("bw_slope:1k", Some("set steady state BW threshold to 1024")),
            ("lat:5ms", None),
        ] {
            assert_eq!(super::steady_state(text).as_deref(), told, "{text}");
        }
    }

    #[test]
    fn defaults_are_told_before_the_job_and_without_a_job() {
        let trace = |words: &str| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let Outcome::Run(request) = parse_command_line(&words, &mut Fake::default()) else { panic!("{words:?}") };
            request.trace.concat()
        };
        let alone = trace("--debug=parse --parse-only --ss_dur=10s --ss=iops:10%");
        assert!(alone.contains(&"set steady state threshold to 10.000000%".to_owned()), "{alone:?}");
        assert!(!alone.contains(&"dup options".to_owned()), "{alone:?}");
        let before = trace("--debug=parse --bs=4k --name=j --size=4k");
        let at = |line: &str| before.iter().position(|told| told == line).expect(line);
        assert!(at("handle_option=bs, ptr=4k") < at("dup options"), "{before:?}");
        assert!(at("dup options") < at("handle_option=name, ptr=j"), "{before:?}");
    }

    #[test]
    fn options_are_told_in_fio_s_lines() {
        let words = "--debug=parse --name=j --ioengine=null --size=16k --bsrange=4k-8k,16k-16k --bs=4k,8k --rw=randrw \
                     --rwmixread=70 --runtime=1s --startdelay=1-2 --percentile_list=1:50 --thread";
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let Outcome::Run(request) = parse_command_line(&words, &mut Fake::default()) else { panic!("{words:?}") };
        insta::assert_snapshot!(request.trace[0].join("\n"), @r"
        dup options
        handle_option=name, ptr=j
        __handle_option=name, type=OPT_STR_STORE, ptr=j
        handle_option=ioengine, ptr=null
        __handle_option=ioengine, type=OPT_STR_STORE, ptr=null
        handle_option=size, ptr=16k
        __handle_option=size, type=OPT_STR_VAL_ZONE, ptr=16k
          ret=0, out=16384
        handle_option=bsrange, ptr=4k-8k,16k-16k
        __handle_option=bsrange, type=OPT_RANGE, ptr=4k-8k,16k-16k
        __handle_option=bsrange, type=OPT_RANGE, ptr=16k-16k
        handle_option=bs, ptr=4k,8k
        __handle_option=bs, type=OPT_ULL, ptr=4k,8k
          ret=0, out=4096
        __handle_option=bs, type=OPT_ULL, ptr=8k
          ret=0, out=8192
        handle_option=rw, ptr=randrw
        __handle_option=rw, type=OPT_STR, ptr=randrw
        handle_option=rwmixread, ptr=70
        __handle_option=rwmixread, type=OPT_INT, ptr=70
          ret=0, out=70
        handle_option=runtime, ptr=1s
        __handle_option=runtime, type=OPT_STR_VAL_TIME, ptr=1s
          ret=0, out=1000000
        handle_option=startdelay, ptr=1-2
        __handle_option=startdelay, type=OPT_STR_VAL_TIME, ptr=1-2
          ret=0, out=1000000
        __handle_option=startdelay, type=OPT_STR_VAL_TIME, ptr=2
          ret=0, out=2000000
        handle_option=percentile_list, ptr=1:50
        __handle_option=percentile_list, type=OPT_FLOAT_LIST, ptr=1:50
          out=1.000000
        __handle_option=percentile_list, type=OPT_FLOAT_LIST, ptr=50
          out=50.000000
        handle_option=thread, ptr=(null)
        __handle_option=thread, type=OPT_STR_SET, ptr=(null)
          ret=0, out=1
        ");
    }
}
