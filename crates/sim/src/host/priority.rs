//! The priority that a sender gives each data packet, for queues that reorder: lower leaves sooner.
//! ACKs and connection requests have the best one, 0.
//!
//! | rule | number in the packet | scheduling that it asks for |
//! |---|---|---|
//! | size | bytes of the message | shortest job first (pECN §4.2) |
//! | size-dscp, size-class | the size as a DSCP of 64 levels and as one of eight classes, see [`dscp`] | the same, as far as switches that are bought tell packets apart |
//! | remaining | its bytes not yet acknowledged | shortest remaining time first (pFabric §4.1) |
//! | sent | its bytes sent before | least attained service first |
//! | deadline | when it should be complete, in picoseconds | earliest deadline first (pECN §4.2) |
//! | levels | thresholds that the bytes sent before have reached | PIAS §3.1 |
//!
//! Choices:
//! - The smallest number for data is 1 with size, remaining and deadline, so ACKs go first.
//! - Backlogged flows are last by size and remaining bytes, flows without a deadline by deadline.
//! - A retransmitted segment gets the present priority, not its first one.
//! - PIAS computes its thresholds from the distribution of flow sizes. Decades are the default here;
//!   set them for a workload with `priority.thresholds`.

use super::message::Message;
use crate::config::keys;
use shortflow_spec::{RISING_SIZES, RisingSizes, words};
use shortflow_units::{Bytes, Instant};

words! {
    /// Source of a packet's priority.
    pub enum By {
        /// Nothing: all packets are alike.
        None = "none",
        /// The size of the message.
        Size = "size",
        /// The size as the DSCP carries it.
        SizeDscp = "size-dscp",
        /// The size as one of eight classes.
        SizeClass = "size-class",
        /// Bytes of the message not yet acknowledged.
        Remaining = "remaining",
        /// Bytes of the message already sent.
        Sent = "sent",
        /// Its deadline.
        Deadline = "deadline",
        /// Number of thresholds that the sent bytes have reached.
        Levels = "levels",
    }
}

keys! {
    /// Rule by which senders set the priority of their packets.
    #[derive(Copy)]
    pub struct PriorityRule {
        /// source of a packet's priority
        pub by: By = "none", By::WORDS;
        /// bytes sent at which a flow falls one level, with by=levels
        pub thresholds: RisingSizes = "10KB,100KB,1MB,10MB", RISING_SIZES, acts: by == levels;
    }
}

/// A size as a DSCP carries it: four levels per doubling from 1 KiB to 64 MiB, and at least 1. Its eighth is the
/// class, which changes at 4, 16, 64 and 256 KiB, 1, 4 and 16 MiB.
pub fn dscp(size: Bytes) -> u64 {
    let Some(doublings) = size.get().checked_ilog2().filter(|bits| *bits >= 10) else { return 1 };
    let quarter = size.get() >> (doublings - 2) & 3;
    (u64::from(doublings - 10) * 4 + quarter).clamp(1, 63)
}

impl PriorityRule {
    /// True if all packets are alike.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.by == By::None
    }

    /// The priority of a segment of `message` when `snd_una` is the first unacknowledged byte and `snd_max` one
    /// past the highest byte sent before.
    pub fn of(&self, message: &Message, snd_una: u64, snd_max: u64) -> u64 {
        let sent = snd_max.clamp(message.start, message.end) - message.start;
        match self.by {
            By::None => 0,
            By::Sent => sent,
            By::Levels => self.thresholds.level(Bytes::new(sent)),
            By::Deadline => message.deadline.map_or(u64::MAX, Instant::as_ps),
            By::SizeDscp => dscp(Bytes::new(message.end - message.start)),
            By::SizeClass => dscp(Bytes::new(message.end - message.start)) / 8,
            By::Size | By::Remaining if message.is_backlogged() => u64::MAX,
            By::Size => message.end - message.start,
            By::Remaining => message.end - message.start - message.acked(snd_una),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Flow;
    use shortflow_cc::Role;
    use shortflow_spec::read_toml;
    use shortflow_units::{ClassId, FlowId};

    fn message(start: u64, end: u64, deadline: Option<u64>) -> Message {
        let deadline = deadline.map(Instant::from_ps);
        Message::new(Flow { flow: FlowId(0), class: ClassId(0), role: Role::Unknown, deadline }, start..end)
    }

    fn rule(by: &str) -> PriorityRule {
        read_toml(&format!("by = '{by}'"), |reader| PriorityRule::read(&reader)).unwrap()
    }

    /// The second message of a connection: bytes 50,000 to 250,000, of which 30,000 are acknowledged
    /// and 120,000 sent.
    #[test]
    fn each_rule_on_one_message() {
        let message = message(50_000, 250_000, Some(7));
        let priority = |by| rule(by).of(&message, 80_000, 170_000);
        let got = ["none", "size", "remaining", "sent", "deadline", "levels"].map(priority);
        assert_eq!(got, [0, 200_000, 170_000, 120_000, 7, 2]);
        assert_eq!(["size-dscp", "size-class"].map(priority), [30, 3]);
    }

    /// 1 KiB is where levels begin, 64 MiB where they end; a class is two doublings.
    #[test]
    fn sizes_in_a_dscp() {
        let levels = [0, 1_024, 1_280, 2_048, 4_095, 4_096, 98_000, 1 << 20, 1 << 26, u64::MAX];
        let got = levels.map(|size| dscp(Bytes::new(size)));
        assert_eq!(got, [1, 1, 1, 4, 7, 8, 25, 40, 63, 63]);
    }

    #[test]
    fn a_message_that_waits_behind_another_has_sent_nothing() {
        let message = message(50_000, 250_000, None);
        let priority = |by| rule(by).of(&message, 10_000, 20_000);
        assert_eq!(["remaining", "sent", "levels"].map(priority), [200_000, 0, 0]);
    }

    #[test]
    fn backlogged_flows_and_flows_without_deadline_are_last() {
        let message = message(0, u64::MAX, None);
        let priority = |by| rule(by).of(&message, 0, 5_000_000);
        assert_eq!(["size", "remaining", "deadline"].map(priority), [u64::MAX; 3]);
        assert_eq!(["sent", "levels"].map(priority), [5_000_000, 3]);
        let later = self::message(50_000, u64::MAX, None);
        assert_eq!(["size", "remaining"].map(|by| rule(by).of(&later, 80_000, 170_000)), [u64::MAX; 2]);
    }
}
