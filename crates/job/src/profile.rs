//! `--profile`: fio's built-in workloads, as words of the command line.

use crate::diagnostic::Diagnostic;

/// The options of each profile, with what they are when they are not written. In a job they mean nothing.
const TIOBENCH_OPTIONS: &[(&str, &str)] =
    &[("size", ""), ("block", "4096"), ("numruns", "1"), ("dir", "./"), ("threads", "1")];
const ACT_OPTIONS: &[(&str, &str)] = &[
    ("device-names", ""),
    ("load", "1"),
    ("prep", "0"),
    ("test-duration", "24h"),
    ("threads-per-queue", "8"),
    ("read-req-num-512-blocks", "3"),
    ("large-block-op-kbytes", "131072"),
];

const TIOBENCH: &[&str] = &[
    "--buffered=0 --size={size} --bs={block} --loops={numruns} --directory={dir} --numjobs={threads} --runtime=600",
    "--group_reporting --thread --overwrite=1 --ioengine=sync",
    "--filename=.fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4",
];
const TIOBENCH_JOBS: &[&str] = &[
    "--name=seqwrite --rw=write --end_fsync=1",
    "--name=randwrite --stonewall --rw=randwrite --end_fsync=1",
    "--name=seqread --stonewall --rw=read",
    "--name=randread --stonewall --rw=randread",
];

const ACT: &[&str] = &["--direct=1 --ioengine=sync --random_generator=lfsr --group_reporting --thread"];
const ACT_TIMED: &[&str] = &[ACT[0], "--time_based --runtime={test-duration}"];
const ACT_JOBS: &[&str] = &[
    "--name=act-read-{device} --filename={device} --rw=randread --numjobs={threads-per-queue} --rate_iops={reads}",
    "--bs={read}",
    "--name=act-write-{device} --filename={device} --rw=randwrite --rate_iops={writes} --bs={large-block-op-kbytes}",
];
const ACT_PREPARATION: &[&str] = &[
    "--name=act-prep-zeroes-{device} --filename={device} --rw=write --bs=1m --zero_buffers",
    "--name=act-prep-salt-{device} --stonewall --filename={device} --rw=randwrite --bs=4k --ioengine=libaio --iodepth=64",
];

