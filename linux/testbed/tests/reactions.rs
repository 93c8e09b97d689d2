//! Reaction of a sender to one event on the wire, and of a receiver to marks. The sockets are real, in namespaces.
//! The wire drops, marks or delays exactly the packets that a test names. Needs root, iproute2 and the kernel's BTF;
//! skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::hosts::{Host, tool};
use common::messages::{SEGMENT, Trace, messages, messages_under, roomy_host};
use common::wire::{Fate, Seen};
use common::{best_of_three, hides_connections, must, programs_guard};
use std::fs;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Segments of a message.
const MESSAGE: usize = 400;
/// One-way delay of the wire, long compared with the delays that a busy host adds.
const DELAY: Duration = Duration::from_millis(10);

fn hosts(control: &str) -> [Host; 2] {
    [0, 1].map(|number| roomy_host(number, control).unwrap())
}

/// A message of which some packets are lost or late, in slow start with a window of about 70 segments.
struct Hole {
    trace: Trace,
    /// Positions in the trace: the first transmission of the first such packet, its second transmission, and the
    /// acknowledgement that covers it.
    first: usize,
    second: usize,
    filled: usize,
}

impl Hole {
    fn new(packets: Range<usize>, fate: Fate) -> Hole {
        let fates = |number, is_new| if is_new && packets.contains(&number) { fate } else { Fate::Pass };
        let trace = messages(hosts("sf_dctcp"), MESSAGE, &[], DELAY, fates).unwrap();
        let first =
            trace.position(0, |seen| matches!(seen, Seen::Data { fate: found, .. } if *found == fate));
        let hole = trace.seen[first].seq();
        let second = trace.position(first + 1, |seen| seen.seq() == hole);
        let filled =
            trace.position(first, |seen| matches!(seen, Seen::Ack { number, .. } if Some(*number) > hole));
        Hole { trace, first, second, filled }
    }

    /// Returns the segments in flight when the loss was noticed, and the most segments in flight about a round trip
    /// after the hole was filled.
    fn flights(&self) -> [u32; 2] {
        let flights = self.trace.flights();
        let after = flights[self.filled + 80..self.filled + 120].iter().max().unwrap();
        [flights[self.second], *after]
    }
}

/// Between a loss and its repair, ACKs with SACK blocks report arrivals behind the hole. ACKs without them
/// acknowledge segments before the hole.
#[test]
fn a_loss_is_repaired_at_once_and_halves_the_window() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        let hole = Hole::new(60..61, Fate::Drop);
        let Hole { first, second, filled, .. } = hole;
        let sacks = hole.trace.seen[first..second].iter().filter(|seen| seen.has_sack()).count();
        let (data, acks): (Vec<&Seen>, Vec<&Seen>) =
            hole.trace.seen[second + 1..filled].iter().partition(|seen| seen.seq().is_some());
        let share = data.len() as f64 / acks.len() as f64;
        let [before, after] = hole.flights();
        let timeouts = hole.trace.counted("TcpExt", "TCPTimeouts");
        // If the thread of the wire stalls, a timer finds the loss after fewer SACKs.
        let is_at_once = (3..=5).contains(&sacks) && timeouts == 0;
        let is_halved = (0.4..0.6).contains(&share) && (before / 2..=before / 2 + 4).contains(&after);
        eprintln!(
            "{sacks} SACKs, {share} segments leave for one that arrives, {before} then {after}, {timeouts} timeouts"
        );
        assert!(is_at_once && is_halved);
    });
}

/// The packet arrives 8 ms late and has been retransmitted in the meantime.
#[test]
fn a_spurious_loss_does_not_change_the_window() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        let hole = Hole::new(60..61, Fate::Late(Duration::from_millis(8)));
        let undone: u64 = ["TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo"]
            .map(|name| hole.trace.counted("TcpExt", name))
            .iter()
            .sum();
        let [before, after] = hole.flights();
        eprintln!("{undone} undone, {before} then {after} segments");
        assert!(undone >= 1 && hole.trace.counted("TcpExt", "TCPTimeouts") == 0);
        assert!(after >= before, "{before} then {after} segments");
    });
}

