//! Priority flow control with several priorities by the real door: lossless and lossy data, weights, pauses
//! of one priority, and the memory that each lossless priority needs.

use crate::common::{run, scenario, scenario_with_file, scheme};
use crate::modes::all_alike;
use proptest::prelude::*;
use shortflow_sim::outcome::Outcome;
use shortflow_sim::scenario::Scenario;
use shortflow_sim::simulation::{self, NoObserver};
use shortflow_units::Span;

/// Two incasts of 12 flows of 500 KB to the last host of a star, each with keys of its own.
fn incasts(switch: &str, [first, second]: [&str; 2]) -> String {
    let incast = |hosts: &str, keys: &str| {
        format!(
            "[[traffic]]\nkind = 'incast'\nflows = 12\nfrom = '{hosts}'\nto = 24\nat = '100us'\n{keys}\n\
             sizes = {{ kind = 'fixed', value = '500KB' }}\n"
        )
    };
    format!(
        "title = 'incasts'\nduration = '3ms'\ndrain = '100ms'\n\
         topology = {{ kind = 'star', hosts = 25, rate = '100Gbps', rtt = '8us' }}\n\
         tcp = {{ mss = '1000B' }}\n[switch]\nbuffer = '4MB'\nmark_above = '100KB'\n{switch}\n{}{}",
        incast("0-11", first),
        incast("12-23", second)
    )
}

fn refusal(text: &str) -> String {
    let read = Scenario::parse(text, "test", &[], &|_| Ok(String::new()));
    read.err().map(|error| error.to_string()).unwrap_or_default()
}

/// Pauses of all ports by priority.
fn pauses(outcome: &Outcome, priority: u8) -> u64 {
    let rows = outcome.ports.iter().flat_map(|port| &port.pauses_by_priority);
    rows.filter(|(of, _)| *of == priority).map(|(_, counts)| counts.pauses).sum()
}

/// Time for which ports paused a priority, over all ports.
fn paused(outcome: &Outcome, priority: u8) -> Span {
    let rows = outcome.ports.iter().flat_map(|port| &port.pauses_by_priority);
    let times = rows.filter(|(of, _)| *of == priority).map(|(_, counts)| counts.paused);
    times.fold(Span::ZERO, Span::plus)
}

/// Number of packets that flows sent again, by source host below and from `first` on.
fn retransmits(outcome: &Outcome, first: u32) -> [u64; 2] {
    let sum = |of: &dyn Fn(u32) -> bool| {
        outcome.flows.iter().filter(|flow| of(flow.source.0)).map(|flow| u64::from(flow.retransmits)).sum()
    };
    [sum(&|host| host < first), sum(&|host| host >= first)]
}

/// Each lossless priority of each link needs XOFF and headroom: 24 links x 2 x (40 KB + 53,184 B) = 4.47 MB.
/// With one priority, it is half of this, and a lossy priority needs nothing.
#[test]
fn the_sum_counts_lossless_priorities() {
    let both = ["", "pfc_priority = 4"];
    assert!(
        refusal(&incasts("xoff = '40KB'", both)).starts_with(
            "switch.xoff: s0->h0: 24 links x 2 priorities x (40KB + 53.184KB of headroom) = 4.472832MB does not \
             fit into its buffer of 4MB"
        ),
        "{}",
        refusal(&incasts("xoff = '40KB'", both))
    );
    assert_eq!(refusal(&incasts("xoff = '30KB'", both)), "");
    assert_eq!(refusal(&incasts("xoff = '40KB'", ["", ""])), "");
    assert_eq!(refusal(&incasts("xoff = '40KB'\nlossless = [3]", both)), "");
    let noted = scenario(&incasts("xoff = '30KB'", both), &[]);
    assert!(
        noted.notes().iter().any(|note| note.contains("24 links x 2 priorities x (30KB")),
        "{:?}",
        noted.notes()
    );
}

