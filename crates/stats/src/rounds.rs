//! The number and order of rounds.

/// The fewest and the most rounds of a comparison. Eight are the first whose exact interval has 99 % confidence (seven
/// reach 98.4 %); from ten on it leaves the extreme rounds out.
pub const WINNER_ROUNDS: (u32, u32) = (8, 12);

/// The half width of a ratio that is narrow enough where no difference is shown.
pub const WINNER_HALF_WIDTH: f64 = 0.1;

/// The places in the order of a round: A B C, C B A, B C A, A C B, and so on. Of any two, each goes before the other in
/// one round of a pair, so that neither going first nor a steady drift favours one; which goes first of all moves on
/// from pair to pair.
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