/// Three of eight packets are marked, one alone and two in a row, so alpha is 3/8. Every acknowledgement covers
/// marked packets only or unmarked packets only, and its echo says which, even if it covers several packets.
#[test]
fn acknowledgements_echo_just_the_marks() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    let fates = |number, is_new: bool| match number % 8 {
        1 | 4 | 5 if is_new => Fate::Mark,
        _ => Fate::Pass,
    };
    let trace = messages(hosts("sf_dctcp"), 2000, &[], Duration::from_millis(3), fates).unwrap();
    let covered = trace.covered();
    let several = covered.iter().filter(|(_, packets)| packets.len() > 1).count();
    let wrong =
        covered.iter().filter(|(ece, packets)| packets.iter().any(|is_marked| is_marked != ece)).count();
    eprintln!("{} acknowledgements, {several} for several, {wrong} wrong", covered.len());
    assert!(several > 100 && wrong == 0, "{several} for several, {wrong} wrong");
    if !hides_connections(&trace.status) {
        // `min` is the sender's alpha. The receiver's end sends no data, so its alpha stays close to its first value
        // and is the larger of the two.
        let (_, alphas) = trace.status.split_once(" alpha").unwrap();
        let mut words = alphas.split_whitespace().skip_while(|word| *word != "min");
        let alpha: f64 = words.nth(1).unwrap().parse().unwrap();
        assert!((0.325..0.425).contains(&alpha), "{alpha}");
    }
}

/// 50 of about 70 segments are lost, so fewer segments are in flight than the new window has. Arrivals report the
/// hole only, so one segment leaves for each arrival.
#[test]
fn no_burst_follows_the_loss_of_most_of_a_window() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        let Hole { trace, second, filled, .. } = Hole::new(60..110, Fate::Drop);
        let (data, acks): (Vec<&Seen>, Vec<&Seen>) =
            trace.seen[second + 1..filled].iter().partition(|seen| seen.seq().is_some());
        eprintln!("{} segments for {} that arrived", data.len(), acks.len());
        assert!(acks.len() > 8 && data.len() <= acks.len() + 1, "{} for {}", data.len(), acks.len());
    });
}

/// One segment is dropped each time it is sent, until a timeout. By then recovery has sent all other segments of the
/// message, and SACK has acknowledged them.
#[test]
fn a_timeout_in_recovery_halves_the_data_in_flight() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        let mut sent = Instant::now();
        let fates = move |number, is_new: bool| {
            let is_it = number == 60 || !is_new;
            let in_recovery = is_it && std::mem::replace(&mut sent, Instant::now()).elapsed() < 15 * DELAY;
            if number == 60 || in_recovery { Fate::Drop } else { Fate::Pass }
        };
        let trace = messages(hosts("sf_dctcp"), MESSAGE, &[Duration::ZERO], DELAY, fates).unwrap();
        let timeouts = trace.counted("TcpExt", "TCPTimeouts");
        let begins = trace.position(0, |seen| seen.seq() == Some(MESSAGE as u32 * SEGMENT));
        let flights = trace.flights();
        let [before, after] =
            [&flights[..begins], &flights[begins..]].map(|part| *part.iter().max().unwrap());
        eprintln!("{timeouts} timeouts, {before} segments not acknowledged, then {after}");
        assert!(timeouts == 1 && before > 300, "{timeouts} timeouts, {before} not acknowledged");
        // The window grows by one or two segments per round trip. Slow start to half of `before` would exceed this
        // limit.
        assert!(after < 50, "{after} segments");
    });
}

/// Every second packet is marked, so the receiver acknowledges each packet at once with its own echo. The receiver
/// also acknowledges at once a packet with CWR, which the first new packet after a cut has. The acknowledgement of
/// the packets before has left already, so none is repeated.
#[test]
fn no_acknowledgement_is_repeated() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    let fates = |number, _| if number % 2 == 0 { Fate::Mark } else { Fate::Pass };
    let trace = messages(hosts("sf_dctcp"), 600, &[], Duration::from_millis(3), fates).unwrap();
    let covered = trace.covered();
    let repeated = covered.iter().filter(|(_, packets)| packets.is_empty()).count();
    eprintln!("{} acknowledgements, {repeated} repeated", covered.len());
    assert!(repeated <= 1, "{repeated}: one carries the answer to the message");
}

