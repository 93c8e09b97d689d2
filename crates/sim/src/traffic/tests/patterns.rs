//! Tests of senders, receivers and times: patterns, load of a link, inter-arrival times, staggered senders.

use super::*;
use crate::traffic::crossing;
use crate::traffic::pattern::Pattern;
use std::collections::BTreeSet;

/// Two racks of three hosts: h0 to h2 under switch 6, and h3 to h5 under switch 7. Switches 8 and 9 join the
/// racks.
fn racks() -> Graph {
    let mut graph = Graph::new(6, 4);
    let rate = Rate::new(1_000_000_000).unwrap();
    let mut link = |a, b| graph.connect(NodeId(a), NodeId(b), rate, Span::ZERO);
    (0..6).for_each(|host| link(host, 6 + host / 3));
    [(6, 8), (6, 9), (7, 8), (7, 9)].into_iter().for_each(|(a, b)| link(a, b));
    graph
}

const MORE: &str = "kind='poisson'\nsizes={kind='fixed', value='12500B'}\n";

/// Reads a Poisson entry in the network of [`racks`].
fn read_in_racks(toml: &str) -> Result<(Box<dyn Traffic>, Vec<String>), String> {
    let (text, files) = (format!("{MORE}{toml}"), |_: &str| Ok(String::new()));
    let graph = racks();
    let mut context = Context::new(&graph, DURATION, TcpSpec::default());
    let traffic = Document::parse(&text, "test.toml", &[], &[], &files)
        .and_then(|document| read(&Reader::new(&document), &mut context))
        .map_err(|error| error.to_string())?;
    Ok((traffic, [context.notes, context.warnings].concat()))
}

/// The first 30,000 pairs of sender and receiver.
fn pairs(toml: &str, seed: u64) -> Vec<(u32, u32)> {
    let (traffic, _) = read_in_racks(&format!("rate_per_s=1000\n{toml}")).unwrap();
    ends(&flows(&*traffic, seed, 0).take(30_000).collect::<Vec<_>>())
}

fn share(pairs: &[(u32, u32)], counts: impl Fn(&(u32, u32)) -> bool) -> f64 {
    pairs.iter().filter(|pair| counts(pair)).count() as f64 / pairs.len() as f64
}

fn local(pair: &(u32, u32)) -> bool {
    pair.0 / 3 == pair.1 / 3
}

#[test]
fn patterns_keep_or_leave_racks() {
    assert_eq!(share(&pairs("pattern='intra-rack'", 1), local), 1.0);
    assert_eq!(share(&pairs("pattern='inter-rack'", 1), local), 0.0);
    let most = share(&pairs("pattern='rack-locality'\nlocal=0.8", 1), local);
    assert!((most - 0.8).abs() < 0.01, "{most}");
    for pattern in ["intra-rack", "inter-rack", "all-to-all"] {
        let pairs = pairs(&format!("pattern='{pattern}'"), 1);
        let count = pairs.iter().collect::<BTreeSet<_>>().len();
        assert_eq!(
            count,
            match pattern {
                "intra-rack" => 12,
                "inter-rack" => 18,
                _ => 30,
            }
        );
        assert!(pairs.iter().all(|(from, to)| from != to));
    }
}

#[test]
fn hot_hosts_get_their_share() {
    let pairs = pairs("pattern='hot-spot'\nhot=0.5\nhot_hosts=[1]", 1);
    // Five of six senders send half of their flows to the hot host, and a fifth of the other half: (5/6) (0.5
    // + 0.5/5) = 0.5.
    let hot = share(&pairs, |pair| pair.1 == 1);
    assert!((hot - 0.5).abs() < 0.01, "{hot}");
}

#[test]
fn a_permutation_has_one_receiver_for_each_sender_and_changes_with_the_seed() {
    let receivers = |seed| pairs("pattern='permutation'", seed).into_iter().collect::<BTreeSet<_>>();
    let mut seen = BTreeSet::new();
    for seed in 0..20 {
        let pairs = receivers(seed);
        assert_eq!(pairs.len(), 6);
        assert_eq!(pairs.iter().map(|(_, to)| to).collect::<BTreeSet<_>>().len(), 6);
        assert!(pairs.iter().all(|(from, to)| from != to));
        seen.insert(pairs);
    }
    assert!(seen.len() > 15);
}

/// Pairs occur with the probabilities from which loads are computed.
#[test]
fn chances_are_those_of_the_draws() {
    for toml in [
        "",
        "pattern='all-to-all'\nfrom='0-3'",
        "pattern='inter-rack'",
        "pattern='rack-locality'\nlocal=0.3",
        "pattern='hot-spot'\nhot=0.4\nhot_hosts=[1, 5]",
    ] {
        let pairs = pairs(toml, 3);
        let (text, files, graph) = (format!("{MORE}{toml}"), |_: &str| Ok(String::new()), racks());
        let document = Document::parse(&text, "test.toml", &[], &[], &files).unwrap();
        let mut context = Context::new(&graph, DURATION, TcpSpec::default());
        let pattern = Pattern::read(&Reader::new(&document), &mut context).unwrap();
        for (sender, source) in pattern.senders().iter().enumerate() {
            let mut chances = [0.0; 6];
            pattern.chances(sender).iter().for_each(|(host, chance)| chances[host.index()] += chance);
            assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{toml}");
            for (to, chance) in (0u32..).zip(chances) {
                let expected = chance / pattern.senders().len() as f64;
                let found = share(&pairs, |pair| *pair == (source.0, to));
                assert!((found - expected).abs() < 0.012, "{toml}: {source:?} to {to}: {found}, {expected}");
            }
        }
        let towards = crossing::share(&graph, &pattern, (NodeId(6), NodeId(8)));
        let out = share(&pairs, |pair| pair.0 < 3 && pair.1 >= 3) / 2.0;
        assert!((towards - out).abs() < 0.01, "{toml}: {towards} of flows cross one uplink, not {out}");
    }
}

