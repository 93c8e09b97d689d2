//! Routing, as ports and receivers see it: four spines between two racks of four hosts.

use crate::common::{TRACE, fct, scenario, scheme};
use shortflow_sim::outcome::Outcome;
use shortflow_sim::simulation::{self, NoObserver};

/// Each host of the first rack sends 3 MB to the host with the same place in the second rack.
const ROWS: [&str; 4] = ["0,0,4,3000000", "0,1,5,3000000", "0,2,6,3000000", "0,3,7,3000000"];

fn run(routing: &str, rows: &[&str], seed: u64) -> Outcome {
    let outcome = run_by("tcp", &[], "mark_above = \"unlimited\"", (routing, rows, seed));
    assert_eq!((outcome.counters.unfinished, outcome.counters.packets_dropped), (0, 0));
    outcome
}

/// Runs with a scheme, its settings, and a marking threshold.
fn run_by(
    name: &str,
    settings: &[(&str, &str)],
    mark_above: &str,
    (routing, rows, seed): (&str, &[&str], u64),
) -> Outcome {
    let text = format!(
        "title = \"routing\"\nduration = \"1s\"\ndrain = \"100s\"\n[routing]\n{routing}\n[switch]\nbuffer = \"unlimited\"\n\
         {mark_above}\n[topology]\nkind = \"leaf-spine\"\nracks = 2\nhosts_per_rack = 4\nspines = 4\n\
         rate = \"1Gbps\"\nuplink_rate = \"1Gbps\"\nrtt = \"40us\"\n[tcp]\ninitial_window = 20\n\
         receive_window = \"60pkt\"\n{TRACE}"
    );
    let outcome = simulation::run(&scenario(&text, rows), &scheme(name, settings), seed, &mut NoObserver);
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

/// Packets that leaf 0 (node 8) sent to each spine (nodes 10 to 13).
fn uplinks(outcome: &Outcome) -> Vec<u64> {
    let up = |port: &&shortflow_sim::outcome::PortRow| port.from.0 == 8 && port.to.0 >= 10;
    outcome.ports.iter().filter(up).map(|port| port.tx_packets).collect()
}

fn retransmits(outcome: &Outcome) -> u32 {
    outcome.flows.iter().map(|flow| flow.retransmits).sum()
}

/// With a hash, each flow of 2,055 segments keeps one path, and no segment is retransmitted. With spraying, each
/// spine gets a quarter of the packets, within the 99.9 % point of chi-square with three degrees of freedom, and
/// packets overtake each other. A packet that three others overtake is retransmitted, although nothing was lost.
#[test]
fn spraying_spreads_packets_evenly_and_reorders_them() {
    let hashed = run("kind = \"flow-hash\"", &ROWS, 1);
    assert!(uplinks(&hashed).iter().all(|packets| packets % 2055 == 0), "{:?}", uplinks(&hashed));
    assert_eq!(retransmits(&hashed), 0);

    let sprayed = run("kind = \"spray\"", &ROWS, 1);
    let counts = uplinks(&sprayed);
    let total: u64 = counts.iter().sum();
    let share = total as f64 / 4.0;
    let chi_square: f64 = counts.iter().map(|&n| (n as f64 - share).powi(2) / share).sum();
    assert!(counts.len() == 4 && chi_square < 16.27, "{counts:?}: {chi_square}");
    let resent = retransmits(&sprayed);
    assert!(resent > 100 && total == 4 * 2055 + u64::from(resent), "{resent} of {total}");
}

/// If a short last packet overtakes the full packet before it on another spine, the flow is as fast as its ideal. No
/// flow is faster.
#[test]
fn no_flow_of_sprayed_packets_beats_its_ideal() {
    for size in [1551, 2941] {
        let alone = |seed| run("kind = \"spray\"", &[&format!("0,0,4,{size}")], seed).flows.remove(0);
        let flows: Vec<_> = (0..20).map(alone).collect();
        assert_eq!(flows.iter().filter_map(|flow| flow.fct()).min(), flows[0].ideal, "{size} bytes");
    }
}

/// DCTCP with spraying and K = 20 packets: nothing is lost, and a single flow takes 24.7 ms. With a threshold of
/// three duplicates, 180 segments are retransmitted and the window is halved each time, which costs a third of the
/// speed. Forty duplicates never come. RACK, which waits a quarter of the round trip and more as it learns, is in
/// between.
#[test]
fn dctcp_that_is_sprayed_wants_tolerance_of_reordering() {
    let sprayed = |settings: &[(&str, &str)]| {
        let outcome =
            run_by("dctcp", settings, "mark_above = \"20pkt\"", ("kind = \"random-spray\"", &ROWS, 1));
        assert_eq!((outcome.counters.unfinished, outcome.counters.packets_dropped), (0, 0));
        let slowest = (0..4).map(|index| fct(&outcome, index).as_secs_f64() * 1e3).fold(0.0, f64::max);
        (retransmits(&outcome), slowest)
    };
    let plain = sprayed(&[]);
    let tolerant = sprayed(&[("transport.dupthresh", "40")]);
    let rack = sprayed(&[("transport.recovery", "rack")]);
    assert!(plain.0 > 150 && plain.1 > 32.0, "{plain:?}");
    assert!(tolerant.0 == 0 && tolerant.1 < 27.0, "{tolerant:?}");
    assert!(rack.0 < plain.0 * 3 / 4 && rack.1 < 30.0, "{rack:?}");
}

/// With every seed, the paths to hosts 4 to 7 cross spines 0 to 3.
#[test]
fn by_destination_a_host_has_one_path_whatever_the_seed() {
    let first = run("kind = \"destination\"", &ROWS, 1);
    assert_eq!((uplinks(&first), retransmits(&first)), (vec![2055; 4], 0));
    assert_eq!(run("kind = \"destination\"", &ROWS, 2).digest(), first.digest());
    let third = run("kind = \"destination\"", &["0,0,6,3000000", "0,1,6,3000000"], 1);
    assert_eq!(uplinks(&third), [0, 0, 2 * 2055, 0]);
}

/// A flow without pauses is one flowlet. With a gap shorter than the time between packets, each packet is a flowlet.
#[test]
fn flowlets_end_with_a_pause() {
    let one = run("kind = \"flowlet\"\ngap = \"10ms\"", &ROWS[..1], 1);
    assert_eq!(uplinks(&one).iter().filter(|packets| **packets > 0).count(), 1);
    let each = uplinks(&run("kind = \"flowlet\"\ngap = \"1us\"", &ROWS[..1], 1));
    assert!(each.iter().all(|packets| (400..630).contains(packets)), "{each:?}");
}
