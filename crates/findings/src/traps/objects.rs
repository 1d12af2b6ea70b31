//! The traps of object stores: what the answers of a server say. A program that is built without object stores has none of
//! them.

mod answers;
pub(crate) mod checksum_cost;
pub(crate) mod client_bound;
pub(crate) mod clock_skew;
pub(crate) mod delayed_ack;
pub(crate) mod first_byte_only;
pub(crate) mod hot_object;
pub(crate) mod no_keep_alive;
pub(crate) mod object_missing;
pub(crate) mod one_endpoint;
pub(crate) mod refused;
pub(crate) mod retries_hidden;
pub(crate) mod rwnd_limited;

use super::{Trap, seen};
use crate::explanation::Explanation;

/// By number.
pub(crate) const ALL: &[Trap] = &[
    seen(&object_missing::EXPLANATION, object_missing::find),
    seen(&no_keep_alive::EXPLANATION, no_keep_alive::find),
    seen(&hot_object::EXPLANATION, hot_object::find),
    seen(&first_byte_only::EXPLANATION, first_byte_only::find),
    seen(&delayed_ack::EXPLANATION, delayed_ack::find),
    seen(&clock_skew::EXPLANATION, clock_skew::find),
    seen(&one_endpoint::EXPLANATION, one_endpoint::find),
    seen(&checksum_cost::EXPLANATION, checksum_cost::find),
    seen(&client_bound::EXPLANATION, client_bound::find),
    seen(&rwnd_limited::EXPLANATION, rwnd_limited::find),
];

/// The traps of phases, by number.
pub(crate) const OF_PHASES: &[&Explanation] = &[&retries_hidden::EXPLANATION];