/// The thresholds of single priorities enter the sum: 24 links x (30 KB + 53,184 B + 40 KB + 60,000 B) = 4.396416 MB.
#[test]
fn the_sum_counts_thresholds_of_single_priorities() {
    let refusal = |switch: &str| refusal(&incasts(switch, ["", "pfc_priority = 4"]));
    assert_eq!(
        refusal("xoff = '30KB'\npfc_thresholds = '4 40KB auto 60KB'"),
        "switch.pfc_thresholds: s0->h0: 24 links x (30KB + 53.184KB of headroom for priority 3, 40KB + 60KB of headroom \
         for priority 4) = 4.396416MB does not fit into its buffer of 4MB; an xoff of at most 26.741KB fits"
    );
    assert_eq!(refusal("xoff = '30KB'\npfc_thresholds = '4 20KB'"), "");
    let text = "xoff = '30KB'\npfc_thresholds = '4 20KB auto 10KB'";
    let short = scenario(&incasts(text, ["", "pfc_priority = 4"]), &[]);
    assert!(
        short.warnings().iter().any(|warning| {
            warning.starts_with("switch.headroom: 10KB for priority 4 is less than the 53.184KB")
        }),
        "{:?}",
        short.warnings()
    );
    assert_eq!(
        refusal("xoff = '30KB'\nlossless = [3]\npfc_thresholds = '4 20KB'"),
        "switch.pfc_thresholds: priority 4 is not in switch.lossless = [3], so it is never paused"
    );
    assert!(refusal("xoff = '30KB'\npfc_thresholds = '4 20KB auto auto 0.5'").contains("set switch.memory"));
    assert!(refusal("xoff = '30KB'\npfc_thresholds = '4 20KB 30KB'").contains("PRIORITY XOFF"));
}

/// Thresholds that equal the usual ones change nothing. The priority with the lower XOFF is paused for a longer time, in
/// buffers of ports and in a shared memory, and nothing is dropped.
#[test]
fn priorities_have_thresholds_of_their_own() {
    let both = ["", "pfc_priority = 4"];
    let outcome = |switch: &str| {
        let outcome = run(&scenario(&incasts(switch, both), &[]), &scheme("dcqcn", &[]));
        assert_eq!((outcome.counters.packets_dropped, outcome.counters.unfinished), (0, 0), "{switch}");
        outcome
    };
    let usual = outcome("xoff = '20KB'");
    let same = outcome("xoff = '9KB'\nxon = '1KB'\npfc_thresholds = '3 20KB; 4 20KB 17920B 53184B'");
    assert_eq!(same.digest(), usual.digest());
    let of = |outcome: &Outcome| [3, 4].map(|priority| paused(outcome, priority));
    let [usual_three, usual_four] = of(&usual);
    let [three, four] = of(&outcome("xoff = '20KB'\npfc_thresholds = '3 5KB'"));
    assert!(three > usual_three.times(2) && three > four.times(2), "{three}, {four}; {usual_three}");
    let [three, four] = of(&outcome("xoff = '5KB'\npfc_thresholds = '3 20KB'"));
    assert!(four > usual_four.times(2) && four > three.times(2), "{three}, {four}; {usual_four}");
    let dynamic = "xoff = '1MB'\nmemory = '4MB'\nxoff_alpha = 0.005\npfc_thresholds = '4 1MB auto auto 0.1'";
    let [three, four] = of(&outcome(dynamic));
    assert!(three > four, "{three}, {four}");
}

/// The scenario is refused if no lossless priority has traffic, if the table of a port lists lossless priorities,
/// or if lossy data has no memory.
#[test]
fn impossible_priorities_are_refused() {
    let both = ["", "pfc_priority = 4"];
    let none = refusal(&incasts("xoff = '30KB'\nlossless = [5]", both));
    assert_eq!(none, "switch.lossless: no traffic has one of these priorities; traffic has 3, 4");
    let idle = refusal(
        &(incasts("", both) + "[faults]\nlinks = ['s0->h3']\npause_at = '1ms'\npause_priority = 5\n"),
    );
    assert_eq!(idle, "faults.pause_priority: no traffic has priority 5; traffic has 3, 4");
    let inside = refusal(&incasts("xoff = '30KB'\n[switch.\"s0->h3\"]\nlossless = [3]", both));
    assert!(inside.contains("lossless"), "{inside}");
    let full = refusal(&incasts("xoff = '113480B'\nlossless = [3]", both));
    assert!(full.contains("no room for a lossy packet"), "{full}");
    let small = incasts("xoff = '30KB'\nlossless = [3]\nmemory = '16MB'", both).replace("'4MB'", "'2050KB'");
    assert!(
        refusal(&small).contains("of 2.05MB") && refusal(&small).contains("raise switch.buffer"),
        "{}",
        refusal(&small)
    );
    assert!(refusal(&incasts("xoff = '30KB'\nlossless = [8]", both)).contains("0 to 7"));
    assert!(
        refusal(&incasts("xoff = '30KB'\nweights = [1, 1, 1, 1, 1, 1, 1, 1, 1]", both))
            .contains("eight weights")
    );
}