/// Returns the number of segments of a second message that leave before its first acknowledgement, `pause` after the
/// first message. `card` is an argument of `ip link set dev eth0`, and `restarts` the sender's
/// tcp_slow_start_after_idle.
fn burst(control: &str, restarts: &str, card: &str, pause: Duration) -> usize {
    let hosts = hosts(control);
    let settings = || {
        tool(&format!("ip link set dev eth0 {card}"))?;
        fs::write("/proc/sys/net/ipv4/tcp_slow_start_after_idle", restarts)
    };
    hosts[0].0.within(settings).unwrap();
    let trace = messages(hosts, MESSAGE, &[pause], DELAY, |_, _| Fate::Pass).unwrap();
    let begins = trace.position(0, |seen| seen.seq() == Some(MESSAGE as u32 * SEGMENT));
    trace.position(begins, |seen| matches!(seen, Seen::Ack { .. })) - begins
}

/// The kernel's TCP passes on one segment at a time, or up to 64 KB of segments at once.
const CARDS: [&str; 2] = ["gso_max_segs 1", "gso_max_segs 65535"];

/// Two seconds after the last segment, nine timeouts of about 220 ms have passed.
#[test]
fn after_a_pause_the_window_is_the_initial_window_by_default() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    for card in CARDS {
        best_of_three(|| {
            let bursts = [("sf_dctcp", "1"), ("reno", "1"), ("sf_dctcp", "0")]
                .map(|(control, restarts)| burst(control, restarts, card, Duration::from_secs(2)));
            eprintln!("{card}: segments before the first acknowledgement: {bursts:?}");
            assert!(bursts[..2] == [10, 10] && bursts[2] > 100, "{bursts:?}");
        });
    }
}

/// The pause of 520 ms lasts between two and three timeouts, which halve the window twice. Without a pause the whole
/// window leaves at once.
#[test]
fn a_pause_halves_the_window_with_each_timeout() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    for card in CARDS {
        best_of_three(|| {
            let pause = Duration::from_millis(520);
            let [ours, reno] = ["sf_dctcp", "reno"].map(|control| burst(control, "1", card, pause));
            eprintln!("{card}: {ours} segments after a pause, Reno's {reno}");
            let quarter = MESSAGE / 4..MESSAGE / 4 + 10;
            assert!(quarter.contains(&ours) && ours.abs_diff(reno) <= 2, "{ours}, {reno}");
        });
        // A writer that loses the processor for a round trip hands the message over in parts: up to three attempts.
        best_of_three(|| assert_eq!(burst("sf_dctcp", "1", card, Duration::ZERO), MESSAGE));
    }
}

/// The second message runs under Reno, which grows the window. A route may set another initial window.
#[test]
fn the_initial_window_is_that_of_the_route_and_not_that_of_the_control_before() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        for initial in [10, 14] {
            let hosts = hosts("sf_dctcp");
            let route = format!("ip route change 10.83.0.0/16 dev eth0 initcwnd {initial}");
            hosts[0].0.within(|| if initial == 10 { Ok(String::new()) } else { tool(&route) }).unwrap();
            let pauses = [(Duration::ZERO, Some("reno")), (Duration::from_secs(2), Some("sf_dctcp"))];
            let trace = messages_under(hosts, MESSAGE, &pauses, DELAY, |_, _| Fate::Pass).unwrap();
            let begins = trace.position(0, |seen| seen.seq() == Some(2 * MESSAGE as u32 * SEGMENT));
            let burst = trace.position(begins, |seen| matches!(seen, Seen::Ack { .. })) - begins;
            assert_eq!(burst, initial);
        }
    });
}

/// Reno has halved its window after a loss. The control that takes over does not begin slow start again.
#[test]
fn the_slow_start_threshold_is_that_of_the_control_before() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "sf_dctcp"]);
    best_of_three(|| {
        let fates = |number, _| if number == 60 { Fate::Drop } else { Fate::Pass };
        let pauses = [(Duration::ZERO, Some("sf_dctcp"))];
        let trace = messages_under(hosts("reno"), MESSAGE, &pauses, DELAY, fates).unwrap();
        let begins = trace.position(0, |seen| seen.seq() == Some(MESSAGE as u32 * SEGMENT));
        let most = *trace.flights()[begins..].iter().max().unwrap();
        eprintln!("{most} segments");
        let is_ours = hides_connections(&trace.status) || trace.status.contains("connections  1");
        assert!(is_ours && most < 80, "{most} segments; {}", trace.status);
    });
}
