//! Alternates runs: A B, B A, A B, … so that a drift of the machine affects both tools equally.

/// The values of both tools, one of each per round.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pairs {
    pub(super) fio: Vec<f64>,
    pub(super) ours: Vec<f64>,
}

impl Pairs {
    /// fio's median; `None` without fio.
    pub(super) fn fio_median(&self) -> Option<f64> {
        median(&self.fio)
    }

    /// Our median.
    pub(super) fn our_median(&self) -> Option<f64> {
        median(&self.ours)
    }

    /// The median of the ratios fio / ours of the rounds, as a neighbour disturbs both tools of a round. `None` if our
    /// value is too small to be measured.
    pub(super) fn fio_over_ours(&self) -> Option<f64> {
        let ratios: Vec<f64> = self.fio.iter().zip(&self.ours).map(|(fio, ours)| fio / ours).collect();
        median(&ratios).filter(|ratio| ratio.is_finite())
    }

    /// One pair of means in place of the rounds, for values that the kernel samples so coarsely that a single round may
    /// get 0.
    pub(super) fn averaged(&self) -> Pairs {
        let mean = |values: &[f64]| {
            let sum: f64 = values.iter().sum();
            (!values.is_empty()).then(|| sum / values.len() as f64).into_iter().collect()
        };
        Pairs { fio: mean(&self.fio), ours: mean(&self.ours) }
    }
}

/// Runs `rounds` rounds of both sides (`true` is ours), every second one in reverse order.
pub(super) fn alternate<T>(
    rounds: usize,
    has_fio: bool,
    mut run: impl FnMut(bool) -> Result<T, String>,
) -> Result<(Vec<T>, Vec<T>), String> {
    let (mut fio, mut ours) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let order = if round % 2 == 0 { [true, false] } else { [false, true] };
        for is_ours in order {
            if is_ours {
                ours.push(run(true)?);
            } else if has_fio {
                fio.push(run(false)?);
            }
        }
    }
    Ok((fio, ours))
}

/// The median; of an even number of values, the mean of the middle two.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        let pairs = Pairs { fio: vec![10.0, 30.0, 40.0], ours: vec![5.0, 10.0, 40.0] };
        assert_eq!(pairs.fio_over_ours(), Some(2.0));
        let coarse = Pairs { fio: vec![2.0, 4.0], ours: vec![0.0, 1.0] };
        assert_eq!(coarse.averaged(), Pairs { fio: vec![3.0], ours: vec![0.5] });
        assert_eq!(Pairs { fio: vec![2.0], ours: vec![0.0] }.fio_over_ours(), None);
        assert_eq!(Pairs::default().averaged(), Pairs::default());
    }

    #[test]
    fn the_order_turns_every_second_round() {
        let mut order = Vec::new();
        let (fio, ours) = alternate(3, true, |is_ours| {
            order.push(is_ours);
            Ok(())
        })
        .unwrap();
        assert_eq!(order, [true, false, false, true, true, false]);
        assert_eq!((fio.len(), ours.len()), (3, 3));
        assert_eq!(alternate(2, false, |_| Ok(())).unwrap().0.len(), 0);
    }
}
