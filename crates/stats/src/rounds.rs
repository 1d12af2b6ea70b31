//! The number and order of rounds.

/// Smallest and largest number of rounds of a comparison. Eight is the first number whose exact interval has 99 %
/// confidence (seven reach 98.4 %); from ten on the interval leaves the extreme rounds out.
pub const WINNER_ROUNDS: (u32, u32) = (8, 12);

/// Half width of a ratio that is narrow enough to stop if no difference is shown.
pub const WINNER_HALF_WIDTH: f64 = 0.1;

/// The order of the places in a round: A B C, C B A, B C A, A C B, and so on. Each two places take both orders in a
/// pair of rounds, so that neither the first turn nor a steady drift favours one of them. The place that begins
/// changes from pair to pair.
pub fn order_of_round(round: u32, places: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places).collect();
    order.rotate_left((round / 2) as usize % places.max(1));
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_any_two_places_each_goes_first_in_half_of_the_rounds() {
        assert_eq!((0..4).map(|round| order_of_round(round, 2)).collect::<Vec<_>>(), [[0, 1], [1, 0], [1, 0], [0, 1]]);
        for (places, rounds) in (2..=5).flat_map(|places| [2, 8, 12].map(|rounds| (places, rounds))) {
            let before = |one: usize, other: usize| {
                let first =
                    |round| order_of_round(round, places).into_iter().find(|place| [one, other].contains(place));
                (0..rounds).filter(|round| first(*round) == Some(one)).count()
            };
            for (one, other) in (0..places).flat_map(|one| (0..one).map(move |other| (one, other))) {
                assert_eq!(before(one, other), before(other, one), "{places} places, {rounds} rounds");
            }
        }
        assert!(order_of_round(3, 0).is_empty());
    }
}
