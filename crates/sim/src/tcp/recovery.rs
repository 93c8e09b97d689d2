//! [`LossRecovery`]: what a sender knows of its losses, and the phase of their repair (RFC 5681, RFC 6582, RFC 6675).

use super::newreno::Inflation;
use super::scoreboard::Scoreboard;
use crate::host::SendStream;
use crate::packet::Packet;
use shortflow_cc::Recovery;

/// Phase of loss recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Waiting for the answer to a connection request.
    Connecting,
    /// No known loss.
    Open,
    /// Fast recovery (RFC 6582 §3.2, RFC 6675 §5).
    Recovery,
    /// Retransmission after a timeout.
    Loss,
}

/// Signs of loss, and the state of their repair.
#[derive(Debug)]
pub(super) struct LossRecovery {
    pub by: Recovery,
    pub phase: Phase,
    /// Duplicate ACKs since the last ACK of new data, outside recovery.
    pub duplicates: u32,
    /// Number of duplicate ACKs or SACKed segments that signals a loss (DupThresh of RFC 5681, RFC 6675 and
    /// RFC 8985).
    pub dupthresh: u32,
    /// `snd_max` at the start of the last recovery (recover of RFC 6582, RecoveryPoint of RFC 6675).
    pub recover: Option<u64>,
    pub inflation: Inflation,
    pub scoreboard: Scoreboard,
    /// `snd_una` at the last timeout.
    timed_out_at: Option<u64>,
}

impl LossRecovery {
    /// State of a connection without losses, which begins in `phase`.
    pub(super) fn new(by: Recovery, dupthresh: u32, phase: Phase) -> LossRecovery {
        LossRecovery {
            by,
            phase,
            duplicates: 0,
            dupthresh,
            recover: None,
            inflation: Inflation::default(),
            scoreboard: Scoreboard::new(dupthresh),
            timed_out_at: None,
        }
    }

    /// True if no loss is known, no byte is SACKed, and the window is not inflated.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Open && self.scoreboard.is_empty() && self.inflation.bytes() == 0
    }

    /// Records the SACK blocks of an ACK. Returns true if a block is new or if there are no blocks.
    #[inline(never)] // keeps the path of other senders short
    pub(super) fn add_blocks(&mut self, ack: &Packet, snd_max: u64) -> bool {
        let blocks = ack.sack();
        blocks.is_empty() || self.scoreboard.add(blocks.ranges(ack.seq), ack.seq, snd_max)
    }

    /// An ACK acknowledges new data up to `snd_una`. Returns true if it is a partial ACK: fast recovery goes on.
    pub(super) fn on_new_ack(&mut self, snd_una: u64) -> bool {
        self.duplicates = 0;
        let is_repairing = matches!(self.phase, Phase::Recovery | Phase::Loss);
        if is_repairing && self.recover.is_none_or(|recover| snd_una >= recover) {
            self.phase = Phase::Open;
            self.inflation = Inflation::default();
        }
        self.phase == Phase::Recovery
    }

    /// An ACK acknowledges nothing while data is outstanding. Returns true if recovery begins. With SACK, only an ACK
    /// with a new block counts as a duplicate (RFC 6675 §2); `news` tells whether a block is new. `segment` is the
    /// payload of a full segment.
    pub(super) fn on_duplicate(
        &mut self,
        ack: &Packet,
        news: bool,
        snd_una: u64,
        (segment, mss): (u64, u64),
    ) -> bool {
        let counts = self.by == Recovery::NewReno || (!ack.sack().is_empty() && news);
        match self.phase {
            Phase::Open if counts => {
                self.duplicates += 1;
                self.is_loss_evident(snd_una, mss)
            }
            Phase::Recovery if self.by == Recovery::NewReno => {
                self.inflation.on_duplicate(segment);
                false
            }
            Phase::Open | Phase::Recovery | Phase::Loss | Phase::Connecting => false,
        }
    }

    fn is_loss_evident(&self, snd_una: u64, mss: u64) -> bool {
        match self.by {
            // RFC 6582 §3.2 step 2: the ACK must cover more than `recover`. Otherwise the duplicates may come
            // from needless retransmissions.
            Recovery::NewReno => {
                self.duplicates == self.dupthresh && self.recover.is_none_or(|recover| snd_una > recover)
            }
            // RFC 6675 §5 (1), (2).
            Recovery::Sack | Recovery::Rack => {
                self.duplicates >= self.dupthresh || self.scoreboard.lost_below(snd_una, mss) > snd_una
            }
        }
    }

    /// Enters fast recovery of the data up to `snd_max`. `segment` is the payload of a full segment.
    pub(super) fn enter(&mut self, snd_max: u64, segment: u64) {
        self.phase = Phase::Recovery;
        self.recover = Some(snd_max);
        self.inflation = match self.by {
            Recovery::NewReno => Inflation::enter(self.dupthresh, segment),
            Recovery::Sack | Recovery::Rack => Inflation::default(),
        };
    }

    /// The retransmission timer has expired. Returns true if it is not the first time for the first unacknowledged
    /// segment, so that ssthresh stays (RFC 5681 §3.1).
    pub(super) fn on_timeout(&mut self, snd_una: u64, snd_max: u64) -> bool {
        self.phase = Phase::Loss;
        self.recover = Some(snd_max);
        self.duplicates = 0;
        self.inflation = Inflation::default();
        self.timed_out_at.replace(snd_una) == Some(snd_una)
    }

    /// Bytes of a stream that count against the window. After a timeout, SACKed bytes have left the network and do not
    /// count. Before fast retransmit they count; otherwise the first duplicates would release new data, which
    /// is limited transmit and not modelled here.
    #[inline]
    pub(super) fn outstanding(&self, stream: &SendStream) -> u64 {
        match self.phase {
            Phase::Loss => self.scoreboard.unsacked_bytes(stream.snd_una, stream.snd_nxt),
            Phase::Connecting | Phase::Open | Phase::Recovery => stream.snd_nxt - stream.snd_una,
        }
    }
}
