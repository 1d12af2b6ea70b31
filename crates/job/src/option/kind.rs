//! The kinds of values that options take.

use std::fmt;

use super::Choice;
use crate::direction::PerDirection;
use crate::typed::Amount;
use crate::value::{self, Reading, Refusal, TimeUnit, Word};

/// The smallest and the largest of a range.
pub type Range = (u64, u64);

/// The grammar of an option's value, with the function that stores the value read.
pub enum Kind<T: 'static> {
    /// No value at all (`--version`).
    Switch(fn(&mut T)),
    /// A value after `=` or none (`--cmdhelp[=X]`).
    OptionalText(fn(&mut T, Option<&str>) -> Result<(), Refusal>),
    /// A flag: alone or `=` with an integer, any but 0 meaning on.
    Flag(fn(&mut T, bool)),
    /// 0 or 1.
    Bool(fn(&mut T, bool)),
    /// An integer with its range; units as for sizes.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
        /// Stores it.
        set: fn(&mut T, i64),
    },
    /// `read[,write[,trim]]` numbers, each in the range.
    Numbers {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Stores them; `None` leaves a direction as it is.
        set: fn(&mut T, PerDirection<Option<u64>>),
    },
    /// Bytes, or another count that takes units.
    Size {
        /// Smallest.
        min: u64,
        /// Stores it.
        set: fn(&mut T, u64),
    },
    /// One size or `low-high`.
    SizeRange {
        /// Smallest.
        min: u64,
        /// Stores both ends.
        set: fn(&mut T, u64, u64),
    },
    /// `low-high[,low-high[,low-high]]`.
    SizeRanges(fn(&mut T, PerDirection<Option<Range>>)),
    /// Bytes or a percentage.
    Amount(fn(&mut T, Amount)),
    /// A time in nanoseconds.
    Time {
        /// What a bare number counts.
        unit: TimeUnit,
        /// Stores it.
        set: fn(&mut T, u64),
    },
    /// One time or `low-high`.
    TimeRange {
        /// What a bare number counts.
        unit: TimeUnit,
        /// Stores both ends.
        set: fn(&mut T, u64, u64),
    },
    /// `read[,write[,trim]]` times.
    Times {
        /// What a bare number counts.
        unit: TimeUnit,
        /// Stores them; `None` leaves a direction as it is.
        set: fn(&mut T, PerDirection<Option<u64>>),
    },
    /// A word of a set.
    Word {
        /// The set.
        choices: &'static [Choice],
        /// Stores it, or refuses what follows the colon.
        set: fn(&mut T, &Word) -> Result<(), Refusal>,
    },
    /// Floats separated by colons.
    Floats {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
        /// How many at most.
        count: usize,
        /// Stores them in the order written.
        set: fn(&mut T, &[f64]),
    },
    /// Free text, read further by its setter.
    Text(fn(&mut T, &str) -> Result<(), Refusal>),
}

/// A value that was read, and prints as a text that reads back to itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a switch.
    Nothing,
    /// Of optional text.
    Optional(Option<String>),
    /// Of a flag.
    Flag(bool),
    /// Of a boolean.
    Bool(bool),
    /// Of an integer.
    Integer(i64),
    /// Of numbers per direction.
    Numbers(PerDirection<Option<u64>>),
    /// Of a size.
    Size(u64),
    /// Of a range of sizes.
    SizeRange(u64, u64),
    /// Of ranges per direction.
    SizeRanges(PerDirection<Option<Range>>),
    /// Of an amount.
    Amount(Amount),
    /// Of a time, ns.
    Time(u64),
    /// Of a range of times, ns.
    TimeRange(u64, u64),
    /// Of times per direction, ns.
    Times(PerDirection<Option<u64>>),
    /// Of a word.
    Word(Word),
    /// Of floats.
    Floats(Vec<f64>),
    /// Of text.
    Text(String),
}

