//! What may be sent now, and sending it — RFC 5681 §3.1 outside recovery, RFC 6675 §5 (C) within.

use super::Egress;
use super::scoreboard::Choice;
use super::sender::{Phase, Sender};
use crate::net::{EcnField, Kind, Packet};
use crate::scenario::TcpSpec;
use shortflow_cc::{CongestionControl, Ecn, Recovery};
use shortflow_units::Instant;

impl Sender {
    /// Sends as much as the window allows.
    #[inline]
    pub(super) fn transmit(&mut self, now: Instant, tcp: &TcpSpec, out: &mut impl Egress) {
        if self.phase == Phase::Recovery && self.recovery == Recovery::Sack {
            return self.transmit_by_pipe(now, tcp, out);
        }
        let allowed = self.window_bytes(tcp) + self.inflation.bytes();
        loop {
            if self.snd_nxt < self.snd_max {
                self.snd_nxt = self.scoreboard.hole_from(self.snd_nxt, self.snd_max).0;
            }
            let Some(end) = self.segment_end(self.snd_nxt, tcp) else { return };
            if self.outstanding() + (end - self.snd_nxt) > allowed {
                return;
            }
            self.send_segment(self.snd_nxt, end, now, tcp, out);
            self.snd_nxt = end;
        }
    }

    /// RFC 6675 §5 (C): one segment for each that the pipe estimate leaves room for.
    fn transmit_by_pipe(&mut self, now: Instant, tcp: &TcpSpec, out: &mut impl Egress) {
        let mss = tcp.mss.get();
        let allowed = self.window_bytes(tcp);
        while self.scoreboard.pipe(self.snd_una, self.snd_max, mss) + mss <= allowed {
            let new_data = self.segment_end(self.snd_max, tcp);
            let Some(choice) =
                self.scoreboard.next_segment(self.snd_una, self.snd_max, mss, new_data.is_some())
            else {
                return;
            };
            let (start, end) = match (choice, new_data) {
                (Choice::Hole(start, end) | Choice::Rescue(start, end), _) => {
                    let Some(segment) = self.segment_end(start, tcp) else { return };
                    (start, end.min(segment))
                }
                (Choice::New, Some(end)) => (self.snd_max, end),
                (Choice::New, None) => return,
            };
            self.send_segment(start, end, now, tcp, out);
            self.scoreboard.on_sent(choice, end, self.recover.unwrap_or(self.snd_max));
            self.snd_nxt = self.snd_max;
        }
    }

    /// Resends the first unacknowledged segment, whatever the window says; returns where it ends.
    pub(super) fn retransmit_first(&mut self, now: Instant, tcp: &TcpSpec, out: &mut impl Egress) -> u64 {
        let hole = self.scoreboard.hole_from(self.snd_una, self.snd_max).1;
        let end = self.segment_end(self.snd_una, tcp).map_or(self.snd_una, |end| end.min(hole));
        self.send_segment(self.snd_una, end, now, tcp, out);
        end
    }

    /// Bytes that count against the window. After a timeout, what was SACKed has left the network;
    /// before fast retransmit it counts, or the first duplicates would send new data (no limited
    /// transmit).
    #[inline]
    fn outstanding(&self) -> u64 {
        match self.phase {
            Phase::Loss => self.scoreboard.unsacked_bytes(self.snd_una, self.snd_nxt),
            Phase::Connecting | Phase::Open | Phase::Recovery => self.snd_nxt - self.snd_una,
        }
    }

    /// The usable window in bytes.
    #[inline]
    fn window_bytes(&self, tcp: &TcpSpec) -> u64 {
        let limit = (tcp.receive_window * tcp.mss.as_f64()) as u64; // saturates where there is none
        self.law.window_bytes(&self.window, tcp.mss).get().min(limit)
    }

    /// Where the segment that begins at `seq` ends; `None` if there is no data.
    #[inline]
    fn segment_end(&self, seq: u64, tcp: &TcpSpec) -> Option<u64> {
        let message = self.messages.iter().find(|message| seq < message.end)?;
        let size = self.law.segment_size(&self.window, tcp.mss);
        let full = message.end.min(seq.saturating_add(size.get()));
        Some(if seq < self.snd_max { full.min(self.scoreboard.hole_from(seq, full).1) } else { full })
    }

    #[inline]
    fn send_segment(&mut self, start: u64, end: u64, now: Instant, tcp: &TcpSpec, out: &mut impl Egress) {
        let again = start < self.snd_max;
        if again {
            self.rto.on_retransmit();
            if let Some(message) = self.messages.front_mut() {
                message.retransmits += 1;
            }
        } else {
            self.rto.on_send(end, now);
            self.snd_max = end;
        }
        if self.deadline.is_none() {
            self.deadline = Some(now + self.rto.rto()); // RFC 6298 (5.1)
        }
        let payload = (end - start) as u32;
        out.send(Packet {
            kind: Kind::Data,
            payload,
            wire: payload + tcp.header.get() as u32,
            ecn: self.ecn_field(again),
            cwr: !again && self.cut_once.take_cwr(),
            ..self.identity.control(start, tcp)
        });
    }

    /// RFC 3168 §6.1.5 keeps retransmissions out of ECN; DCTCP marks all data ECN-capable.
    #[inline]
    fn ecn_field(&self, again: bool) -> EcnField {
        match self.ecn {
            Ecn::Off => EcnField::NotEct,
            Ecn::Classic if again => EcnField::NotEct,
            Ecn::Classic | Ecn::Exact => EcnField::Ect,
        }
    }
}