type Values = Vec<(&'static str, String)>;

type Expanded = Result<Vec<String>, Box<Diagnostic>>;

/// The words of the jobs of a profile among `words`; `None`: they name none.
pub(crate) fn expand(words: &[String]) -> Option<Expanded> {
    let words = with_values(words);
    let name = words.iter().find_map(|word| word.trim_start_matches('-').strip_prefix("profile="))?;
    let options = match name {
        "tiobench" => TIOBENCH_OPTIONS,
        "act" => ACT_OPTIONS,
        _ => {
            let error = Diagnostic::new(None, format!("fio: profile '{name}' not found"));
            return Some(Err(Box::new(error.help("profiles are act and tiobench"))));
        }
    };
    let mut values: Values = options.iter().map(|(option, default)| (*option, (*default).to_owned())).collect();
    let mut others = Vec::new();
    for word in &words {
        let (option, text) =
            word.trim_start_matches('-').split_once('=').unwrap_or((word.trim_start_matches('-'), "1"));
        match values.iter_mut().find(|(known, _)| *known == option) {
            Some((_, value)) => text.clone_into(value),
            None if option == "profile" => {}
            None => others.push(word.clone()),
        }
    }
    Some(if name == "act" { act(&mut values, others) } else { tiobench(&mut values, others) })
}

/// The words, those of profiles with their values: `--profile act` as `--profile=act`.
fn with_values(words: &[String]) -> Vec<String> {
    let is_of_profiles = |name: &str| {
        // A flag.
        name != "prep"
            && (name == "profile" || [TIOBENCH_OPTIONS, ACT_OPTIONS].concat().iter().any(|(option, _)| *option == name))
    };
    let mut rest = words.iter();
    let mut whole = Vec::new();
    while let Some(word) = rest.next() {
        let takes = word.starts_with("--") && is_of_profiles(&word[2..]);
        let value = if takes { rest.next() } else { None };
        whole.push(value.map_or_else(|| word.clone(), |value| format!("{word}={value}")));
    }
    whole
}

fn tiobench(values: &mut Values, others: Vec<String>) -> Expanded {
    let size = &mut values[0].1;
    if size.is_empty() {
        let error = Diagnostic::new(None, "fio: profile tiobench has no size");
        return Err(Box::new(error.help("add --size= with MiB")));
    }
    if size.ends_with(|last: char| last.is_ascii_digit()) {
        size.push('m');
    }
    Ok(joined(TIOBENCH, others, &TIOBENCH_JOBS.join(" "), values))
}

fn act(values: &mut Values, others: Vec<String>) -> Expanded {
    let failed = |text: &str| Box::new(Diagnostic::new(None, format!("{text}\nfio: profile act prep failed")));
    let devices = values[0].1.clone();
    if devices.is_empty() {
        return Err(failed("act: you need to set IO target(s) with the device-names option."));
    }
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
    let number = |name: &str| match value(name).parse::<u64>() {
        Ok(number @ 1..=0xffff_ffff) => Ok(number),
        _ => Err(failed(&format!("fio: failed parsing {name}={}", value(name)))),
    };
    let (load, threads) = (number("load")?, number("threads-per-queue")?);
    let (blocks, write) = (number("read-req-num-512-blocks")?, number("large-block-op-kbytes")?);
    let read = 512 * blocks;
    let derived =
        [("read", read), ("reads", (load * 2000 / threads).max(1)), ("writes", (load * 1000 * read).div_ceil(write))];
    let prepares = value("prep") != "0";
    values.extend(derived.map(|(name, number)| (name, number.to_string())));
    let (defaults, jobs) = if prepares { (ACT, ACT_PREPARATION) } else { (ACT_TIMED, ACT_JOBS) };
    let jobs: Vec<String> = devices.split(',').map(|device| jobs.join(" ").replace("{device}", device)).collect();
    Ok(joined(defaults, others, &jobs.join(" "), values))
}

/// The defaults of a profile, which what else is written may change, and its jobs.
fn joined(defaults: &[&str], others: Vec<String>, jobs: &str, values: &Values) -> Vec<String> {
    let filled = |word: &str| {
        let filled = |text: String, (name, value): &(&str, String)| text.replace(&format!("{{{name}}}"), value);
        values.iter().fold(word.to_owned(), filled)
    };
    let mut words: Vec<String> = defaults.iter().flat_map(|text| text.split_whitespace()).map(filled).collect();
    words.extend(others);
    words.extend(jobs.split_whitespace().map(filled));
    words
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn expanded(line: &str) -> Result<String, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match expand(&words).expect("a profile is named") {
            Ok(words) => Ok(words.join(" ")),
            Err(error) => Err(error.message),
        }
    }

    #[test]
    fn profiles_become_words() {
        insta::assert_snapshot!(expanded("--profile=tiobench --size=64 --threads=2 --runtime=5").unwrap(), @"--buffered=0 --size=64m --bs=4096 --loops=1 --directory=./ --numjobs=2 --runtime=600 --group_reporting --thread --overwrite=1 --ioengine=sync --filename=.fio.tio.1:.fio.tio.2:.fio.tio.3:.fio.tio.4 --runtime=5 --name=seqwrite --rw=write --end_fsync=1 --name=randwrite --stonewall --rw=randwrite --end_fsync=1 --name=seqread --stonewall --rw=read --name=randread --stonewall --rw=randread");
        insta::assert_snapshot!(expanded("--profile=act --device-names=/dev/x --test-duration=2s --load=3").unwrap(), @"--direct=1 --ioengine=sync --random_generator=lfsr --group_reporting --thread --time_based --runtime=2s --name=act-read-/dev/x --filename=/dev/x --rw=randread --numjobs=8 --rate_iops=750 --bs=1536 --name=act-write-/dev/x --filename=/dev/x --rw=randwrite --rate_iops=36 --bs=131072");
        insta::assert_snapshot!(expanded("--profile=act --device-names=a,b --prep").unwrap(), @"--direct=1 --ioengine=sync --random_generator=lfsr --group_reporting --thread --name=act-prep-zeroes-a --filename=a --rw=write --bs=1m --zero_buffers --name=act-prep-salt-a --stonewall --filename=a --rw=randwrite --bs=4k --ioengine=libaio --iodepth=64 --name=act-prep-zeroes-b --filename=b --rw=write --bs=1m --zero_buffers --name=act-prep-salt-b --stonewall --filename=b --rw=randwrite --bs=4k --ioengine=libaio --iodepth=64");
        assert_eq!(
            expanded("--profile tiobench --size 64 --rw=read"),
            expanded("--profile=tiobench --size=64 --rw=read")
        );
        assert!(expand(&["--name=a".to_owned()]).is_none());
    }

    #[test]
    fn what_a_profile_lacks_is_named() {
        for (line, message) in [
            ("--profile=nope", "fio: profile 'nope' not found"),
            ("--profile=tiobench", "has no size"),
            ("--profile=act", "act: you need to set IO target(s) with the device-names option."),
            ("--profile=act --device-names=x --load=0", "fio: failed parsing load=0"),
        ] {
            let error = expanded(line).unwrap_err();
            assert!(error.contains(message), "{line}: {error}");
        }
    }
}
