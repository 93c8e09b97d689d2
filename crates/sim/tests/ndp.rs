//! NDP in a network: trims, pulls at the rate of the receiver's link, shares of flows, and lost packets.

use crate::common::{TRACE, run, scenario, scenario_with_file, scheme};
use shortflow_sim::outcome::{FlowRow, Outcome};

/// A star of 10 Gbit/s with the tables in `rest`. A packet takes 1.2 us, and a header 32 ns.
fn star(hosts: usize, rtt: &str, rest: &str) -> String {
    format!(
        r#"
title = "ndp"
duration = "100ms"
drain = "10s"
topology = {{ kind = "star", hosts = {hosts}, rate = "10Gbps", rtt = "{rtt}" }}
switch = {{ buffer = "unlimited", mark_above = "100KB" }}
{TRACE}{rest}
"#
    )
}

fn rows(rest: &str, rows: &[&str]) -> Outcome {
    run(&scenario(&star(6, "10us", rest), rows), &scheme("ndp", &[]))
}

fn trims(outcome: &Outcome) -> u64 {
    outcome.ports.iter().map(|port| port.trims_in_run).sum()
}

fn dropped(outcome: &Outcome) -> u64 {
    outcome.counters.packets_dropped
}

fn timeouts(outcome: &Outcome) -> u32 {
    outcome.flows.iter().map(|flow| flow.timeouts).sum()
}

/// Time until the last byte has arrived, divided by the completion time in an empty network.
fn stretch(flow: &FlowRow) -> f64 {
    flow.received.unwrap().since(flow.start).as_secs_f64() / flow.ideal.unwrap().as_secs_f64()
}

/// 24 hosts send nine packets each at once, which reach the port in nine rounds of 24 packets, 1.2 us apart.
/// In the first round, one packet is sent, eight wait, and 15 are trimmed. From 1.2 us on, the port sends ten
/// headers (320 ns) and then one packet (1.2 us). Packets thus start to leave at 1.52, 3.04, 4.56, 6.08, 7.60
/// and 9.12 us. Each makes room for one packet of the next round, at 2.4, 3.6, 4.8, 7.2, 8.4 and 9.6 us. No
/// packet has left before the rounds at 1.2 and 6 us. So 9 + 6 of 216 packets pass. The other packets are
/// pulled one by one, a round trip later.
#[test]
fn an_incast_is_trimmed_as_counted_and_needs_no_timeout() {
    let senders: Vec<String> = (0..24).map(|host| format!("0,h{host},h24,{}", 9 * 1_460)).collect();
    let senders: Vec<&str> = senders.iter().map(String::as_str).collect();
    let outcome = run(&scenario(&star(25, "200us", ""), &senders), &scheme("ndp", &[]));
    assert_eq!(trims(&outcome), 201);
    assert_eq!(outcome.flows.iter().map(|flow| flow.retransmits).sum::<u32>(), 201);
    assert_eq!((outcome.counters.packets_dropped, timeouts(&outcome)), (0, 0));
    let last = outcome.flows.iter().map(|flow| flow.fct().unwrap().as_secs_f64()).fold(0.0, f64::max);
    // The time is about two round trips and 216 pulls, 1.2 us apart.
    assert!((0.0004..0.0007).contains(&last), "{last} s");
}

/// A message alone on its link gets the full rate, because pulls come as fast as packets arrive.
#[test]
fn one_flow_has_the_rate_of_the_link() {
    for size in ["1000", "100000", "10000000"] {
        let outcome = rows("", &[&format!("0,h0,h5,{size}")]);
        assert!(stretch(&outcome.flows[0]) < 1.002, "{size}: {}", stretch(&outcome.flows[0]));
        assert_eq!(trims(&outcome), 0);
    }
}

