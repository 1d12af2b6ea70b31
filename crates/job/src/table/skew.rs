//! Reads what follows the colon of `random_distribution`: the shape of a curve, zones, or a sequence of blocks.

use crate::direction::PerDirection;
use crate::value::{self, Reading, Refusal};

/// Parameter and centre of a curve.
type Shape = (f64, Option<f64>);

/// The most zones of a direction.
const ZONES_MAX: usize = 256;

/// The most blocks of a sequence.
const SEQUENCE_MAX: usize = 64;

/// Reads `theta[:centre]`.
pub(super) fn zipf(tail: Option<&str>) -> Result<Shape, Refusal> {
    let (theta, centre) = shape(tail, 1.1)?;
    if theta <= 0.0 || theta == 1.0 {
        return Err(Refusal::new("zipf theta must be above 0 and different from 1.0"));
    }
    Ok((theta, centre))
}

/// Reads `h[:centre]`.
pub(super) fn pareto(tail: Option<&str>) -> Result<Shape, Refusal> {
    let (h, centre) = shape(tail, 0.2)?;
    if h <= 0.0 || h >= 1.0 {
        return Err(Refusal::new("pareto input out of range (0 < input < 1.0)"));
    }
    Ok((h, centre))
}

/// Reads `deviation[:centre]`.
pub(super) fn normal(tail: Option<&str>) -> Result<Shape, Refusal> {
    let (deviation, centre) = shape(tail, 0.0)?;
    if !(0.0..100.0).contains(&deviation) {
        return Err(Refusal::new("normal deviation out of range (0 <= input < 100.0)"));
    }
    Ok((deviation, centre))
}

fn shape(tail: Option<&str>, default: f64) -> Result<Shape, Refusal> {
    let Some(tail) = tail else {
        return Ok((default, None));
    };
    let numbers = value::float_list(tail, 0.0, f64::MAX, 2)?;
    let centre = numbers.get(1).copied();
    if centre.is_some_and(|centre| centre > 1.0) {
        return Err(Refusal::new("the centre is a share of the range (0 to 1)"));
    }
    Ok((numbers.first().copied().unwrap_or(default), centre))
}

/// Reads `percent of I/O/percent of the range:...` for each direction. Zones without a percentage share the rest.
pub(super) fn zones(text: &str) -> Result<PerDirection<Vec<(u32, u32)>>, Refusal> {
    each_direction(text, |parts: Vec<(Option<u32>, Option<u32>)>| {
        let accesses = accesses(&parts)?;
        let sizes: Vec<Option<u32>> = parts.iter().map(|part| part.0).collect();
        let given: u32 = sizes.iter().flatten().sum();
        let sizes = match share_rest(&sizes) {
            Ok(sizes) => sizes,
            // The rest of the range is not used.
            Err(less) if less < 100 => sizes.into_iter().map(Option::unwrap_or_default).collect(),
            Err(_) => {
                let reason = format!("fio: zone_split percentages add to more than 100% (got={given})");
                return Err(Refusal::new(reason).advise("make the sizes add up to 100 or less"));
            }
        };
        Ok(accesses.into_iter().zip(sizes).collect())
    })
}

/// Reads `percent of I/O/bytes:...` for each direction.
pub(super) fn zones_of_bytes(text: &str) -> Result<PerDirection<Vec<(u32, u64)>>, Refusal> {
    each_direction(text, |parts: Vec<(Option<u64>, Option<u32>)>| {
        let accesses = accesses(&parts)?;
        let size = |part: &(Option<u64>, _)| {
            part.0.filter(|bytes| *bytes > 0).ok_or_else(|| Refusal::new("each zone needs a size of at least one byte"))
        };
        accesses.into_iter().zip(&parts).map(|(access, part)| Ok((access, size(part)?))).collect()
    })
}

/// The share of the I/O of each zone, percent.
fn accesses<V>(parts: &[(Option<V>, Option<u32>)]) -> Result<Vec<u32>, Refusal> {
    let percents: Vec<Option<u32>> = parts.iter().map(|part| part.1).collect();
    share_rest(&percents).map_err(|given| {
        let reason = format!("fio: access percentage don't add up to 100 for zoned random distribution (got={given})");
        Refusal::new(reason).advise("make the shares of the I/O add up to 100, or leave some out to share the rest")
    })
}

