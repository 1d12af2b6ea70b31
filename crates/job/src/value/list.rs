//! Lists: per direction, ranges, names, floats, processors, error numbers, scripted faults.

use super::{Reading, Refusal, TimeUnit, number, time};
use crate::direction::PerDirection;
use crate::errno;
use crate::typed::{MemoryPolicy, SimFault, SimFaultKind};

/// Reads `read[,write[,trim]]`. One item applies to all three directions; of two, the second applies to trims as
/// well; an empty item leaves its direction unchanged.
pub fn per_direction<T: Clone>(
    text: &str,
    mut read: impl FnMut(&str) -> Result<T, Refusal>,
) -> Result<PerDirection<Option<T>>, Refusal> {
    let items = text
        .split(',')
        .map(|item| if item.trim().is_empty() { Ok(None) } else { read(item).map(Some) })
        .collect::<Result<Vec<_>, _>>()?;
    match items.as_slice() {
        items if items.iter().all(Option::is_none) => Err(Refusal::new("an empty list")),
        [all] => Ok(PerDirection::all(all.clone())),
        [reads, rest] => Ok(PerDirection { read: reads.clone(), write: rest.clone(), trim: rest.clone() }),
        [reads, writes, trims] => Ok(PerDirection { read: reads.clone(), write: writes.clone(), trim: trims.clone() }),
        more => Err(Refusal::new(format!("{} items, but there are three directions: read,write,trim", more.len()))),
    }
}

/// Refuses `4k-16k` and `4k:16k` where fio reads a list of directions, not a range.
pub(crate) fn refuse_range_look_alike(name: &str, item: &str) -> Result<(), Refusal> {
    let item = item.trim_start();
    if !item.char_indices().skip(1).any(|(_, c)| matches!(c, '-' | ':')) {
        return Ok(());
    }
    let list = item.replace(['-', ':'], ",");
    let refusal = Refusal::misread("this is no range", &format_args!("{list}, one for each direction"));
    Err(match name {
        "bs" => refusal.advise(format!("write bsrange={item} for a range, bs={list} for the list")),
        _ => refusal.advise(format!("write {name}={list}")),
    })
}