/// Two lossless priorities: nothing is dropped, and both are paused. With priority 4 lossy, only priority 3
/// is paused, and only priority 4 loses packets.
#[test]
fn only_lossy_priorities_lose_packets() {
    let both = ["", "pfc_priority = 4"];
    let lossless = run(&scenario(&incasts("xoff = '30KB'", both), &[]), &scheme("dcqcn", &[]));
    assert_eq!((lossless.counters.packets_dropped, lossless.counters.unfinished), (0, 0));
    assert!(pauses(&lossless, 3) > 10 && pauses(&lossless, 4) > 10);
    for switch in
        ["xoff = '30KB'\nlossless = [3]", "xoff = '30KB'\nlossless = [3]\nmemory = '4MB'\nxoff_alpha = 0.1"]
    {
        let mixed = run(&scenario(&incasts(switch, both), &[]), &scheme("dcqcn", &[]));
        assert!(pauses(&mixed, 3) > 10 && pauses(&mixed, 4) == 0, "{switch}");
        let [of_3, of_4] = retransmits(&mixed, 12);
        assert!(mixed.counters.packets_dropped > 100 && of_3 == 0 && of_4 > 100, "{switch}: {of_3}, {of_4}");
    }
}

/// h0 sends to h2 and h3 over one link between two switches. h3 is slow, so the second switch pauses the
/// priority of its flow. A flow to h2 waits if it has this priority, and does not wait with another.
#[test]
fn a_pause_holds_back_its_own_priority_alone() {
    let edges = "a,b,rate,delay\nh0,s0,10Gbps,1us\nh1,s0,10Gbps,1us\nh2,s1,10Gbps,1us\nh3,s1,1Gbps,1us\ns0,s1,10Gbps,1us\n";
    let victim = |keys: &str| {
        let text = format!(
            "title = 'victim'\nduration = '20ms'\ndrain = '1s'\n[topology]\nkind = 'explicit'\nfile = 'links.csv'\n\
             [tcp]\ninitial_window = 1000\n[switch]\nbuffer = '400KB'\nmark_above = 'unlimited'\nxoff = '30KB'\n\
             [[traffic]]\nkind = 'long-lived'\nflows = 1\nfrom = 1\nto = 3\nclass = 'long'\n\
             [[traffic]]\nkind = 'incast'\nflows = 1\nfrom = 0\nto = 2\nat = '10ms'\n{keys}\nsizes = {{ kind = 'fixed', value = '100KB' }}\n"
        );
        let outcome = run(&scenario_with_file(&text, edges), &scheme("dcqcn", &[]));
        assert_eq!(outcome.counters.packets_dropped, 0);
        outcome.flows.iter().find(|flow| flow.source.0 == 0).unwrap().slowdown().unwrap()
    };
    let (same, other) = (victim(""), victim("pfc_priority = 4"));
    assert!(same > 3.0 && other < 1.3, "{same}, {other}");
}