/// All to all: 9 of 30 pairs leave the first rack, half of them over each uplink, so 15 % cross one uplink.
/// Half of 1 Gbit/s divided by 0.15 x 12.5 KB is 33,333 flows per second.
#[test]
fn load_of_a_link_counts_the_flows_that_cross_it() {
    let (_, notes) = read_in_racks("pattern='all-to-all'\nload=0.5\nlink='s0->s2'").unwrap();
    let expected =
        "offered load 0.5 of s0->s2 (1Gbps), which 15% of the flows cross: 33333 flows/s of mean 12.5KB";
    assert_eq!(notes, [format!(": {expected}")]);
}

/// A rack's 2.7 Gbps leave over two uplinks of 1 Gbps, although no host receives more than its link carries.
/// Nine headers of 40 bytes turn 12.5 KB into 12.86 KB.
#[test]
fn overloaded_links_between_switches_are_named() {
    let (_, notes) = read_in_racks("pattern='inter-rack'\nload=0.9").unwrap();
    let expected = "traffic: s0->s2 (1Gbps) is offered 1.389 of its rate, headers included: queues grow until arrivals stop";
    assert_eq!(notes[1], expected);
    let (_, notes) = read_in_racks("pattern='inter-rack'\nload=0.6").unwrap();
    assert_eq!(notes.len(), 1);
}

/// Fixed inter-arrival times are regular, and bursts are of four simultaneous flows.
#[test]
fn arrivals_have_times_of_their_distribution() {
    let starts = |toml: &str| -> Vec<u64> {
        arrivals(&format!("kind='arrivals'\nsizes={{kind='fixed', value='2KB'}}\n{toml}"), 1)
            .iter()
            .map(|flow| flow.at.as_ps() / 1_000_000)
            .collect()
    };
    let regular = starts("rate_per_s=1000\ninterarrival={kind='fixed'}");
    assert_eq!((regular.len(), &regular[..3]), (999, &[1000, 2000, 3000][..]));
    let bursts = starts("rate_per_s=40000\ninterarrival={kind='bursts', flows=4}");
    assert!(bursts.chunks_exact(4).all(|burst| burst[0] == burst[3]));
    assert!(bursts.len().abs_diff(40_000) < 5 * 400, "{}", bursts.len());
}

#[test]
fn periodic_senders_keep_their_own_clocks() {
    let toml = "kind='periodic'\nevery='400ms'\nstart='50ms'\nstagger='5ms'\nfrom='1-2'\nto=0
        connections='persistent'\nsizes={kind='fixed', value='2048B'}";
    let flows = arrivals(toml, 1);
    let starts: Vec<(u64, u32)> =
        flows.iter().map(|flow| (flow.at.as_ps() / 1_000_000_000, flow.source.0)).collect();
    assert_eq!(starts, [(55, 1), (60, 2), (455, 1), (460, 2), (855, 1), (860, 2)]);
    assert!(flows.iter().all(|flow| flow.connection == ConnectionUse::Persistent(0)));
}

#[test]
fn a_seed_draws_how_late_the_clock_of_each_periodic_sender_is() {
    let toml = "kind='periodic'\nevery='400ms'\nstart='50ms'\njitter='100ms'\nfrom='1-2'\nto=0
        sizes={kind='fixed', value='2048B'}";
    let of_sender = |seed: u64, host: u32| -> Vec<u64> {
        let flows = arrivals(toml, seed);
        flows.iter().filter(|flow| flow.source.0 == host).map(|flow| flow.at.as_ps()).collect()
    };
    let firsts: Vec<u64> = (1..=20).flat_map(|seed| [of_sender(seed, 1)[0], of_sender(seed, 2)[0]]).collect();
    assert!(firsts.iter().all(|at| (50_000_000_000..=150_000_000_000).contains(at)), "{firsts:?}");
    let spread = firsts.iter().max().unwrap() - firsts.iter().min().unwrap();
    assert!(spread > 80_000_000_000, "{firsts:?}");
    assert_ne!(of_sender(1, 1)[0], of_sender(1, 2)[0]);
    assert_eq!(of_sender(3, 1), of_sender(3, 1));
    assert!(of_sender(1, 1).windows(2).all(|pair| pair[1] - pair[0] == 400_000_000_000));
}

proptest! {
    /// For any hosts that a pattern accepts, no host sends to itself.
    #[test]
    fn no_flow_goes_to_its_own_host(
        (pattern, share) in prop::sample::select(vec![
            ("many-to-one", ""),
            ("all-to-all", ""),
            ("permutation", ""),
            ("intra-rack", ""),
            ("inter-rack", ""),
            ("rack-locality", "local=0.5"),
            ("hot-spot", "hot=0.5"),
        ]),
        from in prop::collection::vec(0u32..6, 1..7),
        to in prop::collection::vec(0u32..6, 1..7),
        seed: u64,
    ) {
        let toml = format!("rate_per_s=1000\nfrom={from:?}\nto={to:?}\npattern='{pattern}'\n{share}");
        if let Ok((traffic, _)) = read_in_racks(&toml) {
            prop_assert!(flows(&*traffic, seed, 0).take(300).all(|flow| flow.source != flow.destination), "{}", toml);
        }
    }
}
