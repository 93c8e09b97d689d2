//! Keys of `[tcp]` under transports whose hosts are not TCP's.

use shortflow_sim::scenario::Scenario;
use shortflow_sim::service::ServiceModel;
use shortflow_sim::simulation::NoObserver;

/// Three flows into one port that drops packets.
const INCAST: &str = "title = \"t\"\nduration = \"10ms\"\ndrain = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 4\n\
    rate = \"1Gbps\"\nrtt = \"100us\"\n[switch]\nbuffer = \"20pkt\"\nmark_above = \"5pkt\"\n[[traffic]]\nkind = \"incast\"\n\
    flows = 3\nfrom = \"0-2\"\nto = 3\nsizes = { kind = \"fixed\", value = \"200KB\" }\n";
/// Each key of `[tcp]` with a value that is not its default.
const OTHERS: [(&str, &str); 21] = [
    ("mss", "1000B"),
    ("header", "60B"),
    ("wire", "ethernet"),
    ("initial_window", "9"),
    ("initial_ssthresh", "5pkt"),
    ("rto_min", "3ms"),
    ("rto_max", "11ms"),
    ("initial_rto", "7ms"),
    ("clock_granularity", "4ms"),
    ("tlp_ack_delay", "1ms"),
    ("tlp_slack", "1ms"),
    ("ack_every", "2"),
    ("ack_delay", "3ms"),
    ("ack_message_end", "true"),
    ("quick_acks", "3"),
    ("ack_ecn_changes", "true"),
    ("receive_window", "4pkt"),
    ("handshake", "true"),
    ("grow_on_marked_acks", "yes"),
    ("grow_by_segments", "true"),
    ("growth", "cwnd-limited"),
];

fn incast(settings: &[(&str, &str)]) -> Scenario {
    let settings: Vec<(String, String)> =
        settings.iter().map(|(key, value)| (format!("tcp.{key}"), (*value).to_owned())).collect();
    Scenario::parse(INCAST, "incast", &settings, &|_| Err(String::new())).unwrap()
}

/// With other hosts than TCP's, each key of `[tcp]` either changes the run or is reported as idle.
#[test]
fn keys_of_tcp_that_hosts_ignore_are_reported() {
    let plain = incast(&[]);
    let mut keys: Vec<&str> =
        plain.resolved().iter().filter_map(|setting| setting.key.strip_prefix("tcp.")).collect();
    let mut others = OTHERS.map(|(key, _)| key);
    keys.sort_unstable();
    others.sort_unstable();
    assert_eq!(keys, others);
    for name in ["pfabric-minimal", "dcqcn"] {
        let service = ServiceModel::named(name, &[]).unwrap();
        let digest = |scenario: &Scenario| service.run(scenario, 1, &mut NoObserver).unwrap().digest();
        assert_eq!(service.idle(&plain, false), []);
        for other in OTHERS {
            let scenario = incast(&[other]);
            let said = service.idle(&scenario, false);
            assert_eq!(digest(&scenario) != digest(&plain), said.is_empty(), "{name}, tcp.{}", other.0);
        }
    }
}
