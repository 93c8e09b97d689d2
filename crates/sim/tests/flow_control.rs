//! Priority flow control in whole scenarios: no packet is dropped, victims wait, impossible thresholds are
//! refused, and cycles are named.

use crate::common::{TRACE, run, scenario, scenario_with_file, scheme};
use crate::modes::all_alike;
use proptest::prelude::*;
use shortflow_sim::outcome::{Outcome, PortRow};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::schemes;
use shortflow_sim::simulation::{self, NoObserver, RunError};
use shortflow_units::Span;

/// In a star of 100 Gbit/s, 24 hosts send 500 KB each to a 25th host.
fn incast(switch: &str) -> String {
    format!(
        "title = 'incast'\nduration = '3ms'\ndrain = '50ms'\n\
         topology = {{ kind = 'star', hosts = 25, rate = '100Gbps', rtt = '8us' }}\n\
         tcp = {{ mss = '1000B' }}\n[switch]\nbuffer = '2MB'\nmark_above = '100KB'\n{switch}\n\
         [[traffic]]\nkind = 'incast'\nflows = 24\nsizes = {{ kind = 'fixed', value = '500KB' }}\nto = 24\nat = '100us'\n"
    )
}

fn refusal(text: &str) -> String {
    let read = Scenario::parse(text, "test", &[], &|_| Ok(String::new()));
    read.err().map(|error| error.to_string()).unwrap_or_default()
}

fn into(outcome: &Outcome, to: u32) -> &PortRow {
    outcome.ports.iter().find(|port| port.to.0 == to).unwrap()
}

fn paused(outcome: &Outcome) -> u64 {
    outcome.ports.iter().filter_map(|port| port.pauses).map(|counts| counts.pauses).sum()
}

/// Without flow control, more than a thousand packets are dropped. With flow control, no packet is dropped,
/// and hosts are paused.
#[test]
fn flow_control_drops_nothing() {
    let lossy = run(&scenario(&incast(""), &[]), &scheme("dcqcn", &[]));
    assert!(lossy.counters.packets_dropped > 1000 && paused(&lossy) == 0);
    let lossless = run(&scenario(&incast("xoff = '20KB'"), &[]), &scheme("dcqcn", &[]));
    assert_eq!((lossless.counters.packets_dropped, lossless.counters.unfinished), (0, 0));
    assert!(paused(&lossless) > 24, "{}", paused(&lossless));
    assert!(lossless.flows.iter().all(|flow| flow.retransmits == 0));
}

/// 24 × (40 KB + headroom) do not fit into 2 MB. The headroom of a link of 100 Gbit/s and 2 µs is the sum of
/// the bytes on the wire in both directions (50,000 bytes), three packets of 1,040 bytes and a frame of 64
/// bytes.
#[test]
fn thresholds_that_do_not_fit_are_refused_with_the_sum() {
    assert_eq!(
        refusal(&incast("xoff = '40KB'")),
        "switch.xoff: s0->h0: 24 links x (40KB + 53.184KB of headroom) = 2.236416MB does not fit into its buffer of 2MB; \
         an xoff of at most 30.149KB fits"
    );
    assert!(refusal(&incast("xoff = '30KB'\nxon = '31KB'")).contains("xon"));
    assert_eq!(refusal(&incast("xoff = '30KB'")), "");
}

/// h0 sends to h2 and h1 sends to h3, over one link between two switches. h3 is slow, so its packets fill the
/// second switch, which pauses the first switch. The flow to h2 waits too, although its own path is free.
#[test]
fn a_pause_holds_back_victims() {
    let edges = "a,b,rate,delay\nh0,s0,10Gbps,1us\nh1,s0,10Gbps,1us\nh2,s1,10Gbps,1us\nh3,s1,1Gbps,1us\ns0,s1,10Gbps,1us\n";
    let text = |switch: &str| {
        format!(
            "title = 'victim'\nduration = '20ms'\ndrain = '1s'\n[topology]\nkind = 'explicit'\nfile = 'links.csv'\n\
             [tcp]\ninitial_window = 1000\n[switch]\nbuffer = '400KB'\nmark_above = 'unlimited'\n{switch}\n\
             [[traffic]]\nkind = 'long-lived'\nflows = 1\nfrom = 1\nto = 3\nclass = 'long'\n\
             [[traffic]]\nkind = 'incast'\nflows = 1\nfrom = 0\nto = 2\nat = '10ms'\nsizes = {{ kind = 'fixed', value = '100KB' }}\n"
        )
    };
    let victim = |switch: &str| {
        let outcome = run(&scenario_with_file(&text(switch), edges), &scheme("dcqcn", &[]));
        let flow = outcome.flows.iter().find(|flow| flow.source.0 == 0).unwrap();
        (flow.slowdown().unwrap(), outcome.counters.packets_dropped)
    };
    let (free, drops) = victim("");
    assert!(free < 1.3 && drops > 100, "{free}, {drops}");
    let (held, drops) = victim("xoff = '30KB'");
    assert!(held > 3.0 && drops == 0, "{held}, {drops}");
}