/// Two flows to one host each get half of its link. Only their first windows of twelve packets each are
/// trimmed.
#[test]
fn two_flows_share_the_link_of_their_receiver() {
    let outcome = rows("", &["0,h0,h5,5000000", "0,h1,h5,5000000"]);
    for flow in &outcome.flows {
        assert!((1.97..2.02).contains(&stretch(flow)), "{}", stretch(flow));
    }
    assert!((1..20).contains(&trims(&outcome)), "{}", trims(&outcome));
    assert_eq!(timeouts(&outcome), 0);
}

/// Pulls have the rate of the receiver's link, 1 Gbit/s, and not the 10 Gbit/s of the senders. Of 4,110
/// packets, only some packets of the first windows, which have 20 packets each, are trimmed.
#[test]
fn pulls_go_at_the_rate_of_the_receivers_link() {
    let links = "a,b,rate,delay\nh0,s0,10Gbps,2us\nh1,s0,10Gbps,2us\nh2,s0,1Gbps,2us\n";
    let text = "title = 'slow'\nduration = '100ms'\ndrain = '1s'\ntopology = { kind = 'explicit', file = 'links.csv' }\n\
        switch = { buffer = 'unlimited', mark_above = '100KB' }\n\
        [[traffic]]\nkind = 'incast'\nflows = 2\nfrom = '0-1'\nto = 2\nsizes = { kind = 'fixed', value = '3MB' }\n";
    let outcome = run(&scenario_with_file(text, links), &scheme("ndp", &[]));
    assert!(outcome.flows.iter().all(|flow| stretch(flow) < 2.05));
    assert!(trims(&outcome) < 60, "{}", trims(&outcome));
}

/// 24 first windows of nine packets find room for eight packets and 20 headers. Headers that return take the
/// place of timeouts: the last flow ends sooner, and each packet is delivered or dropped. A host's port drops
/// the headers of its own packets.
#[test]
fn headers_without_room_return_to_their_senders() {
    let senders: Vec<String> = (0..24).map(|host| format!("0,h{host},h24,{}", 9 * 1_460)).collect();
    let senders: Vec<&str> = senders.iter().map(String::as_str).collect();
    let run = |returns| {
        let scheme = scheme("ndp", &[("queue.headers", "20"), ("queue.returns", returns)]);
        run(&scenario(&star(25, "20us", ""), &senders), &scheme)
    };
    let last = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.fct().unwrap()).max().unwrap();
    let (with, without) = (run("true"), run("false"));
    let returns = |outcome: &Outcome| outcome.ports.iter().map(|port| port.returns).sum::<u64>();
    assert_eq!((dropped(&with), timeouts(&with), returns(&without)), (0, 0, 0));
    assert!(returns(&with) > 100 && dropped(&without) > 100 && timeouts(&without) > 20);
    assert!(last(&with).times(2) < last(&without), "{} and {}", last(&with), last(&without));
}

/// Every lost packet is sent again: the first and the last packet (`drop_data`), and packets whose ACK,
/// NACK, pull or header was lost. Of the faults, only `corrupt` hits all these packets.
#[test]
fn whatever_is_lost_is_sent_again() {
    for lost in
        ["drop_data = [1]", "drop_data = [3, 4, 9]", "drop_data = [68]", "corrupt = 0.001", "corrupt = 0.05"]
    {
        let faults = format!("[faults]\n{lost}\n");
        let outcome = rows(&faults, &["0,h0,h5,98000", "0,h1,h5,150000", "0,h2,h5,1500000"]);
        for flow in &outcome.flows {
            assert_eq!(flow.acked, flow.size, "{lost}");
        }
        assert!(timeouts(&outcome) > 0, "{lost}");
    }
}

/// With queues that drop packets, lost packets wait for the timeout.
#[test]
fn timeouts_take_the_place_of_trims_over_other_queues() {
    let text = star(6, "10us", "").replace("\"unlimited\"", "\"8pkt\"").replace("100KB", "4pkt");
    let senders: Vec<String> = (0..5).map(|host| format!("0,h{host},h5,98000")).collect();
    let senders: Vec<&str> = senders.iter().map(String::as_str).collect();
    let outcome = run(&scenario(&text, &senders), &scheme("ndp over droptail", &[]));
    assert_eq!(trims(&outcome), 0);
    assert!(outcome.counters.packets_dropped > 0 && timeouts(&outcome) > 0);
    assert!(outcome.flows.iter().all(|flow| flow.acked == flow.size));
}

