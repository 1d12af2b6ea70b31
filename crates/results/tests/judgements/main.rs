//! How often the judgements are right, with noise of known kinds: the tables of docs/measurement.md.
//! `FSDYNO_MEASUREMENT=write cargo test -p fsdyno-results --test judgements` writes today's figures.

mod changes;
mod document;
mod knees;
mod loads;
mod noise;
mod warm_ups;
mod winners;

/// Number of cases for each figure.
const CASES: u64 = 4000;

/// Shares of cases in which each condition holds; each case has a random stream of its own.
fn shares<const THINGS: usize>(hold: impl Fn(&mut noise::Random) -> [bool; THINGS]) -> [f64; THINGS] {
    shares_of(CASES, hold)
}

/// The same with this number of cases.
fn shares_of<const THINGS: usize>(cases: u64, hold: impl Fn(&mut noise::Random) -> [bool; THINGS]) -> [f64; THINGS] {
    let mut counts = [0.0; THINGS];
    for case in 0..cases {
        let held = hold(&mut noise::Random::new(0x5eed ^ (case << 20)));
        counts.iter_mut().zip(held).for_each(|(count, held)| *count += f64::from(u8::from(held)));
    }
    counts.map(|count| count / cases as f64)
}

/// A share as a cell of a table: `4.9 %`.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