impl<T> Kind<T> {
    /// Reads a text. `None` is an option written without a value, which only some kinds take.
    pub fn read(&self, name: &str, text: Option<&str>, reading: &mut Reading) -> Result<Value, Refusal> {
        let Some(text) = text else {
            return self.read_nothing(name);
        };
        let text = if self.is_text() { text } else { value::without_comment(text, reading) };
        Ok(match self {
            Kind::Switch(_) => return Err(Refusal::new(format!("option '--{name}' doesn't allow an argument"))),
            Kind::OptionalText(_) => Value::Optional(Some(text.to_owned())),
            Kind::Flag(_) => Value::Flag(value::switch(text)? != 0),
            Kind::Bool(_) => Value::Bool(in_range(name, value::switch(text)?, 0, 1)? == 1),
            Kind::Integer { min, max, .. } => {
                let text = if self.is_share() { value::whole_share(text, reading) } else { text };
                Value::Integer(in_range(name, value::integer(text, reading)?, *min, *max)?)
            }
            Kind::Numbers { min, max, .. } => Value::Numbers(value::per_direction(text, |item| {
                value::refuse_range_look_alike(name, item)?;
                let item = if self.is_share() { value::whole_share(item, reading) } else { item };
                in_range(name, value::size(item, reading)?, *min, *max)
            })?),
            Kind::Size { min, .. } => Value::Size(in_range(name, value::size(text, reading)?, *min, u64::MAX)?),
            Kind::SizeRange { min, .. } => {
                let (low, high) = value::range(text, true, |item| value::size(item, reading))?;
                Value::SizeRange(in_range(name, low, *min, u64::MAX)?, high)
            }
            Kind::SizeRanges(_) => Value::SizeRanges(value::per_direction(text, |item| {
                value::range(item, false, |end| in_range(name, value::size(end, reading)?, 1, u64::MAX))
            })?),
            Kind::Amount(_) => Value::Amount(value::amount(text, reading)?),
            Kind::Time { unit, .. } => Value::Time(value::time(text, *unit)?),
            Kind::TimeRange { unit, .. } => {
                let (low, high) = value::time_range(text, *unit, reading)?;
                Value::TimeRange(low, high)
            }
            Kind::Times { unit, .. } => Value::Times(value::per_direction(text, |item| value::time(item, *unit))?),
            Kind::Word { choices, .. } => Value::Word(value::word(text, choices)?),
            Kind::Floats { min, max, count, .. } => {
                let text = if self.is_share() { value::without_percent(text, reading) } else { text };
                Value::Floats(value::float_list(text, *min, *max, *count)?)
            }
            Kind::Text(_) => Value::Text(text.trim().to_owned()),
        })
    }

    fn is_text(&self) -> bool {
        matches!(self, Kind::Switch(_) | Kind::OptionalText(_) | Kind::Word { .. } | Kind::Text(_))
    }

    /// Whether nothing but percent is counted here.
    fn is_share(&self) -> bool {
        matches!(
            self,
            Kind::Integer { min: 0, max: 100, .. }
                | Kind::Numbers { min: 0, max: 100, .. }
                | Kind::Floats { max: 100.0, count: 1, .. }
        )
    }

    fn read_nothing(&self, name: &str) -> Result<Value, Refusal> {
        match self {
            Kind::Switch(_) => Ok(Value::Nothing),
            Kind::OptionalText(_) => Ok(Value::Optional(None)),
            Kind::Flag(_) => Ok(Value::Flag(true)),
            _ => Err(Refusal::new(format!("Option {name} requires an argument")).advise(format!("write {name}=..."))),
        }
    }

    /// Stores a value that this kind has read.
    pub fn apply(&self, target: &mut T, value: &Value) -> Result<(), Refusal> {
        match (self, value) {
            (Kind::Switch(set), Value::Nothing) => set(target),
            (Kind::OptionalText(set), Value::Optional(text)) => return set(target, text.as_deref()),
            (Kind::Flag(set), Value::Flag(on)) | (Kind::Bool(set), Value::Bool(on)) => set(target, *on),
            (Kind::Integer { set, .. }, Value::Integer(number)) => set(target, *number),
            (Kind::Numbers { set, .. }, Value::Numbers(list)) => set(target, *list),
            (Kind::Size { set, .. }, Value::Size(size)) => set(target, *size),
            (Kind::SizeRange { set, .. }, Value::SizeRange(low, high)) => set(target, *low, *high),
            (Kind::SizeRanges(set), Value::SizeRanges(list)) => set(target, *list),
            (Kind::Amount(set), Value::Amount(amount)) => set(target, *amount),
            (Kind::Time { set, .. }, Value::Time(ns)) => set(target, *ns),
            (Kind::TimeRange { set, .. }, Value::TimeRange(low, high)) => set(target, *low, *high),
            (Kind::Times { set, .. }, Value::Times(list)) => set(target, *list),
            (Kind::Word { set, .. }, Value::Word(word)) => return set(target, word),
            (Kind::Floats { set, .. }, Value::Floats(floats)) => set(target, floats),
            (Kind::Text(set), Value::Text(text)) => return set(target, text),
            _ => return Err(Refusal::new("internal error: a value of another type in the option table")),
        }
        Ok(())
    }

    /// Whether and how the option takes a value on the command line.
    pub fn arity(&self) -> Arity {
        match self {
            Kind::Switch(_) => Arity::None,
            Kind::OptionalText(_) | Kind::Flag(_) => Arity::Optional,
            _ => Arity::Required,
        }
    }

