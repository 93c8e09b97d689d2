//! TCP in hosts: small queues in cards, and unused windows.

use crate::common::{fairness, run, scenario, scheme, scheme_with_what_it_has, values};
use shortflow_cc::{CongestionControl, Ecn, Host, transports};
use shortflow_sim::probe::Subject;
use shortflow_sim::scheme::{Scheme, schemes};
use shortflow_units::Span;

/// Text of a star with three hosts, links of 25 µs and K = 20, followed by `rest`.
fn star(rate: &str, rest: &str) -> String {
    format!(
        "title = 'hosts'\nduration = '2s'\nwarmup = '500ms'\nhost = {{ model = 'linux' }}\n\
         topology = {{ kind = 'star', hosts = 3, rate = '{rate}', rtt = '100us' }}\n\
         switch = {{ buffer = '250pkt', mark_above = '20pkt' }}\n{rest}"
    )
}

/// Schemes whose hosts run TCP.
fn over_tcp() -> impl Iterator<Item = &'static str> {
    let is_tcp = |name: &str| transports().iter().any(|info| info.name == name && info.host == Host::Tcp);
    schemes().iter().filter(move |info| is_tcp(&info.transport)).map(|info| info.name.as_str())
}

/// Text of long flows of one host, which start together.
fn of_one_host(flows: u32) -> String {
    let traffic = format!("[[traffic]]\nkind = 'long-lived'\nflows = {flows}\nfrom = 0\nto = 1\n");
    let rest = format!("[measure]\nports = ['h0->s0']\nsample_every = '37us'\n{traffic}");
    star("1Gbps", &rest).replace("'2s'", "'800ms'").replace("'500ms'", "'50ms'")
}

/// A host never holds more than the small queues of its connections, even if all start at one instant, and the
/// connections share its link. With PIAS they share it over several thresholds, because each threshold moves a
/// connection below the others.
#[test]
fn a_host_holds_two_segments_of_each_connection_and_they_share_its_link() {
    for name in over_tcp() {
        for flows in [2, 8] {
            let outcome = run(&scenario(&of_one_host(flows), &[]), &scheme(name, &[]));
            let held = values(&outcome, |subject| matches!(subject, Subject::QueuePackets(_)));
            let most = held.iter().copied().fold(0.0, f64::max);
            assert!(most <= f64::from(2 * flows) && most > 0.0, "{name}: {most} packets of {flows} flows");
            let fairness = fairness(&outcome);
            assert!(fairness >= 0.99, "{name}: {fairness} between {flows} flows");
            let got: f64 =
                outcome.flows.iter().map(|flow| flow.delivered_in_window.as_f64() * 8.0 / 0.75).sum();
            assert!(got > 0.97e9, "{name}: {got} bit/s of {flows} flows");
        }
    }
}

/// The next segment comes when one has left, so two segments of each connection are in the card at any time, as on
/// Linux (docs/agreement.md).
#[test]
fn a_held_connection_keeps_its_small_queue_full() {
    for (queue, flows) in [("droptail", 1), ("droptail", 2), ("fair", 2)] {
        let outcome = run(&scenario(&of_one_host(flows), &[]), &scheme("dctcp", &[("host.queue", queue)]));
        let held = values(&outcome, |subject| matches!(subject, Subject::QueuePackets(_)));
        let late = &held[held.len() / 2..];
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        assert!((mean - f64::from(2 * flows)).abs() < 0.01, "{queue}: {mean} packets of {flows} flows");
    }
}

/// True for schemes without marks or delay targets. Without jitter, the phase of the packets decides which flow meets
/// the full buffer.
fn needs_jitter(scheme: &Scheme) -> bool {
    scheme.transport.ecn() == Ecn::Off && !scheme.transport.start().reads_path()
}

/// Two hosts send to a third; the second starts half a second later.
#[test]
fn long_flows_of_two_hosts_share_a_link_in_either_order_of_starts() {
    let traffic = "[[traffic]]\nkind = 'long-lived'\nflows = 2\nfrom = '0-1'\nto = 2\nstagger = '500ms'\n";
    let text =
        star("1Gbps", traffic).replace("duration = '2s'\nwarmup = '500ms'", "duration = '3s'\nwarmup = '1s'");
    // Ten seconds with many losses, at random times.
    let jitter = text.replace("'linux'", "'linux', jitter = 'half-packet'").replace("'3s'", "'11s'");
    for name in over_tcp() {
        let scheme = scheme(name, &[]);
        let text = if needs_jitter(&scheme) { &jitter } else { &text };
        let fairness = fairness(&run(&scenario(text, &[]), &scheme));
        assert!(fairness >= 0.99, "{name}: {fairness}");
    }
    let fifo = scenario(&text.replace("'linux'", "'fifo'"), &[]);
    assert!(fairness(&run(&fifo, &scheme("dctcp", &[]))) < 0.6, "what a sender may do to another on a FIFO");
}