/// In a ring of five switches, hosts send to the host two switches further on, at twice the rate of each
/// link. `keys` are further keys of the traffic.
fn ring(keys: &str) -> Scenario {
    let links = (0..5).map(|i| {
        let (other, next) = (i + 5, (i + 1) % 5);
        format!("h{i},s{i},10Gbps,1us\nh{other},s{i},10Gbps,1us\ns{i},s{next},10Gbps,1us\n")
    });
    let rows = (0..5).flat_map(|i| {
        let to = (i + 2) % 5;
        [format!("0,h{i},h{to},50000000"), format!("0,h{},h{},50000000", i + 5, to + 5)]
    });
    let text = format!(
        "title = 'ring'\nduration = '20ms'\ndrain = '5ms'\n[topology]\nkind = 'explicit'\nfile = 'links.csv'\n\
         [switch]\nbuffer = '400KB'\nmark_above = 'unlimited'\nxoff = '20KB'\n{TRACE}{keys}"
    );
    let trace = format!("start,source,destination,bytes\n{}\n", rows.collect::<Vec<_>>().join("\n"));
    let edges = format!("a,b,rate,delay\n{}", links.collect::<String>());
    Scenario::parse(&text, "ring", &[], &|name| {
        Ok(if name == "flows.csv" { trace.clone() } else { edges.clone() })
    })
    .unwrap_or_else(|error| panic!("{error}"))
}

/// Every link of the ring is paused, because its packets wait for the next link. The error names the ports of each
/// priority.
#[test]
fn a_cycle_of_paused_ports_is_named() {
    let both = format!("{TRACE}pfc_priority = 4");
    for (keys, named) in [("", &[3][..]), ("pfc_priority = 4", &[4]), (&both, &[3, 4])] {
        let error = simulation::run(&ring(keys), &scheme("dcqcn", &[]), 1, &mut NoObserver).unwrap_err();
        let RunError::Deadlock(text) = error else { panic!("{error}") };
        let told: Vec<&str> = text.split("; ").collect();
        assert_eq!(told.len(), named.len(), "{text}");
        for (told, priority) in told.iter().zip(named) {
            let (deadlock, since) = told.split_once(" have waited for one another since ").unwrap();
            let ports = "s0->s1, s1->s2, s2->s3, s3->s4, s4->s0";
            assert_eq!(deadlock, format!("a deadlock in priority {priority}: {ports}"));
            assert!(since.parse::<Span>().unwrap() < Span::from_millis(5), "{since}");
        }
    }
}

/// A flow of 3 MB crosses a link with a delay of 20 us into a port that is ten times slower. The switch of
/// this port pauses the link.
fn narrow(buffer: &str, faults: &str) -> Outcome {
    let edges = "a,b,rate,delay\nh0,s0,10Gbps,1us\nh1,s0,10Gbps,1us\nh2,s1,1Gbps,1us\ns0,s1,10Gbps,20us\n";
    let text = format!(
        "title = 'narrow'\nduration = '10ms'\ndrain = '1s'\ntcp = {{ mss = '1000B' }}\n\
         topology = {{ kind = 'explicit', file = 'links.csv' }}\n\
         switch = {{ mark_above = 'unlimited', buffer = '{buffer}', xoff = '60KB', xon = '5KB' }}\n{faults}\n\
         [[traffic]]\nkind = 'incast'\nflows = 1\nsizes = {{ kind = 'fixed', value = '3MB' }}\nfrom = 0\nto = 2\n"
    );
    run(&scenario_with_file(&text, edges), &scheme("dcqcn", &[]))
}

/// The link fails while it is paused, for a shorter or longer time than a frame takes. The flow continues
/// afterwards.
#[test]
fn a_link_that_was_paused_goes_on_after_a_failure() {
    for up in ["2010us", "2050us", "2200us", "2250us", "3ms"] {
        let faults = format!("faults = {{ links = ['s0-s1'], down_at = '2ms', up_at = '{up}' }}");
        let outcome = narrow("2MB", &faults);
        assert_eq!(outcome.counters.unfinished, 0, "{up}");
        assert!(paused(&outcome) > 3, "{up}");
    }
}

