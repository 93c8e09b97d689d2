//! Keys that are reported because they have no effect, and keys that have one.

use shortflow_fuzz::{Moves, idle_keys};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::service::ServiceModel;
use shortflow_sim::simulation::NoObserver;
use toml::Table;

/// A key that is reported as idle does not change the outcome, whatever its value.
#[test]
fn an_idle_key_changes_nothing() {
    let draws: Vec<Vec<String>> = (0..150)
        .filter_map(|number| {
            idle_keys(number).unwrap_or_else(|difference| panic!("draw {number}: {difference}"))
        })
        .collect();
    let keys = draws.iter().flatten().count();
    assert!(draws.len() > 50 && keys > 500, "{keys} idle keys in {} runs", draws.len());
}

/// Every key except those in `EXEMPT` changes the outcome of some drawn run, or of a run in `OWN`.
#[test]
fn every_key_moves_some_outcome() {
    let mut moves = Moves::default();
    let is_exempt = |key: &str| EXEMPT.iter().any(|end| key.ends_with(end)) || key.starts_with("part.");
    let is_own = |key: &str| OWN.iter().any(|own| own.0 == key);
    let missing = |moves: &Moves| -> Vec<String> {
        moves.missing().into_iter().filter(|key| !is_exempt(key) && !is_own(key)).collect()
    };
    for number in 0..800 {
        moves.try_draw(number);
        if missing(&moves).is_empty() {
            return;
        }
    }
    panic!("no draw moves {:?}", missing(&moves));
}

/// Keys without effect on an outcome: the title is text, `unmeasured` silences an error, and files are read whole.
/// The keys of `parts` are exempt too, because they are those of `sizes`. All kinds of traffic share the key `pfc_priority`,
/// which a run in `OWN` moves.
const EXEMPT: [&str; 4] = [".title", ".unmeasured", "file", ".pfc_priority"];