fn each_direction<V: Clone, S: SizeOfZone>(
    text: &str,
    finish: impl Fn(Vec<(Option<S>, Option<u32>)>) -> Result<Vec<(u32, V)>, Refusal>,
) -> Result<PerDirection<Vec<(u32, V)>>, Refusal> {
    let lists = value::per_direction(text, |item| {
        let parts = value::zones(item, true, |size| if size.is_empty() { Ok(None) } else { S::read(size).map(Some) })?;
        if parts.len() > ZONES_MAX {
            return Err(Refusal::new(format!("{} zones, but the maximum is {ZONES_MAX}", parts.len())));
        }
        finish(parts)
    })?;
    if lists.iter().all(|(_, list)| list.is_none()) {
        return Err(Refusal::new("no zones").advise("write zoned:60/10:40/90, or zoned_abs:60/1g:40/9g"));
    }
    Ok(PerDirection {
        read: lists.read.unwrap_or_default(),
        write: lists.write.unwrap_or_default(),
        trim: lists.trim.unwrap_or_default(),
    })
}

/// The two ways to write the size of a zone.
trait SizeOfZone: Sized {
    fn read(text: &str) -> Result<Self, Refusal>;
}

/// In percent of the range.
impl SizeOfZone for u32 {
    fn read(text: &str) -> Result<u32, Refusal> {
        value::share(text)
    }
}

/// In bytes.
impl SizeOfZone for u64 {
    fn read(text: &str) -> Result<u64, Refusal> {
        value::size(text, &mut Reading::default())
    }
}

/// Reads `block,block,...`.
pub(super) fn sequence(text: &str) -> Result<Vec<u64>, Refusal> {
    if text.is_empty() {
        return Err(Refusal::new("fio: missing pattern in sequence distribution").advise("write sequence:0,3,1"));
    }
    let number = |item: &str| {
        item.trim()
            .parse()
            .map_err(|_| Refusal::new(format!("fio: invalid or negative element <{item}> in random_sequence")))
    };
    let blocks = text.split(',').map(number).collect::<Result<Vec<u64>, _>>()?;
    if blocks.len() > SEQUENCE_MAX {
        return Err(Refusal::new(format!("{} blocks, but the maximum is {SEQUENCE_MAX}", blocks.len())));
    }
    Ok(blocks)
}

/// Replaces percentages that were left out: they share the rest of 100 equally, and the first ones take the remainder
/// of the division. The error is the sum, if it is not 100.
pub(super) fn share_rest(percents: &[Option<u32>]) -> Result<Vec<u32>, u32> {
    let given: u32 = percents.iter().flatten().sum();
    let missing = percents.iter().filter(|percent| percent.is_none()).count() as u32;
    if given > 100 || (given < 100 && missing == 0) {
        return Err(given);
    }
    let rest = 100 - given;
    let mut left_over = rest.checked_rem(missing).unwrap_or(0);
    let share = |percent: &Option<u32>| {
        percent.unwrap_or_else(|| {
            let extra = left_over.min(1);
            left_over -= extra;
            rest / missing.max(1) + extra
        })
    };
    Ok(percents.iter().map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_left_open_share_the_rest() {
        assert_eq!(zones("50/:50/"), Ok(PerDirection::all(vec![(50, 50), (50, 50)])));
        assert_eq!(zones("/10:/20"), Ok(PerDirection::all(vec![(50, 10), (50, 20)])));
        let two = PerDirection { read: vec![(90, 10), (10, 90)], write: vec![(100, 50)], trim: vec![(100, 50)] };
        assert_eq!(zones("90/10:10/90,100/50"), Ok(two));
        assert_eq!(zones_of_bytes("60/16k:40/1m"), Ok(PerDirection::all(vec![(60, 16 << 10), (40, 1 << 20)])));
    }

    #[test]
    fn sums_are_checked_in_fio_s_words() {
        let reason = |text| zones(text).unwrap_err().reason;
        assert!(reason("50/50").contains("don't add up to 100 for zoned random distribution (got=50)"));
        for text in ["60/50:50/50", "60/60:50/50"] {
            assert!(reason(text).contains("don't add up to 100"), "{text}");
        }
        assert!(reason("50/60:50/60").contains("zone_split percentages add to more than 100%"));
        assert!(zones("").is_err() && zones_of_bytes("100/").is_err() && zones_of_bytes("100/0").is_err());
    }

    #[test]
    fn sequences_are_plain_numbers() {
        assert_eq!(sequence("0,3,1"), Ok(vec![0, 3, 1]));
        assert!(sequence("").unwrap_err().reason.contains("missing pattern"));
        assert!(sequence("0:3").unwrap_err().reason.contains("<0:3>"));
        assert!(sequence("-1").is_err() && sequence(&["0"; 65].join(",")).is_err());
    }
}
