//! One row of the option table: what it says about an option, and how a value gets from text into a typed field.
//!
//! A [`OptionRow`] is generic over what it sets: job options set a [`Draft`](crate::draft::Draft), options of the
//! program set [`Settings`](crate::settings::Settings). Its [`Kind`] holds grammar and setter together, so that
//! a grammar cannot be paired with a setter of another type.

use std::fmt;

use crate::typed::Amount;
use crate::value::{Reading, Refusal};

mod kind;
mod status;

pub use kind::{Arity, Kind, Range, Value};
pub use status::{Choice, Status};

/// A value that was read and accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpreted {
    /// The value.
    pub value: Value,
    /// Why the value has no effect, or less effect than in fio.
    pub remark: Option<String>,
}

/// What a shell may offer as an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The words that the kind knows: its set, 0 and 1, or nothing.
    Kind,
    /// Names of files.
    Files,
    /// Names of directories.
    Directories,
    /// These words, for an option whose kind is free text.
    Words(&'static [&'static str]),
}

/// One option.
pub struct OptionRow<T: 'static> {
    /// The canonical name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Grammar and setter.
    pub kind: Kind<T>,
    /// The value that holds when the option is not written, as text; `None`: there is none.
    pub default: Option<&'static str>,
    /// Engines that have this option; empty: it belongs to every job.
    pub engines: &'static [&'static str],
    /// What it does, in one line.
    pub help: &'static str,
    /// How common it is, from 1 (in nearly every guide) to 4 (special devices).
    pub tier: u8,
    /// How far it is honoured.
    pub status: Status,
    /// What a shell may offer as its value.
    pub offer: Offer,
    /// Its value is shown nowhere.
    pub secret: bool,
}

impl<T> fmt::Debug for OptionRow<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<T> OptionRow<T> {
    /// A row that is honoured in full, of tier 2, without aliases, default or help.
    pub const fn new(name: &'static str, kind: Kind<T>) -> Self {
        OptionRow {
            name,
            aliases: &[],
            kind,
            default: None,
            engines: &[],
            help: "",
            tier: 2,
            status: Status::Full,
            offer: Offer::Kind,
            secret: false,
        }
    }

    /// Sets the one-line help.
    pub const fn help(mut self, help: &'static str) -> Self {
        self.help = help;
        self
    }

    /// Sets other names.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Sets the default text.
    pub const fn default(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// Sets the engines that have the option.
    pub const fn engines(mut self, engines: &'static [&'static str]) -> Self {
        self.engines = engines;
        self
    }

    /// Sets the tier.
    pub const fn tier(mut self, tier: u8) -> Self {
        self.tier = tier;
        self
    }

    /// Sets the status.
    pub const fn status(mut self, status: Status) -> Self {
        self.status = status;
        self
    }

    /// Sets what a shell may offer as its value.
    pub const fn offer(mut self, offer: Offer) -> Self {
        self.offer = offer;
        self
    }

    /// Keeps the value out of everything that is shown.
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The canonical name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Reads a text; the status of the row and of the word decides whether it is accepted.
    pub fn interpret(&self, text: Option<&str>, reading: &mut Reading) -> Result<Interpreted, Refusal> {
        let value = self.kind.read(self.name, text, reading)?;
        let mut interpreted = Interpreted { value, remark: None };
        if !self.is_harmless(&interpreted.value) {
            interpreted.remark = self.status.permit(self.name)?;
        }
        if let Value::Word(word) = &interpreted.value {
            let written = format!("{}={}", self.name, word.choice.word);
            let remark = match word.choice.status {
                Status::Partial(reason) => Some(format!("{written}: {reason}")),
                status => status.permit(&written)?,
            };
            interpreted.remark = interpreted.remark.or(remark);
        }
        Ok(interpreted)
    }

    /// Whether a value changes nothing: it is the default, or it switches off a feature that is not built.
    pub fn is_harmless(&self, value: &Value) -> bool {
        let off = match value {
            Value::Flag(on) | Value::Bool(on) => !on,
            Value::Integer(number) => *number == 0,
            Value::Size(size) | Value::Time(size) | Value::Amount(Amount::Bytes(size)) => *size == 0,
            Value::Numbers(list) | Value::Times(list) => list.iter().all(|(_, item)| item.unwrap_or(0) == 0),
            Value::Text(text) => text == "0",
            _ => false,
        };
        off || self.default.is_some_and(|text| {
            self.kind.read(self.name, Some(text), &mut Reading::default()).is_ok_and(|default| default == *value)
        })
    }
}