/// A pause of the scenario and a pause by the switch overlap, and data is resumed when both are over. If two
/// pauses of the scenario are nested, the longer pause counts.
#[test]
fn a_planned_pause_lifts_no_other() {
    let planned = "faults = { links = ['s0->s1'], pause_at = '1500us', resume_at = '1600us' }";
    let outcome = narrow("180KB", planned);
    assert_eq!((outcome.counters.packets_dropped, outcome.counters.unfinished), (0, 0));
    let nested = "faults = [{ links = ['h1->s0'], pause_at = '1ms', resume_at = '5ms' }, \
        { links = ['h1->s0'], pause_at = '2ms', resume_at = '3ms' }]";
    let outcome = narrow("2MB", nested);
    let of_host = outcome.ports.iter().find(|port| port.from.0 == 1).unwrap().pauses.unwrap();
    assert_eq!((of_host.pauses, of_host.paused), (1, Span::from_millis(4)));
}

/// Receivers of 20 Mbit/s are in a ring. Its links pause one another for a long time, but are resumed in the
/// end.
#[test]
fn slow_receivers_are_no_deadlock() {
    let hosts = (0..5).map(|i| {
        let (slow, third, next) = (i + 5, i + 10, (i + 1) % 5);
        format!("h{i},s{i},10Gbps,1us\nh{slow},s{i},20Mbps,1us\nh{third},s{i},10Gbps,1us\ns{i},s{next},10Gbps,1us\n")
    });
    let long = (0..5).map(|i| format!("0,h{i},h{},600000\n", 5 + (i + 1) % 5));
    let short = (0..3).flat_map(|n| (0..5).map(move |i| (n, i)));
    let short = short.map(|(n, i)| {
        format!("{},h{i},h{},2000\n", 0.0005 + 0.002 * f64::from(n) + 0.0001 * f64::from(i), 10 + (i + 2) % 5)
    });
    let trace = format!("start,source,destination,bytes\n{}", long.chain(short).collect::<String>());
    let edges = format!("a,b,rate,delay\n{}", hosts.collect::<String>());
    let text = |drain: &str| {
        format!(
            "title = 'slow'\nduration = '60ms'\ndrain = '{drain}'\ntcp = {{ mss = '1000B' }}\n\
             topology = {{ kind = 'explicit', file = 'links.csv' }}\n\
             switch = {{ buffer = '400KB', mark_above = 'unlimited', xoff = '40KB', xon = '15KB' }}\n{TRACE}"
        )
    };
    for drain in ["7ms", "13ms", "19ms", "20s"] {
        let files = |name: &str| Ok(if name == "flows.csv" { trace.clone() } else { edges.clone() });
        let scenario =
            Scenario::parse(&text(drain), "slow", &[], &files).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scenario, &scheme("dcqcn", &[]));
        assert!(drain != "20s" || outcome.counters.unfinished == 0);
    }
}

/// Thresholds that do not fit into the buffer of a port are refused, even if they fit into the memory. A
/// warning names links that are not paused.
#[test]
fn what_may_be_lost_is_said() {
    let small = incast("xoff = '20KB'\nmemory = '8MB'").replace("buffer = '2MB'", "buffer = '150KB'");
    assert!(refusal(&small).contains("does not fit into its buffer of 150KB"), "{}", refusal(&small));
    let one = scenario(&incast("[switch.\"s0->h3\"]\nxoff = '20KB'"), &[]);
    assert!(one.warnings().iter().any(|text| text.contains("s0 pauses other links, but not h0->s0")));
    let short = scenario(&incast("xoff = '20KB'\nheadroom = '1KB'"), &[]);
    assert!(short.warnings().iter().any(|text| text.contains("1KB is less than the 53.184KB")));
    assert!(
        refusal(&incast("xoff = '20KB'").replace("[switch]", "host.stalls = 100\n[switch]"))
            .contains("does not fit")
    );
}

