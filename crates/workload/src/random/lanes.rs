//! Sums of draws of one stream, several side by side: each lane makes a part of what comes next.

use super::Tausworthe;

/// Number of lanes.
pub const LANES: usize = 8;

/// Number of draws of one sum.
pub const SUMMED_DRAWS: usize = 12;

/// One number for each lane.
type Lane<T> = [T; LANES];

/// How draws are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summing {
    /// A draw's quotient is `(draw * factor + summand) >> shift`.
    pub factor: u32,
    /// See `factor`.
    pub summand: u32,
    /// See `factor`.
    pub shift: u32,
    /// Whether a draw follows that is not summed.
    pub further: bool,
}

/// The next sum of each lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneSums {
    /// Sums of [`SUMMED_DRAWS`] draws.
    pub draws: Lane<u64>,
    /// Sums of their quotients.
    pub quotients: Lane<u64>,
    /// The draws that follow; unchanged if none follow.
    pub further: Lane<u32>,
}

/// The registers of each lane.
pub type LaneRegisters = [Lane<u32>; 3];

/// A function with the effect of [`sum_draws`].
pub type SumDraws = fn(&mut LaneRegisters, Summing, &mut LaneSums);

/// Makes the next sum of each lane, one draw after the other.
pub fn sum_draws(registers: &mut LaneRegisters, summing: Summing, sums: &mut LaneSums) {
    let Summing { factor, summand, shift, further } = summing;
    let [first, second, third] = registers;
    for (lane, first) in first.iter_mut().enumerate() {
        let mut stream = Tausworthe([*first, second[lane], third[lane]]);
        (sums.draws[lane], sums.quotients[lane]) = (0, 0);
        for _ in 0..SUMMED_DRAWS {
            let draw = u64::from(stream.draw());
            sums.draws[lane] += draw;
            sums.quotients[lane] += (draw * u64::from(factor) + u64::from(summand)) >> shift;
        }
        if further {
            sums.further[lane] = stream.draw();
        }
        [*first, second[lane], third[lane]] = stream.0;
    }
}

/// A stream in lanes.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    registers: LaneRegisters,
    /// What each bit of a register becomes while the other lanes make their parts.
    jump: [[u32; 32]; 3],
    pub(crate) sum_draws: SumDraws,
}

impl Lanes {
    /// `stream` in lanes, of which each makes `part` draws at a time.
    pub(crate) fn new(stream: Tausworthe, part: usize) -> Lanes {
        let mut stream = stream;
        let mut registers = [[0; LANES]; 3];
        for lane in 0..LANES {
            for (register, state) in registers.iter_mut().zip(stream.0) {
                register[lane] = state;
            }
            for _ in 0..part {
                stream.draw();
            }
        }
        let mut jump = [[0; 32]; 3];
        for bit in 0..32 {
            let mut alone = Tausworthe([1 << bit; 3]);
            for _ in 0..part * (LANES - 1) {
                alone.draw();
            }
            for (columns, state) in jump.iter_mut().zip(alone.0) {
                columns[bit] = state;
            }
        }
        Lanes { registers, jump, sum_draws }
    }

    /// The next sum of each lane.
    pub(crate) fn sum(&mut self, summing: Summing, sums: &mut LaneSums) {
        (self.sum_draws)(&mut self.registers, summing, sums);
    }

    /// Each lane has made its part: goes on to the next one.
    pub(crate) fn next_part(&mut self) {
        for (register, columns) in self.registers.iter_mut().zip(&self.jump) {
            for state in register {
                let (mut left, mut moved) = (*state, 0);
                while left != 0 {
                    moved ^= columns[left.trailing_zeros() as usize];
                    left &= left - 1;
                }
                *state = moved;
            }
        }
    }
}