    /// What `--cmdhelp` calls it.
    pub fn description(&self) -> &'static str {
        match self {
            Kind::Switch(_) => "no argument",
            Kind::OptionalText(_) => "string, may be left out (opt=bla)",
            Kind::Flag(_) => "empty or boolean value ([0|1])",
            Kind::Bool(_) => "boolean value (opt=1)",
            Kind::Integer { .. } => "integer value (opt=100)",
            Kind::Numbers { .. } => "one to three integer values (opt=4k[,8k[,16k]])",
            Kind::Size { .. } => "size (opt=100m)",
            Kind::SizeRange { .. } => "size or range of sizes (opt=1m-4m)",
            Kind::SizeRanges(_) => "one to three ranges (opt=1k-4k[,4k-8k[,1k-8k]])",
            Kind::Amount(_) => "size or percentage (opt=100m or opt=50%)",
            Kind::Time { .. } => "string with time postfix (opt=10s)",
            Kind::TimeRange { .. } => "time or range of times (opt=10s or opt=5-10)",
            Kind::Times { .. } => "one to three times (opt=10ms[,20ms[,30ms]])",
            Kind::Word { .. } => "word of the list below",
            Kind::Floats { .. } => "list of floating point values separated by ':' (opt=5.9:7.8)",
            Kind::Text(_) => "string (opt=bla)",
        }
    }

    /// The words, for kinds that have a set of them.
    pub fn choices(&self) -> &'static [Choice] {
        match self {
            Kind::Word { choices, .. } => choices,
            _ => &[],
        }
    }

    /// `min=.., max=..` in `--cmdhelp`.
    pub fn range(&self) -> Option<String> {
        match self {
            Kind::Bool(_) => Some("min=0, max=1".to_owned()),
            Kind::Integer { min, max, .. } => Some(format!("min={min}, max={max}")),
            Kind::Numbers { min, max, .. } => Some(format!("min={min}, max={max}")),
            Kind::Size { min, .. } | Kind::SizeRange { min, .. } if *min > 0 => Some(format!("min={min}")),
            Kind::Floats { min, max, .. } => Some(format!("min={min:.6}, max={max:.6}")),
            _ => None,
        }
    }
}

/// Whether an option takes a value on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Never.
    None,
    /// Only with `=`.
    Optional,
    /// With `=` or as the next word.
    Required,
}

fn in_range<N: PartialOrd + fmt::Display>(name: &str, number: N, min: N, max: N) -> Result<N, Refusal> {
    if number < min {
        return Err(Refusal::new(format!("{name}: min value out of range: {number} ({min} min)")));
    }
    if number > max {
        return Err(Refusal::new(format!("{name}: max value out of range: {number} ({max} max)")));
    }
    Ok(number)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nothing | Value::Optional(None) => Ok(()),
            Value::Optional(Some(text)) | Value::Text(text) => f.write_str(text),
            Value::Flag(on) | Value::Bool(on) => write!(f, "{}", u8::from(*on)),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Size(size) | Value::Amount(Amount::Bytes(size)) => write!(f, "{size}"),
            Value::Amount(Amount::Percent(percent)) => write!(f, "{percent}%"),
            Value::Amount(Amount::Zones(zones)) => write!(f, "{zones}z"),
            Value::SizeRange(low, high) => write!(f, "{low}-{high}"),
            Value::Time(ns) => write!(f, "{}", microseconds(*ns)),
            Value::TimeRange(low, high) => write!(f, "{}-{}", microseconds(*low), microseconds(*high)),
            Value::Numbers(list) => write_list(f, list, |number| number.to_string()),
            Value::Times(list) => write_list(f, list, |ns| microseconds(*ns)),
            Value::SizeRanges(list) => write_list(f, list, |(low, high)| format!("{low}-{high}")),
            Value::Word(word) => match &word.tail {
                Some(tail) => write!(f, "{}:{tail}", word.choice.word),
                None => f.write_str(word.choice.word),
            },
            Value::Floats(floats) => {
                let texts: Vec<String> = floats.iter().map(f64::to_string).collect();
                f.write_str(&texts.join(":"))
            }
        }
    }
}

/// Times have a resolution of a microsecond in the language.
fn microseconds(ns: u64) -> String {
    format!("{}us", ns / 1_000)
}

fn write_list<V>(
    f: &mut fmt::Formatter<'_>,
    list: &PerDirection<Option<V>>,
    print: impl Fn(&V) -> String,
) -> fmt::Result {
    let texts: Vec<String> = list.iter().map(|(_, item)| item.as_ref().map(&print).unwrap_or_default()).collect();
    f.write_str(&texts.join(","))
}