/// 1 KB waits behind at most two packets of 1.2 µs each. A law that sends probes first would need a round trip more.
#[test]
fn messages_pass_the_long_flow_of_their_host() {
    let rows = ["0s,0,1,10MB", "1ms,0,2,1KB", "2ms,0,2,1KB", "3ms,0,2,1KB", "5ms,0,2,1KB", "7ms,0,2,1KB"];
    let trace = "[[traffic]]\nkind = 'trace'\nfile = 'flows.csv'\n";
    let text = star("10Gbps", trace).replace("100us", "20us").replace("500ms", "0s");
    for name in over_tcp() {
        let without_probes = scheme_with_what_it_has(name, &[("transport.probes", "0")]);
        let outcome = run(&scenario(&text, &rows), &without_probes);
        let times: Vec<f64> =
            outcome.flows.iter().map(|flow| flow.fct().unwrap().as_secs_f64() * 1e6).collect();
        assert!(times[0] < 8_500.0, "{name}: the long flow takes {} us", times[0]);
        assert!(times[1..].iter().all(|time| *time < 24.5), "{name}: {times:?}");
    }
}

/// A scheduler may drop waiting packets of any connection: six messages start at once over a card of five packets, or
/// a link that fails, or both.
#[test]
fn a_sender_recovers_from_drops_in_its_card() {
    let rows: Vec<String> = (0..6).map(|flow| format!("0s,0,{},60KB", flow % 2 + 1)).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let trace = "[[traffic]]\nkind = 'trace'\nfile = 'flows.csv'\n";
    let text = star("1Gbps", trace).replace("'2s'", "'10ms'\ndrain = '200ms'").replace("'500ms'", "'0s'");
    let tiny = text.replace("model = 'linux'", "model = 'linux', buffer = '5pkt'");
    let outage = "[faults]\nlinks = ['h0-s0']\ndown_at = '1ms'\nup_at = '3ms'\n";
    for queue in ["pias", "pfabric", "priority-ecn", "fair", "codel", "tcn"] {
        for text in [tiny.clone(), format!("{text}{outage}"), format!("{tiny}{outage}")] {
            let outcome = run(&scenario(&text, &rows), &scheme("dctcp", &[("host.queue", queue)]));
            assert!(outcome.counters.packets_dropped > 0, "{queue} {text}");
            assert_eq!(outcome.counters.unfinished, 0, "{queue} {text}");
        }
    }
}

/// h0 and h1 send to h2 over links of 1 Gbps, on which half of 1,500 bytes takes 6 µs. h3 behind 1 Mbps has no flows,
/// so its link delays nobody. The note of `show` names the value and the link that decides it.
#[test]
fn half_packet_jitter_is_of_links_that_flows_cross() {
    let links = "a,b,rate,delay\nh0,s0,1Gbps,5us\nh1,s0,1Gbps,5us\nh2,s0,1Gbps,5us\nh3,s0,1Mbps,5us\n";
    let text = |to: &str| {
        format!(
            "title = 't'\nduration = '1s'\nhost.jitter = 'half-packet'\n[topology]\nkind = 'explicit'\nfile = 'l.csv'\n\
             [switch]\nbuffer = '250pkt'\nmark_above = '20pkt'\n[[traffic]]\nkind = 'long-lived'\nfrom = '0-1'\nto = {to}\n"
        )
    };
    let jitter = |to: &str| {
        let scenario = crate::common::scenario_with_file(&text(to), links);
        let note = scenario.notes().iter().find(|note| note.starts_with("host.jitter")).cloned();
        (scenario.jitter(), note.unwrap_or_default())
    };
    let micros = Span::from_micros;
    let (to_fast, note) = jitter("2");
    assert_eq!(to_fast, [micros(6), micros(6), micros(6), Span::ZERO]);
    assert_eq!(note, "host.jitter: half-packet is 6us at 3 hosts (slowest link 1Gbps, as h0-s0)");
    let (to_slow, note) = jitter("[2, 3]");
    assert_eq!(to_slow, [micros(6), micros(6000), micros(6), micros(6000)]);
    let both = "6ms at 2 hosts (slowest link 1Mbps, as h3-s0); 6us at 2 hosts (slowest link 1Gbps, as h0-s0)";
    assert_eq!(note, format!("host.jitter: half-packet is {both}"));
}