/// All plans give the same outcome, with frames that cross from core to core.
#[test]
fn flow_control_is_the_same_by_every_plan() {
    let text = "title = 'plans'\nduration = '3ms'\nwarmup = '1ms'\ndrain = '30ms'\n\
        topology = { kind = 'leaf-spine', racks = 4, hosts_per_rack = 4, spines = 2, rate = '10Gbps', uplink_rate = '20Gbps', rtt = '16us' }\n\
        tcp = { mss = '1000B' }\nswitch = { buffer = '1MB', mark_above = '60KB', xoff = '15KB' }\n\
        [[traffic]]\nkind = 'poisson'\nsizes = { kind = 'pareto', shape = 1.2, mean = '20KB', max = '300KB' }\nload = 0.7\n\
        [[traffic]]\nkind = 'incast'\nflows = 12\nsizes = { kind = 'fixed', value = '100KB' }\nat = '1ms'\nrepeat = 2\nevery = '1ms'\n";
    let dynamic = text.replace("xoff = '15KB'", "xoff = '300KB', memory = '1MB', xoff_alpha = 0.02");
    for (name, text) in ["dcqcn", "dctcp", "hpcc", "pfabric", "homa"]
        .map(|name| (name, text))
        .into_iter()
        .chain([("dcqcn", &*dynamic)])
    {
        let (outcome, legal) = all_alike(&scenario(text, &[]), &scheme(name, &[]), 1);
        assert!(
            legal.iter().any(|modes| modes.cores > 1) && legal.iter().any(|modes| modes.windows),
            "{name}: {legal:?}"
        );
        assert!(
            paused(&outcome) > 10 && outcome.counters.packets_dropped == 0,
            "{name}: {}",
            paused(&outcome)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For all accepted rates, delays and thresholds, no scheme loses a packet to a full buffer, all paused
    /// data is resumed, and no port exceeds its thresholds and headroom. Queues that trim have limits of
    /// their own.
    #[test]
    fn what_is_accepted_is_lossless(
        (hosts, gbps, delay) in (3u32..12, 1u64..100, 1u64..20_000),
        (xoff, alpha) in (2u64..60, prop::option::of(1u32..40)),
        (jitter, wire) in (any::<bool>(), any::<bool>()),
        (place, seed) in (any::<prop::sample::Index>(), 0u64..1000),
    ) {
        let memory = alpha.map_or(String::new(), |alpha| {
            format!("memory = '20MB'\nxoff_alpha = {}", f64::from(alpha) / 10.0)
        });
        let text = format!(
            "title = 'any'\nduration = '2ms'\ndrain = '10s'\n\
             topology = {{ kind = 'star', hosts = {hosts}, rate = '{gbps}Gbps', rtt = '{}ns' }}\n\
             host = {{ jitter = '{}' }}\n[tcp]\nwire = '{}'\n\
             [switch]\nbuffer = '20MB'\nmark_above = '100KB'\nxoff = '{xoff}KB'\n{memory}\n\
             [[traffic]]\nkind = 'incast'\nflows = {}\nsizes = {{ kind = 'fixed', value = '300KB' }}\nto = 0\n",
            4 * delay,
            if jitter { "2us" } else { "0s" }, if wire { "ethernet" } else { "none" }, 2 * (hosts - 1),
        );
        let info = &schemes()[place.index(schemes().len())];
        let scheme = scheme(&info.name, &[]);
        let outcome = simulation::run(&scenario(&text, &[]), &scheme, seed, &mut NoObserver).unwrap();
        prop_assert!(outcome.counters.packets_dropped == 0 || info.queue.info().trims, "{}", scheme.name);
        prop_assert_eq!(outcome.counters.unfinished, 0, "{}", scheme.name);
        let headroom = 2 * delay * gbps / 8 + 2 * 2_000 * gbps / 8 + 64 + 3 * 1_600;
        let most = u64::from(hosts - 1) * (xoff * 1000 + headroom) + 64 * u64::from(hosts) * 2 * u64::from(hosts);
        prop_assert!(into(&outcome, 0).max_bytes.get() <= most, "{}: {} of {most}", scheme.name, into(&outcome, 0).max_bytes);
        let waited = outcome.ports.iter().filter_map(|port| port.pauses).map(|counts| counts.paused).max().unwrap();
        prop_assert!(waited <= Span::from_millis(2));
    }
}

/// A port of a host is paused for 1 ms while its switch has 24 first windows for it. Trimmed packets leave as
/// control packets do, and data waits.
#[test]
fn trimmed_packets_leave_a_paused_port() {
    let senders: String = (0..24).map(|host| format!("0,h{host},h24,20440\n")).collect();
    let text = format!(
        "title = 'paused'\nduration = '10ms'\ndrain = '1s'\n\
         topology = {{ kind = 'star', hosts = 25, rate = '10Gbps', rtt = '40us' }}\n\
         switch = {{ buffer = 'unlimited', mark_above = 'unlimited' }}\n\
         faults = {{ links = ['s0->h24'], pause_at = '1us', resume_at = '1ms' }}\n{TRACE}"
    );
    let files = |_: &str| Ok(format!("start,source,destination,bytes\n{senders}"));
    let scenario = Scenario::parse(&text, "paused", &[], &files).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario, &scheme("ndp", &[("transport.rto", "5ms")]));
    assert!(outcome.ports.iter().map(|port| port.trims_in_run).sum::<u64>() > 300);
    assert_eq!(outcome.counters.packets_dropped, 0);
    assert!(outcome.flows.iter().all(|flow| flow.acked == flow.size && flow.timeouts <= 1));
    let port = into(&outcome, 24);
    // Eight data packets wait through the pause; nearly all headers have left.
    assert!(port.max_bytes.get() < 8 * 1_500 + 24 * 40 * 4, "{}", port.max_bytes);
}
