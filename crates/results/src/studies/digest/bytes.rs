//! Stores digests in few bytes, because thousands are read at once: numbers as in packed histograms, texts after
//! their length, figures as they are.

use std::slice::Iter;

use super::{Digest, DigestTarget, DigestTest};
use crate::studies::{Measure, Question, Trust};
use fsdyno_stats::packed::{put, put_text, take, take_bytes, take_text};

impl Digest {
    /// Appends the digest to these bytes.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        let Digest {
            id,
            question,
            version,
            started_ms,
            complete,
            host_name,
            lacks_ranks,
            failed,
            trust,
            kernel,
            cpus,
            targets,
            rows,
            tests,
        } = self;
        put_text(bytes, id);
        put_text(bytes, question.word());
        put_text(bytes, version);
        let flags = [complete, lacks_ranks, failed].map(|flag| u64::from(*flag));
        for number in [*started_ms, flags[0], flags[1], flags[2], *trust as u64, *rows as u64] {
            put(bytes, number);
        }
        put_option(bytes, host_name.as_deref());
        put_option(bytes, kernel.as_deref());
        put(bytes, cpus.map_or(0, |cpus| u64::from(cpus) + 1));
        put(bytes, targets.len() as u64);
        for DigestTarget { name, path, fstype } in targets {
            put_text(bytes, name);
            put_text(bytes, path);
            put_option(bytes, fstype.as_deref());
        }
        put(bytes, tests.len() as u64);
        for DigestTest { target, pattern, plan, trust, unexamined, is_phase, figures, rounds } in tests {
            put_text(bytes, pattern);
            for number in [*target as u64, *plan, *trust as u64, u64::from(*unexamined), u64::from(*is_phase)] {
                put(bytes, number);
            }
            put_figures(bytes, figures);
            put(bytes, rounds.len() as u64);
            rounds.iter().for_each(|round| put_figures(bytes, round));
        }
    }

    /// Takes the next digest from these bytes; `None`: there is none, or they are damaged.
    pub fn take(bytes: &mut Iter<'_, u8>) -> Option<Digest> {
        let (id, word, version) = (take_text(bytes)?, take_text(bytes)?, take_text(bytes)?);
        Some(Digest {
            id,
            question: Question::ALL.into_iter().find(|question| question.word() == word)?,
            version,
            started_ms: take(bytes)?,
            complete: take(bytes)? != 0,
            lacks_ranks: take(bytes)? != 0,
            failed: take(bytes)? != 0,
            trust: take_trust(bytes)?,
            rows: take(bytes)? as usize,
            host_name: take_option(bytes)?,
            kernel: take_option(bytes)?,
            cpus: take(bytes)?.checked_sub(1).map(|cpus| cpus as u32),
            targets: take_list(bytes, |bytes| {
                Some(DigestTarget { name: take_text(bytes)?, path: take_text(bytes)?, fstype: take_option(bytes)? })
            })?,
            tests: take_list(bytes, take_test)?,
        })
    }
}

fn take_test(bytes: &mut Iter<'_, u8>) -> Option<DigestTest> {
    Some(DigestTest {
        pattern: take_text(bytes)?,
        target: take(bytes)? as usize,
        plan: take(bytes)?,
        trust: take_trust(bytes)?,
        unexamined: take(bytes)? != 0,
        is_phase: take(bytes)? != 0,
        figures: take_figures(bytes)?,
        rounds: take_list(bytes, take_figures)?,
    })
}

/// Figures are never 0, so that 0 stands for `None`.
fn put_figures(bytes: &mut Vec<u8>, figures: &[Option<f64>]) {
    figures.iter().for_each(|figure| bytes.extend(figure.unwrap_or(0.0).to_le_bytes()));
}

fn take_figures(bytes: &mut Iter<'_, u8>) -> Option<[Option<f64>; Measure::ALL.len()]> {
    let mut figures = [None; Measure::ALL.len()];
    for figure in &mut figures {
        let value = f64::from_le_bytes(take_bytes(bytes, size_of::<f64>())?.try_into().ok()?);
        *figure = Some(value).filter(|value| *value != 0.0);
    }
    Some(figures)
}

/// A 1 stands before a text that is there, a 0 for `None`.
fn put_option(bytes: &mut Vec<u8>, text: Option<&str>) {
    put(bytes, u64::from(text.is_some()));
    text.inspect(|text| put_text(bytes, text));
}

fn take_option(bytes: &mut Iter<'_, u8>) -> Option<Option<String>> {
    if take(bytes)? == 0 { Some(None) } else { take_text(bytes).map(Some) }
}

fn take_trust(bytes: &mut Iter<'_, u8>) -> Option<Trust> {
    [Trust::Ok, Trust::Caution, Trust::Invalid].get(take(bytes)? as usize).copied()
}

/// Takes a number, then that number of items.
fn take_list<T>(bytes: &mut Iter<'_, u8>, mut item: impl FnMut(&mut Iter<'_, u8>) -> Option<T>) -> Option<Vec<T>> {
    let count = take(bytes)?;
    // Each item takes at least one byte.
    (count <= bytes.len() as u64).then_some(())?;
    (0..count).map(|_| item(bytes)).collect()
}
