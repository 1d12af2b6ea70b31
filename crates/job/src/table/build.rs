//! Short constructors for the rows of the table.

use crate::direction::PerDirection;
use crate::draft::Draft;
use crate::option::{Choice, Kind, OptionRow};
use crate::typed::Amount;
use crate::value::{Refusal, TimeUnit, Word};

/// Largest count that an unsigned option takes.
pub(super) const COUNT_MAX: i64 = u32::MAX as i64;

pub(super) const fn option(name: &'static str, kind: Kind<Draft>) -> OptionRow<Draft> {
    OptionRow::new(name, kind)
}

pub(super) const fn flag<T>(set: fn(&mut T, bool)) -> Kind<T> {
    Kind::Flag(set)
}

pub(super) const fn boolean<T>(set: fn(&mut T, bool)) -> Kind<T> {
    Kind::Bool(set)
}

pub(super) const fn integer<T>(min: i64, max: i64, set: fn(&mut T, i64)) -> Kind<T> {
    Kind::Integer { min, max, set }
}

pub(super) const fn numbers<T>(min: u64, max: u64, set: fn(&mut T, PerDirection<Option<u64>>)) -> Kind<T> {
    Kind::Numbers { min, max, set }
}

pub(super) const fn size<T>(min: u64, set: fn(&mut T, u64)) -> Kind<T> {
    Kind::Size { min, set }
}

pub(super) const fn amount<T>(set: fn(&mut T, Amount)) -> Kind<T> {
    Kind::Amount(set)
}

pub(super) const fn seconds<T>(set: fn(&mut T, u64)) -> Kind<T> {
    Kind::Time { unit: TimeUnit::Seconds, set }
}

pub(super) const fn microseconds<T>(set: fn(&mut T, u64)) -> Kind<T> {
    Kind::Time { unit: TimeUnit::Microseconds, set }
}

pub(super) const fn word<T>(choices: &'static [Choice], set: fn(&mut T, &Word) -> Result<(), Refusal>) -> Kind<T> {
    Kind::Word { choices, set }
}

pub(super) const fn text<T>(set: fn(&mut T, &str) -> Result<(), Refusal>) -> Kind<T> {
    Kind::Text(set)
}

pub(super) const fn floats<T>(min: f64, max: f64, count: usize, set: fn(&mut T, &[f64])) -> Kind<T> {
    Kind::Floats { min, max, count, set }
}

/// Stores nothing; the row's status says why.
pub(super) fn ignore<T, V>(_: &mut T, _: V) {}

/// The reason of options that fio itself ignores.
pub(super) const DEPRECATED: &str = "fio says that it is deprecated, and does nothing with it";

/// Stores no floats.
pub(super) fn ignore_floats<T>(_: &mut T, _: &[f64]) {}

/// Stores no word.
pub(super) fn ignore_word<T>(_: &mut T, _: &Word) -> Result<(), Refusal> {
    Ok(())
}

/// Stores no text.
pub(super) fn ignore_text<T>(_: &mut T, _: &str) -> Result<(), Refusal> {
    Ok(())
}

/// Converts an integer whose range the grammar has checked.
pub(super) fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Copies the directions that were written; the others keep their value.
pub(super) fn merge<V: Copy, W>(into: &mut PerDirection<W>, list: PerDirection<Option<V>>, convert: impl Fn(V) -> W) {
    for (direction, item) in list.iter() {
        if let Some(value) = item {
            into[direction] = convert(*value);
        }
    }
}