/// Two endless flows of two priorities share the link to one host by the weights 1 and 3. If the scenario pauses
/// one priority for half the time, the other priority has the link alone in this time.
#[test]
fn weights_share_a_link() {
    let text = |more: &str| {
        format!(
            "title = 'weights'\nduration = '8ms'\nwarmup = '1ms'\ndrain = '0s'\n\
             topology = {{ kind = 'star', hosts = 3, rate = '10Gbps', rtt = '8us' }}\ntcp = {{ mss = '1000B' }}\n\
             [switch]\nbuffer = '1MB'\nmark_above = 'unlimited'\nxoff = '40KB'\nweights = [1, 1, 1, 1, 3]\n\
             [[traffic]]\nkind = 'long-lived'\nflows = 1\nfrom = 0\nto = 2\n\
             [[traffic]]\nkind = 'long-lived'\nflows = 1\nfrom = 1\nto = 2\npfc_priority = 4\n{more}"
        )
    };
    let shares = |text: &str| {
        let outcome = run(&scenario(text, &[]), &scheme("dcqcn", &[("queue.min", "auto")]));
        assert_eq!(outcome.counters.packets_dropped, 0);
        let bytes =
            |host: u32| outcome.flows.iter().find(|flow| flow.source.0 == host).unwrap().delivered_in_window;
        let bytes = [0, 1].map(|host| bytes(host).get() as f64);
        bytes[1] / (bytes[0] + bytes[1])
    };
    let share = shares(&text(""));
    assert!((share - 0.75).abs() < 0.01, "{share}");
    let paused = "[faults]\nlinks = ['s0->h2']\npause_at = '1ms'\nresume_at = '4500us'\npause_priority = 4\n";
    let share = shares(&text(paused));
    assert!((share - 0.375).abs() < 0.01, "{share}");
}

/// A host with endless flows in two priorities, of which the switch pauses one before the measured time. The other
/// flow takes the whole link: 3 ms at 10 Gbps, of which 1,000 of 1,040 bytes are payload.
#[test]
fn a_host_sends_the_priorities_that_are_not_paused() {
    let text = "title = 'host'\nduration = '6ms'\nwarmup = '3ms'\ndrain = '0s'\n\
        topology = { kind = 'star', hosts = 3, rate = '10Gbps', rtt = '8us' }\ntcp = { mss = '1000B' }\n\
        switch = { buffer = '1MB', mark_above = '65KB', xoff = '100KB' }\n\
        faults = { links = ['h0->s0'], pause_at = '1ms', pause_priority = 4 }\n\
        [[traffic]]\nkind = 'long-lived'\nflows = 1\nfrom = 0\nto = 1\n\
        [[traffic]]\nkind = 'long-lived'\nflows = 1\nfrom = 0\nto = 2\npfc_priority = 4\n";
    for (name, keys) in
        [("dcqcn", ""), ("hpcc", ""), ("tcp", ""), ("dctcp", ""), ("dctcp", "host.small_queue = 2\n")]
    {
        let outcome = run(&scenario(&format!("{keys}{text}"), &[]), &scheme(name, &[]));
        let bytes = |host: u32| {
            outcome.flows.iter().find(|flow| flow.destination.0 == host).unwrap().delivered_in_window.get()
        };
        assert_eq!(bytes(2), 0, "{name}");
        let share = bytes(1) as f64 / (3e-3 * 10e9 / 8.0 / 1.04);
        assert!((0.9..1.001).contains(&share), "{name}: {share}");
    }
}

/// A fault pauses all priorities, or only its `pause_priority`.
#[test]
fn a_planned_pause_may_concern_one_priority() {
    let paused = |keys: &str| {
        let text = format!(
            "{}\n[faults]\nlinks = ['s0->h24']\npause_at = '200us'\nresume_at = '1200us'\n{keys}",
            incasts("xoff = 'none'", ["", "pfc_priority = 4"])
        )
        .replace("'4MB'", "'unlimited'");
        let outcome = run(&scenario(&text, &[]), &scheme("dcqcn", &[]));
        let port = outcome.ports.iter().find(|port| port.to.0 == 24).unwrap();
        let all = port.pauses.unwrap();
        (
            port.pauses_by_priority
                .iter()
                .map(|(priority, counts)| (*priority, counts.paused))
                .collect::<Vec<_>>(),
            all.pauses,
            all.paused,
        )
    };
    let (none, time) = (Span::ZERO, Span::from_millis(1));
    assert_eq!(paused("pause_priority = 4"), (vec![(3, none), (4, time)], 1, time));
    assert_eq!(paused(""), (vec![(3, time), (4, time)], 2, time));
}