/// Keys that draws seldom move, each with a scheme, settings around the key, and another value.
type Own =
    (&'static str, &'static str, &'static [(&'static str, &'static str)], (&'static str, &'static str));

const OWN: &[Own] = &[
    ("topology.explicit.rate", "dctcp", FILE, ("topology.rate", "2Gbps")),
    ("topology.explicit.delay", "dctcp", FILE, ("topology.delay", "9us")),
    ("topology.leaf-spine.oversubscription", "dctcp", LEAVES, ("topology.oversubscription", "4")),
    ("topology.two-tier-tree.oversubscription", "dctcp", TREE, ("topology.oversubscription", "4")),
    ("traffic.arrivals.rate_per_s", "dctcp", ARRIVALS, ("traffic.1.rate_per_s", "3000")),
    ("traffic.poisson.rate_per_s", "dctcp", POISSON, ("traffic.1.rate_per_s", "3000")),
    ("traffic.arrivals.local", "dctcp", LOCAL, ("traffic.1.local", "0.2")),
    ("traffic.poisson.local", "dctcp", LOCAL_POISSON, ("traffic.1.local", "0.2")),
    ("traffic.trace.class", "dctcp", TRACE, ("traffic.1.class", "mice")),
    ("routing.flowlet.gap", "dctcp", FLOWLETS, ("routing.gap", "1us")),
    ("traffic.arrivals.hot_hosts", "dctcp", HOT_ARRIVALS, ("traffic.1.hot_hosts", "1")),
    ("traffic.arrivals.hot", "dctcp", HOT_ARRIVALS, ("traffic.1.hot", "0.2")),
    ("traffic.poisson.hot_hosts", "dctcp", HOT, ("traffic.1.hot_hosts", "1")),
    ("traffic.poisson.hot", "dctcp", HOT, ("traffic.1.hot", "0.2")),
    ("traffic.mapreduce.think", "dctcp", JOBS, ("traffic.1.think", "3ms")),
    ("switch.xoff", "dctcp", BYTES, ("switch.xoff", "20KB")),
    ("switch.xon", "dctcp", LOSSLESS, ("switch.xon", "2KB")),
    ("switch.xoff_alpha", "dctcp", LOSSLESS, ("switch.xoff_alpha", "0.01")),
    ("switch.headroom", "dctcp", DYNAMIC, ("switch.headroom", "200KB")),
    ("switch.pfc_thresholds", "dctcp", LOSSLESS, ("switch.pfc_thresholds", "3 10KB")),
    ("switch.lossless", "dctcp", TWO_PRIORITIES, ("switch.lossless", "[4]")),
    ("switch.weights", "dctcp", TWO_PRIORITIES, ("switch.weights", "[1, 1, 1, 1, 9]")),
    ("traffic.incast.pfc_priority", "dctcp", LOSSLESS, ("traffic.2.pfc_priority", "4")),
    ("faults.pause_priority", "dctcp", PAUSED_PRIORITIES, ("faults.pause_priority", "4")),
    ("faults.pause_at", "dctcp", PORT, ("faults.pause_at", "1ms")),
    ("faults.resume_at", "dctcp", PAUSED, ("faults.resume_at", "2ms")),
    ("faults.up_at", "dctcp", OUTAGE, ("faults.up_at", "20ms")),
    ("queue.priority-ecn.among", "sack over priority-ecn+ecn=classic", LOWEST, ("queue.among", "unmarked")),
    ("transport.atcp.dupthresh", "atcp", LOSSY, ("transport.dupthresh", "9")),
    ("transport.atcp.w_low", "atcp+t1=1KB+t2=1KB", &[], ("transport.w_low", "0.1")),
    ("transport.d2tcp.clip_high", "d2tcp+initial_alpha=0+cwnd_floor=1", URGENT, ("transport.clip_high", "9")),
    (
        "transport.d2tcp.clip_low",
        "d2tcp+initial_alpha=0+cwnd_floor=1",
        RELAXED,
        ("transport.clip_low", "0.9"),
    ),
    ("transport.d2tcp.dupthresh", "d2tcp+initial_alpha=0+cwnd_floor=1", LOSSY, ("transport.dupthresh", "9")),
    ("transport.d2tcp.expired", "d2tcp+initial_alpha=0+cwnd_floor=1", URGENT, ("transport.expired", "9")),
    ("transport.fast.dupthresh", "fast", LOSSY, ("transport.dupthresh", "9")),
    ("transport.l2dct.knee_high", "l2dct", &[], ("transport.knee_high", "2MB")),
    ("transport.sack.ecn", "sack over step-ecn", &[], ("transport.ecn", "classic")),
    ("transport.swift.ecn", "swift over step-ecn", &[], ("transport.ecn", "exact")),
    ("transport.hpcc.cnp_every", "hpcc over step-ecn", &[], ("transport.cnp_every", "1us")),
    ("transport.timely.cnp_every", "timely over step-ecn", &[], ("transport.cnp_every", "1us")),
    ("transport.timely.cnp_delay", "timely over step-ecn", &[], ("transport.cnp_delay", "20us")),
    ("transport.hpcc.cnp_delay", "hpcc over step-ecn", &[], ("transport.cnp_delay", "20us")),
    ("transport.cubic.ecn", "cubic over step-ecn", &[], ("transport.ecn", "classic")),
    ("switch.mark_all_above", "red", &[], ("switch.mark_all_above", "9pkt")),
    ("switch.mark_probability", "red", &[], ("switch.mark_probability", "0.9")),
    ("transport.timely.high", "timely", &[("switch.buffer", "100pkt")], ("transport.high", "60us")),
    ("transport.timely.alpha", "timely", &[], ("transport.alpha", "0.1")),
    ("transport.timely.beta", "timely", &[], ("transport.beta", "0.1")),
    ("transport.timely.delta", "timely", &[], ("transport.delta", "100Mbps")),
    ("transport.timely.hyper", "timely", &[], ("transport.hyper", "50")),
    ("transport.timely.min_rate", "timely", &[], ("transport.min_rate", "500Mbps")),
    ("transport.timely.min_rtt", "timely", &[], ("transport.min_rtt", "1ms")),
    ("transport.homa.incoming", "homa+window=dynamic", &[], ("transport.incoming", "1KB")),
    ("transport.ndp.rto", "ndp", LOSSY, ("transport.rto", "5ms")),
    ("transport.swift.hop", "swift+base_target=150us", &[], ("transport.hop", "50us")),
    ("transport.swift.host_target", "swift", LATE, ("transport.host_target", "1us")),
    ("transport.swift.retx_reset", "swift", OUTAGE, ("transport.retx_reset", "1")),
    ("transport.xdctcp.classify", "xdctcp", &[], ("transport.classify", "bytes")),
    ("transport.xdctcp.initial_alpha", "xdctcp", &[], ("transport.initial_alpha", "0.9")),
    ("transport.xdctcp.nl", "xdctcp", &[], ("transport.nl", "0.5")),
    ("transport.xdctcp.ns", "xdctcp", &[], ("transport.ns", "0.5")),
    ("transport.xdctcp.threshold", "xdctcp+classify=bytes", &[], ("transport.threshold", "1KB")),
    ("transport.atcp.cwnd_floor", "atcp over step-ecn+ecn=classic", &[], ("transport.cwnd_floor", "9")),
    ("transport.atcp.middle", "atcp+t1=1KB", &[], ("transport.middle", "exponential")),
    ("transport.atcp.t2", "atcp+t1=1KB", &[], ("transport.t2", "100KB")),
    ("transport.cubic.beta_ecn", "cubic over step-ecn+ecn=classic", &[], ("transport.beta_ecn", "0.3")),
    ("transport.cubic.c", "cubic+reno_friendly=false", &[], ("transport.c", "1e5")),
    (
        "transport.cubic.fast_convergence",
        "cubic+reno_friendly=false+c=1e5",
        LOSSY,
        ("transport.fast_convergence", "false"),
    ),
    ("transport.cubic.reno_friendly", "cubic", &[], ("transport.reno_friendly", "false")),
    (
        "transport.dcqcn.additive",
        "dcqcn over step-ecn+fast_recovery=1",
        &[],
        ("transport.additive", "500Mbps"),
    ),
    (
        "transport.dcqcn.hyper",
        "dcqcn over step-ecn+fast_recovery=1+bytes=10KB",
        &[],
        ("transport.hyper", "500Mbps"),
    ),
    (
        "transport.dcqcn.additive_share",
        "dcqcn over step-ecn+fast_recovery=1",
        &[],
        ("transport.additive_share", "0.5"),
    ),
    (
        "transport.dcqcn.hyper_share",
        "dcqcn over step-ecn+fast_recovery=1+bytes=10KB",
        &[],
        ("transport.hyper_share", "0.5"),
    ),
    ("transport.dcqcn.decrease_timer", "dcqcn over step-ecn", &[], ("transport.decrease_timer", "4us")),
    (
        "transport.dcqcn.fast_recovery",
        "dcqcn over step-ecn+bytes=10KB",
        &[],
        ("transport.fast_recovery", "1"),
    ),
    ("transport.dcqcn.cnp_every", "dcqcn over step-ecn", &[], ("transport.cnp_every", "1us")),
    ("transport.dcqcn.window", "dcqcn over step-ecn", &[], ("transport.window", "true")),
    ("transport.ndp.window", "ndp", &[], ("transport.window", "3")),
    ("queue.trim.returns", "ndp", &[("queue.headers", "1")], ("queue.returns", "false")),
    ("queue.trim.tail", "ndp", &[], ("queue.tail", "0.1")),
    ("queue.red.curves", "red", &[], ("queue.curves", "1Gbps 2pkt 9pkt 0.5")),
    ("queue.red.drop_not_ect", "sack over red", &[], ("queue.drop_not_ect", "false")),
    ("queue.trim.headers", "ndp", &[], ("queue.headers", "1")),
    ("queue.trim.weight", "ndp", &[], ("queue.weight", "1")),
    ("transport.fast.cut", "fast", &[], ("transport.cut", "ack")),
    ("transport.fast.loss_floor", "fast+w_min=50", LOSSY, ("transport.loss_floor", "tcp")),
    ("transport.fast.nagle", "fast", &[], ("transport.nagle", "true")),
    ("transport.fast.regrowth", "fast", &[], ("transport.regrowth", "tcp")),
    ("transport.swift.dupthresh", "swift", &[("switch.buffer", "6pkt")], ("transport.dupthresh", "9")),
    ("transport.swift.recovery", "swift", &[("switch.buffer", "6pkt")], ("transport.recovery", "newreno")),
    ("transport.xdctcp.dupthresh", "xdctcp", &[("switch.buffer", "6pkt")], ("transport.dupthresh", "9")),
];
const FILE: &[(&str, &str)] =
    &[("topology", "{ kind = \"explicit\", file = \"net.csv\", rate = \"1Gbps\", delay = \"5us\" }")];
const LEAVES: &[(&str, &str)] = &[(
    "topology",
    "{ kind = \"leaf-spine\", racks = 2, hosts_per_rack = 2, spines = 2, rate = \"1Gbps\", rtt = \"100us\", oversubscription = 1 }",
)];
const TREE: &[(&str, &str)] = &[(
    "topology",
    "{ kind = \"two-tier-tree\", racks = 2, hosts_per_rack = 2, rate = \"1Gbps\", rtt = \"100us\", oversubscription = 1 }",
)];
const ARRIVALS: &[(&str, &str)] = &[(
    "traffic.1",
    "{ kind = \"arrivals\", rate_per_s = 2000, interarrival = { kind = \"log-normal\", sigma = 1 }, sizes = { kind = \"fixed\", value = \"20KB\" } }",
)];
const POISSON: &[(&str, &str)] = &[(
    "traffic.1",
    "{ kind = \"poisson\", rate_per_s = 2000, sizes = { kind = \"fixed\", value = \"20KB\" } }",
)];
const LOCAL: &[(&str, &str)] = &[
    LEAVES[0],
    (
        "traffic.1",
        "{ kind = \"arrivals\", load = 0.3, pattern = \"rack-locality\", local = 0.8, interarrival = { kind = \"log-normal\", sigma = 1 }, sizes = { kind = \"fixed\", value = \"20KB\" } }",
    ),
];
const LOCAL_POISSON: &[(&str, &str)] = &[
    LEAVES[0],
    (
        "traffic.1",
        "{ kind = \"poisson\", load = 0.3, pattern = \"rack-locality\", local = 0.8, sizes = { kind = \"fixed\", value = \"20KB\" } }",
    ),
];
const TRACE: &[(&str, &str)] = &[("traffic.1", "{ kind = \"trace\", file = \"flows.csv\" }")];
const FLOWLETS: &[(&str, &str)] = &[LEAVES[0], ("routing", "{ kind = \"flowlet\" }")];
const HOT: &[(&str, &str)] = &[(
    "traffic.1",
    "{ kind = \"poisson\", load = 0.3, pattern = \"hot-spot\", hot = 0.8, sizes = { kind = \"fixed\", value = \"20KB\" } }",
)];
const HOT_ARRIVALS: &[(&str, &str)] = &[(
    "traffic.1",
    "{ kind = \"arrivals\", load = 0.3, pattern = \"hot-spot\", hot = 0.8, interarrival = { kind = \"log-normal\", sigma = 1 }, sizes = { kind = \"fixed\", value = \"20KB\" } }",
)];
const JOBS: &[(&str, &str)] = &[(
    "traffic.1",
    "{ kind = \"mapreduce\", mappers = \"0-1\", reducers = [2], collector = 3, repeat = 3, sizes = { kind = \"fixed\", value = \"20KB\" } }",
)];
const LOWEST: &[(&str, &str)] =
    &[("queue.mark", "lowest"), ("priority.by", "size"), ("transport.dupthresh", "1000")];
const URGENT: &[(&str, &str)] = &[("traffic.2.deadline", "{ kind = \"fixed\", value = \"3ms\" }")];
const RELAXED: &[(&str, &str)] = &[("traffic.2.deadline", "{ kind = \"fixed\", value = \"1s\" }")];
const OUTAGE: &[(&str, &str)] = &[("faults", "{ links = [\"h3-s0\"], down_at = \"8ms\", up_at = \"30ms\" }")];
const LATE: &[(&str, &str)] = &[("host", "{ jitter = \"20us\" }")];
const BYTES: &[(&str, &str)] = &[
    ("switch", "{ buffer = \"1MB\", mark_above = \"200KB\", memory = \"1MB\" }"),
    ("tcp", "{ initial_window = 100 }"),
];
const LOSSLESS: &[(&str, &str)] = &[
    ("switch", "{ buffer = \"1MB\", mark_above = \"200KB\", memory = \"1MB\", xoff = \"20KB\" }"),
    ("tcp", "{ initial_window = 100 }"),
];
const TWO_PRIORITIES: &[(&str, &str)] = &[LOSSLESS[0], LOSSLESS[1], ("traffic.2.pfc_priority", "4")];
const PAUSED_PRIORITIES: &[(&str, &str)] = &[PAUSED[0], ("traffic.2.pfc_priority", "4")];
const DYNAMIC: &[(&str, &str)] = &[
    (
        "switch",
        "{ buffer = \"1MB\", mark_above = \"200KB\", memory = \"1MB\", xoff = \"200KB\", xoff_alpha = 0.05 }",
    ),
    ("tcp", "{ initial_window = 100 }"),
];
const PORT: &[(&str, &str)] = &[("faults", "{ links = [\"s0->h3\"] }")];
const PAUSED: &[(&str, &str)] =
    &[("faults", "{ links = [\"s0->h3\"], pause_at = \"1ms\", resume_at = \"9ms\" }")];
const LOSSY: &[(&str, &str)] = &[("faults", "{ loss = 0.02 }")];

/// A scenario with two long flows and bursts into one port, which marks and drops.
const PLAIN: &str = "title = \"t\"\nduration = \"60ms\"\n[topology]\nkind = \"star\"\nhosts = 4\nrate = \"1Gbps\"\n\
    rtt = \"100us\"\n[switch]\nbuffer = \"20pkt\"\nmark_above = \"5pkt\"\n[tcp]\ninitial_window = 2\n[[traffic]]\nkind = \"long-lived\"\nfrom = \"0-1\"\n\
    to = 3\n[[traffic]]\nkind = \"incast\"\nflows = 9\nfrom = \"0-2\"\nto = 3\nrepeat = 9\nevery = \"5ms\"\n\
    sizes = { kind = \"fixed\", value = \"30KB\" }\n";

#[test]
fn keys_that_draws_seldom_move_act() {
    let files = |name: &str| {
        Ok(match name {
            "net.csv" => "a,b,rate,delay\nh0,s0,,\nh1,s0,,\nh2,s0,,\nh3,s0,,\n".to_owned(),
            _ => "start,source,destination,bytes\n0.001,0,3,20000\n".to_owned(),
        })
    };
    let is_of_scheme =
        |key: &str| ["transport.", "queue.", "priority."].iter().any(|table| key.starts_with(table));
    for (name, scheme, around, (key, value)) in OWN {
        let own = |text: &str| {
            let (base, set) = text.split_once('+').unwrap_or((text, ""));
            let pairs = set.split('+').filter_map(|pair| pair.split_once('='));
            (
                base.to_owned(),
                pairs.map(|(key, value)| (format!("transport.{key}"), value.to_owned())).collect::<Vec<_>>(),
            )
        };
        let digest = |more: &[(&str, &str)]| {
            let (base, mut of_scheme) = own(scheme);
            let mut settings: Vec<(String, String)> = Vec::new();
            for (key, value) in around.iter().chain(more) {
                let of = if is_of_scheme(key) { &mut of_scheme } else { &mut settings };
                of.push(((*key).to_owned(), (*value).to_owned()));
            }
            // Settings change single keys; whole tables go into the file.
            let (tables, settings): (Vec<_>, Vec<_>) =
                settings.into_iter().partition(|(_, value)| value.starts_with('{'));
            let mut values: Table = PLAIN.parse().unwrap();
            for (place, text) in tables {
                let table = format!("it = {text}").parse::<Table>().unwrap().remove("it").unwrap();
                match (place.as_str(), values["traffic"].as_array_mut()) {
                    ("traffic.1", Some(entries)) => entries[0] = table,
                    ("traffic.2.deadline", Some(entries)) => {
                        drop(entries[1].as_table_mut().unwrap().insert("deadline".to_owned(), table));
                    }
                    _ => drop(values.insert(place, table)),
                }
            }
            let scenario = Scenario::of_values(values, "t", &settings, &files)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let service =
                ServiceModel::named(&base, &of_scheme).unwrap_or_else(|error| panic!("{name}: {error}"));
            service.run(&scenario, 1, &mut NoObserver).unwrap().digest()
        };
        assert_ne!(digest(&[]), digest(&[(key, value)]), "{name}");
    }
}
