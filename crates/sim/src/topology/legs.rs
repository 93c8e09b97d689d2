//! [`Leg`]: links of one kind on the longest path, whose delays together make up the round trip.

use crate::config::{ConfigError, Reader};
use shortflow_units::Span;

/// Links of one kind on the longest path.
pub(super) struct Leg {
    /// Number of links, one way.
    pub links: u64,
    /// The key with their delay and what it says.
    pub given: Option<(&'static str, Span)>,
}

impl Leg {
    /// Links whose delay `key` may give.
    pub(super) fn new(links: u64, key: &'static str, delay: Option<Span>) -> Leg {
        Leg { links, given: delay.map(|delay| (key, delay)) }
    }

    /// Links that take what the others leave.
    pub(super) fn rest(links: u64) -> Leg {
        Leg { links, given: None }
    }
}

/// One-way delay of the links of each leg, so that all of them together take `rtt` out and back. What
/// no key gives is shared equally.
pub(super) fn delays<const N: usize>(
    reader: &Reader,
    rtt: Span,
    legs: [Leg; N],
) -> Result<[Span; N], ConfigError> {
    let mut left = rtt;
    for leg in &legs {
        if let Some((key, delay)) = leg.given {
            let taken = delay.times(2 * leg.links);
            if taken > left {
                let reason = format!("{delay} on {} links out and back is beyond rtt = {rtt}", leg.links);
                return Err(reader.impossible(key, reason));
            }
            left = left.saturating_sub(taken);
        }
    }
    let open: u64 = legs.iter().filter(|leg| leg.given.is_none()).map(|leg| leg.links).sum();
    let share = left.divided_by(2 * open.max(1));
    Ok(legs.map(|leg| leg.given.map_or(share, |(_, delay)| delay)))
}