/// All plans give the same outcome, with two lossless priorities and a lossy one, and with frames that cross from core
/// to core.
#[test]
fn priorities_are_the_same_by_every_plan() {
    let text = "title = 'plans'\nduration = '3ms'\nwarmup = '1ms'\ndrain = '30ms'\n\
        topology = { kind = 'leaf-spine', racks = 4, hosts_per_rack = 4, spines = 2, rate = '10Gbps', uplink_rate = '20Gbps', rtt = '16us' }\n\
        tcp = { mss = '1000B' }\nswitch = { buffer = '2MB', mark_above = '60KB', xoff = '15KB', lossless = [3, 4], weights = [1, 1, 1, 2, 5, 1, 1, 1] }\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'pareto', shape = 1.2, mean = '20KB', max = '300KB' }\nload = 0.4\n\
        [[traffic]]\nkind = 'incast'\nflows = 12\nsizes = { kind = 'fixed', value = '100KB' }\nat = '1ms'\nrepeat = 2\nevery = '1ms'\npfc_priority = 4\nconnections = 'persistent'\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'pareto', shape = 1.2, mean = '20KB', max = '300KB' }\nload = 0.3\npfc_priority = 0\n";
    let dynamic = text.replace("xoff = '15KB'", "xoff = '300KB', memory = '2MB', xoff_alpha = 0.02");
    let by_priority = text.replace("'15KB'", "'15KB', pfc_thresholds = '4 10KB 5KB auto'");
    let both = dynamic.replace("alpha = 0.02", "alpha = 0.02, pfc_thresholds = '4 30KB auto 40KB 0.05'");
    for (name, text) in [
        ("dcqcn", text),
        ("dctcp", text),
        ("hpcc", text),
        ("dcqcn", &*dynamic),
        ("hpcc", &*by_priority),
        ("dcqcn", &*both),
    ] {
        let (outcome, legal) = all_alike(&scenario(text, &[]), &scheme(name, &[]), 1);
        assert!(
            legal.iter().any(|modes| modes.cores > 1) && legal.iter().any(|modes| modes.windows),
            "{legal:?}"
        );
        let found = [3, 4, 0].map(|priority| pauses(&outcome, priority));
        assert!(found[0] > 3 && found[1] > 3 && found[2] == 0, "{name}: {found:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With any accepted rates, delays, thresholds and weights, no lossless packet is dropped, and every paused flow
    /// finishes, beside a lossy priority that fills its memory.
    #[test]
    fn lossless_priorities_lose_nothing(
        (gbps, delay, xoff, xon) in (10u64..100, 100u64..20_000, 4u64..60, any::<bool>()),
        alpha in prop::option::of(1u32..40),
        own in prop::option::of(4u64..60),
        (weights, seed) in (prop::collection::vec(1u32..20, 8), 0u64..1000),
    ) {
        let memory = alpha.map_or(String::new(), |alpha| {
            format!("memory = '20MB'\nxoff_alpha = {}", f64::from(alpha) / 10.0)
        });
        let xon = if xon { format!("xon = '{}KB'", xoff / 2) } else { String::new() };
        let own = own.map_or(String::new(), |own| format!("pfc_thresholds = '4 {own}KB'"));
        let incast = |priority: u8| {
            format!(
                "[[traffic]]\nkind = 'incast'\nflows = 8\nsizes = {{ kind = 'fixed', value = '900KB' }}\nfrom = '{}-{}'\nto = 12\npfc_priority = {priority}\n",
                4 * (priority - 2), 4 * (priority - 2) + 3,
            )
        };
        let text = format!(
            "title = 'any'\nduration = '2ms'\ndrain = '10s'\n\
             topology = {{ kind = 'star', hosts = 13, rate = '{gbps}Gbps', rtt = '{}ns' }}\n\
             [switch]\nbuffer = '20MB'\nmark_above = '10MB'\nxoff = '{xoff}KB'\n{xon}\n{memory}\n{own}\nlossless = [3, 4]\nweights = {weights:?}\n{}",
            4 * delay, [2, 3, 4].map(incast).concat(),
        );
        let outcome = simulation::run(&scenario(&text, &[]), &scheme("dcqcn", &[]), seed, &mut NoObserver).unwrap();
        let [_, lossless] = retransmits(&outcome, 4);
        prop_assert_eq!(lossless, 0);
        prop_assert_eq!(outcome.counters.unfinished, 0);
        prop_assert_eq!(pauses(&outcome, 2), 0);
    }
}
