//! [`DelaySegment`]: links of one kind on the longest path. The delays of all segments make up the round
//! trip.

use crate::config::{ConfigError, Reader};
use shortflow_units::Span;

/// Links of one kind on the longest path.
pub(super) struct DelaySegment {
    /// Number of links in one direction.
    pub links: u64,
    /// Key that sets the delay of a link, and its value.
    pub given: Option<(&'static str, Span)>,
}

impl DelaySegment {
    /// Links whose delay `key` sets if `delay` is given.
    pub(super) fn new(links: u64, key: &'static str, delay: Option<Span>) -> DelaySegment {
        DelaySegment { links, given: delay.map(|delay| (key, delay)) }
    }

    /// Links that share the remaining delay.
    pub(super) fn rest(links: u64) -> DelaySegment {
        DelaySegment { links, given: None }
    }
}

/// One-way delay of a link of each segment. All segments together take `rtt` in both directions. Links
/// without a given delay share the remainder equally.
pub(super) fn delays<const N: usize>(
    reader: &Reader,
    rtt: Span,
    segments: [DelaySegment; N],
) -> Result<[Span; N], ConfigError> {
    let mut left = rtt;
    for segment in &segments {
        if let Some((key, delay)) = segment.given {
            let taken = delay.times(2 * segment.links);
            if taken > left {
                let reason =
                    format!("{delay} on {} links in both directions exceeds rtt = {rtt}", segment.links);
                return Err(reader.impossible(key, reason));
            }
            left = left.saturating_sub(taken);
        }
    }
    let open: u64 = segments.iter().filter(|each| each.given.is_none()).map(|each| each.links).sum();
    let share = left.divided_by(2 * open.max(1));
    Ok(segments.map(|segment| segment.given.map_or(share, |(_, delay)| delay)))
}