/// Reads `low-high` or `low:high`. With `single`, one value is both ends, and a comma may separate the two.
pub fn range<T: PartialOrd + Copy>(
    text: &str,
    single: bool,
    mut read: impl FnMut(&str) -> Result<T, Refusal>,
) -> Result<(T, T), Refusal> {
    let between = |c: char| matches!(c, '-' | ':') || (single && c == ',');
    match text.split_once(between) {
        Some((_, high)) if high.contains([',', '-', ':']) => Err(Refusal::new("a range has two ends, no more")),
        Some((low, high)) if is_hexadecimal(high) && !is_hexadecimal(low) && !text.contains(',') => {
            Err(Refusal::new("with 0x anywhere fio takes both ends for hexadecimal").advise("write both ends alike"))
        }
        Some((low, high)) => {
            let (low, high) = (read(low)?, read(high)?);
            Ok(if low <= high { (low, high) } else { (high, low) })
        }
        None if single => read(text).map(|value| (value, value)),
        None => Err(Refusal::new("a range has two ends").advise("write the smallest and the largest as in 4k-16k")),
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.contains("0x") || text.contains("0X")
}

/// Splits names at colons. `\:` is a colon inside a name; empty items are dropped.
pub fn names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&':') => {
                characters.next();
                if let Some(name) = names.last_mut() {
                    name.push(':');
                }
            }
            ':' => names.push(String::new()),
            other => {
                if let Some(name) = names.last_mut() {
                    name.push(other);
                }
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Reads `a:b:c`, each a float from `min` to `max`, at most `count` of them.
pub fn float_list(text: &str, min: f64, max: f64, count: usize) -> Result<Vec<f64>, Refusal> {
    let mut floats = Vec::new();
    for item in text.split(':').filter(|item| !item.is_empty()) {
        let value: f64 = item.trim().parse().map_err(|_| {
            let refusal = Refusal::new(format!("not a floating point value: {item}"));
            if item.contains(',') { refusal.advise("items are separated by colons") } else { refusal }
        })?;
        if !(min..=max).contains(&value) {
            return Err(Refusal::new(format!("value out of range: {value} ({min} to {max})")));
        }
        floats.push(value);
    }
    if floats.is_empty() {
        return Err(Refusal::new(format!("no floating point value: {text}")));
    }
    if floats.len() > count {
        return Err(Refusal::new(format!("{} values, but the maximum is {count}", floats.len())));
    }
    Ok(floats)
}

/// Reads processors: `0-3,8`. Ascending, without repeats.
pub fn cpu_list(text: &str) -> Result<Vec<u32>, Refusal> {
    numbers(text, &[',', ':'], "CPU", 1 << 16)
}

/// Reads numbers and ranges of numbers, ascending and once each.
fn numbers(text: &str, between: &[char], what: &str, most: u32) -> Result<Vec<u32>, Refusal> {
    let mut numbers = Vec::new();
    for item in text.split(between).map(str::trim).filter(|item| !item.is_empty()) {
        let (first, last) = range(item, true, |number| {
            number.trim().parse::<u32>().map_err(|_| Refusal::new(format!("{item} is not a {what} number")))
        })?;
        if last >= most {
            return Err(Refusal::new(format!("{what} {last} is out of range (below {most})")));
        }
        numbers.extend(first..=last);
    }
    if numbers.is_empty() {
        return Err(Refusal::new(format!("no {what} number")));
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// Reads a list of NUMA nodes such as `0,2-3`. `all` gives an empty list.
pub fn node_list(text: &str) -> Result<Vec<u32>, Refusal> {
    if text.trim() == "all" { Ok(Vec::new()) } else { numbers(text, &[','], "NUMA node", NODES_MAX) }
}

/// The largest number of NUMA nodes that Linux supports.
const NODES_MAX: u32 = 1024;

/// Reads `numa_mem_policy`.
pub fn memory_policy(text: &str) -> Result<MemoryPolicy, Refusal> {
    let (word, nodes) = text.split_once(':').map_or((text, None), |(word, nodes)| (word, Some(nodes)));
    let listed = || {
        let missing = || Refusal::new(format!("{word} needs nodes")).advise(format!("write {word}:0, or another node"));
        let nodes = node_list(nodes.filter(|nodes| !nodes.trim().is_empty()).ok_or_else(missing)?)?;
        if nodes.is_empty() { Err(missing()) } else { Ok(nodes) }
    };
    match (word.trim(), nodes) {
        ("default", None) => Ok(MemoryPolicy::Default),
        ("local", None) => Ok(MemoryPolicy::Local),
        ("prefer", None) => Ok(MemoryPolicy::Local),
        ("prefer", Some(_)) => match listed()?[..] {
            [node] => Ok(MemoryPolicy::Prefer(node)),
            _ => Err(Refusal::new("prefer takes one node").advise("write interleave for several")),
        },
        ("bind", _) => listed().map(MemoryPolicy::Bind),
        ("interleave", _) => listed().map(MemoryPolicy::Interleave),
        _ => Err(Refusal::new("fio: memory policy should be: default, prefer, bind, interleave, local")),
    }
}

/// Reads `ignore_error`: lists of error numbers or names separated by colons, for reads, writes and verify,
/// separated by commas.
pub fn error_lists(text: &str) -> Result<[Vec<i32>; 3], Refusal> {
    let mut lists: [Vec<i32>; 3] = Default::default();
    for (index, list) in text.split(',').enumerate() {
        let Some(slot) = lists.get_mut(index) else {
            return Err(Refusal::new("more than three lists").advise("the lists are for read,write,verify"));
        };
        for item in list.split(':').map(str::trim).filter(|item| !item.is_empty()) {
            slot.push(error_number(item)?);
        }
    }
    Ok(lists)
}

fn error_number(item: &str) -> Result<i32, Refusal> {
    let number = item.parse::<i32>().ok().filter(|number| *number > 0).or_else(|| errno::number(item));
    number.ok_or_else(|| {
        let refusal = Refusal::new(format!("{item} is not an error number or error name such as ENOSPC"));
        match crate::lookup::nearest(item, errno::names()) {
            Some(near) => refusal.advise(format!("did you mean `{near}`?")),
            None => refusal,
        }
    })
}

/// Reads `percent/size` items separated by colons, as in `bssplit`, `zoned` and `zoned_abs`. `None` is a percentage
/// that was left out.
pub fn zones<T>(
    text: &str,
    percent_first: bool,
    mut read: impl FnMut(&str) -> Result<T, Refusal>,
) -> Result<Vec<(T, Option<u32>)>, Refusal> {
    let mut parts = Vec::new();
    for item in text.split(':').filter(|item| !item.is_empty()) {
        let (first, second) = item.split_once('/').map_or((item, None), |(first, second)| (first, Some(second)));
        let (size, percent) = if percent_first { (second.unwrap_or(""), Some(first)) } else { (first, second) };
        let percent = percent.filter(|text| !text.is_empty()).map(number::share).transpose()?;
        parts.push((read(size)?, percent));
    }
    Ok(parts)
}

/// Reads the script of the `sim` engine: `error:EIO@3,short:512@5,stall:1s@7,eof@9`.
pub fn sim_faults(text: &str) -> Result<Vec<SimFault>, Refusal> {
    let mut faults = Vec::new();
    for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let form = || {
            Refusal::new(format!("{item} is not a fault"))
                .advise("write error:EIO@3, short:512@5, stall:1s@7 or eof@9: kind, value, @ number of the request")
        };
        let (what, request) = item.rsplit_once('@').ok_or_else(form)?;
        let number = request.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(form)?;
        let kind = match what.split_once(':') {
            Some(("error", name)) => SimFaultKind::Error(error_number(name)?),
            Some(("short", bytes)) => {
                let bytes = number::size(bytes, &mut Reading::default())?;
                SimFaultKind::Short(u32::try_from(bytes).map_err(|_| form())?)
            }
            Some(("stall", length)) => SimFaultKind::Stall(time::time(length, TimeUnit::Microseconds)?),
            None if what == "eof" => SimFaultKind::EndOfFile,
            _ => return Err(form()),
        };
        let at = faults.partition_point(|fault: &SimFault| fault.number <= number);
        faults.insert(at, SimFault { number, kind });
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<u64, Refusal> {
        number::size(text, &mut Reading::default())
    }

    fn three(text: &str) -> [Option<u64>; 3] {
        let list = per_direction(text, bytes).unwrap();
        [list.read, list.write, list.trim]
    }

    #[test]
    fn lists_per_direction() {
        assert_eq!(three("4k"), [Some(4096); 3]);
        assert_eq!(three("4k,8k"), [Some(4096), Some(8192), Some(8192)]);
        assert_eq!(three(",8k"), [None, Some(8192), Some(8192)]);
        assert_eq!(three("8k,"), [Some(8192), None, None]);
        assert_eq!(three(",,8k"), [None, None, Some(8192)]);
        assert!(per_direction("1,2,3,4", bytes).is_err());
        let advice = refuse_range_look_alike("bs", "4k-16k").unwrap_err().advice.unwrap();
        assert!(advice.contains("bsrange=4k-16k"), "{advice}");
    }

    #[test]
    fn ranges_put_the_smaller_first() {
        assert_eq!(range("4k-1k", false, bytes), Ok((1024, 4096)));
        assert_eq!(range("1k:4k", false, bytes), Ok((1024, 4096)));
        assert_eq!(range("4k", true, bytes), Ok((4096, 4096)));
        assert!(range("4k", false, bytes).is_err());
    }

    #[test]
    fn names_split_at_colons_that_are_not_escaped() {
        assert_eq!(names("a:b"), ["a", "b"]);
        assert_eq!(names(r"f1\:x"), ["f1:x"]);
        assert_eq!(names(":a:b"), ["a", "b"]);
        assert_eq!(names(r"Z\:\"), [r"Z:\"]);
        assert_eq!(names(" /tmp/x"), ["/tmp/x"]);
    }

    #[test]
    fn floats_processors_and_errors() {
        assert_eq!(float_list("50:99:99.9", 0.0, 100.0, 20), Ok(vec![50.0, 99.0, 99.9]));
        assert!(float_list("50,99", 0.0, 100.0, 20).is_err());
        assert!(float_list("199", 0.0, 100.0, 20).is_err());
        assert_eq!(cpu_list("0-2,8"), Ok(vec![0, 1, 2, 8]));
        assert!(cpu_list("a").is_err());
        assert_eq!(error_lists("EIO,ENOSPC:28"), Ok([vec![5], vec![28, 28], vec![]]));
        assert!(error_lists("BOGUS").is_err());
    }

    #[test]
    fn scripted_faults() {
        let faults = sim_faults("error:EIO@3,short:512@5,stall:1s@7,eof@9").unwrap();
        let kinds: Vec<_> = faults.iter().map(|fault| (fault.number, fault.kind)).collect();
        assert_eq!(
            kinds,
            [
                (3, SimFaultKind::Error(5)),
                (5, SimFaultKind::Short(512)),
                (7, SimFaultKind::Stall(1_000_000_000)),
                (9, SimFaultKind::EndOfFile),
            ]
        );
        for text in ["error:EIO", "eof@0", "bogus@3", "short:x@3"] {
            assert!(sim_faults(text).is_err(), "{text}");
        }
    }
}
