//! Packet priority that a sender sets for queues that order packets by priority. A lower number leaves sooner.
//! ACKs and connection requests have priority 0, the highest.
//!
//! | rule | number in the packet | resulting order |
//! |---|---|---|
//! | size | bytes of the message | shortest job first (pECN §4.2) |
//! | size-dscp, size-class | the size as a DSCP of 64 levels and as one of eight classes, see [`dscp`] | shortest job first, within the resolution of commercial switches |
//! | remaining | bytes of the message not yet acknowledged | shortest remaining time first (pFabric §4.1) |
//! | sent | bytes of the message already sent | least attained service first |
//! | deadline | deadline of the message, in picoseconds | earliest deadline first (pECN §4.2) |
//! | levels | number of thresholds that the sent bytes have reached | PIAS §3.1 |
//!
//! Choices:
//! - With size, remaining and deadline, data has at least number 1, so ACKs precede data.
//! - Backlogged flows come last by size and by remaining bytes. Flows without a deadline come last by
//!   deadline.
//! - A retransmitted segment gets the present priority, not its first one.
//! - PIAS computes its thresholds from the distribution of flow sizes. Here the defaults are decades;
//!   `priority.thresholds` sets them for a workload.

use super::message::Message;
use crate::config::keys;
use shortflow_spec::{RISING_SIZES, RisingSizes, words};
use shortflow_units::{Bytes, Instant};

words! {
    /// Source of a packet's priority.
    pub enum By {
        /// No priority: all packets are equal.
        None = "none",
        /// The size of the message.
        Size = "size",
        /// The size of the message as a DSCP of 64 levels.
        SizeDscp = "size-dscp",
        /// The size of the message as one of eight classes.
        SizeClass = "size-class",
        /// Bytes of the message not yet acknowledged.
        Remaining = "remaining",
        /// Bytes of the message already sent.
        Sent = "sent",
        /// The deadline of the message.
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
        /// numbers of sent bytes at which a flow falls to the next lower priority, with by=levels
        pub thresholds: RisingSizes = "10KB,100KB,1MB,10MB", RISING_SIZES, acts: by == levels;
    }
}

/// A size as a DSCP of at least 1, with four levels per doubling from 1 KiB to 64 MiB. The DSCP divided by 8
/// is the class, which changes at 4, 16, 64 and 256 KiB, and at 1, 4 and 16 MiB.
pub fn dscp(size: Bytes) -> u64 {
    let Some(doublings) = size.get().checked_ilog2().filter(|bits| *bits >= 10) else { return 1 };
    let quarter = size.get() >> (doublings - 2) & 3;
    (u64::from(doublings - 10) * 4 + quarter).clamp(1, 63)
}

impl PriorityRule {
    /// True if packets have no priority.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.by == By::None
    }

    /// Priority of a segment of `message`. `snd_una` is the first unacknowledged byte, and `snd_max` is one
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

    /// The second message of a connection: bytes 50,000 to 250,000, of which 30,000 are acknowledged and
    /// 120,000 are sent.
    #[test]
    fn each_rule_on_one_message() {
        let message = message(50_000, 250_000, Some(7));
        let priority = |by| rule(by).of(&message, 80_000, 170_000);
        let got = ["none", "size", "remaining", "sent", "deadline", "levels"].map(priority);
        assert_eq!(got, [0, 200_000, 170_000, 120_000, 7, 2]);
        assert_eq!(["size-dscp", "size-class"].map(priority), [30, 3]);
    }

    /// Levels begin at 1 KiB and end at 64 MiB. A class spans two doublings.
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