/// 120 senders have first windows of seven packets for one host of 1 Gbit/s. A sender waits up to 1.4 ms
/// for its turn in the pull queue, longer than the smallest RTO.
#[test]
fn a_large_incast_without_drops_needs_no_timeout() {
    let senders: Vec<String> = (0..120).map(|host| format!("0,h{host},h120,10220")).collect();
    let senders: Vec<&str> = senders.iter().map(String::as_str).collect();
    let text = star(121, "100us", "").replace("10Gbps", "1Gbps");
    let outcome = run(&scenario(&text, &senders), &scheme("ndp", &[]));
    assert!(trims(&outcome) > 800, "{}", trims(&outcome));
    assert_eq!((dropped(&outcome), timeouts(&outcome)), (0, 0));
}

/// Round trips of 0.1 to 10 ms and links of 100 Mbit/s to 100 Gbit/s, alone and in an incast of five: no
/// packet is lost, so no timer expires, and no packet is sent without being trimmed.
#[test]
fn no_timer_expires_on_a_path_without_losses() {
    for (rate, rtt, size) in [
        ("100Mbps", "10ms", 2_000_000),
        ("1Gbps", "10ms", 20_000_000),
        ("10Gbps", "100us", 5_000_000),
        ("100Gbps", "1ms", 20_000_000),
    ] {
        for senders in [1, 5] {
            let flows: Vec<String> =
                (0..senders).map(|host| format!("0,h{host},h5,{}", size / senders)).collect();
            let flows: Vec<&str> = flows.iter().map(String::as_str).collect();
            let text = star(6, rtt, "").replace("10Gbps", rate);
            let outcome = run(&scenario(&text, &flows), &scheme("ndp", &[("queue.headers", "100000")]));
            let sent_again: u64 = outcome.flows.iter().map(|flow| u64::from(flow.retransmits)).sum();
            assert_eq!((dropped(&outcome), timeouts(&outcome)), (0, 0), "{rate}, {rtt}, {senders}");
            assert_eq!(sent_again, trims(&outcome), "{rate}, {rtt}, {senders}");
        }
    }
}

/// One packet of a thousand is lost, of data and of control packets, on each link. All flows end, and each
/// timeout costs about 1 ms.
#[test]
fn flows_end_although_packets_are_lost_at_random() {
    let flows: Vec<String> = (0..5).map(|host| format!("0,h{host},h5,3000000")).collect();
    let flows: Vec<&str> = flows.iter().map(String::as_str).collect();
    let outcome = rows("[faults]\nloss = 0.001\nack_loss = 0.001\n", &flows);
    assert!(dropped(&outcome) > 10 && timeouts(&outcome) > 5, "{} {}", dropped(&outcome), timeouts(&outcome));
    assert!(outcome.flows.iter().all(|flow| flow.acked == flow.size));
    let last = outcome.flows.iter().map(|flow| flow.fct().unwrap().as_secs_f64()).fold(0.0, f64::max);
    assert!((0.012..0.025).contains(&last), "{last} s");
}

/// Bytes that a port trims count as lost in the check of every run. With one path, NDP's packets stay in order.
#[test]
fn trimmed_bytes_are_accounted_for() {
    let senders: Vec<String> = (0..24).map(|host| format!("0,h{host},h24,150000")).collect();
    let senders: Vec<&str> = senders.iter().map(String::as_str).collect();
    for faults in ["", "[faults]\nloss = 0.01\ncorrupt = 0.01\n"] {
        let outcome = run(&scenario(&star(25, "50us", faults), &senders), &scheme("ndp", &[]));
        assert!(trims(&outcome) > 500 && outcome.flows.iter().all(|flow| flow.acked == flow.size));
    }
}
