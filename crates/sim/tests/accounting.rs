//! What rows and counters tell is what happened in the network, packet by packet.

use crate::common::{TRACE, run, scenario, scheme, star};
use shortflow_sim::scenario::Scenario;
use shortflow_units::{Bytes, Span};

/// Two messages of 20 segments, 10 µs apart on one connection, all sent at once: packet 25 is the fifth
/// of the second message, long before the first one is acknowledged.
#[test]
fn messages_of_one_connection_count_their_own_packets() {
    let text = star(
        3,
        "[tcp]\ninitial_window = 40\n[faults]\nmark_data = [25]\ndrop_data = [30]\n[[traffic]]\nkind = \"incast\"\n\
         flows = 1\nfrom = 0\nto = 2\nsizes = { kind = \"fixed\", value = \"29200B\" }\nrepeat = 2\nevery = \"10us\"\n\
         connections = \"persistent\"\n",
    );
    let outcome = run(&scenario(&text, &[]), &scheme("dctcp", &[]));
    let [first, second] = &outcome.flows[..] else { panic!("{} rows", outcome.flows.len()) };
    assert_eq!((first.left, first.packets, first.marks, first.retransmits), (20, 20, 0, 0));
    assert_eq!((second.left, second.packets, second.marks, second.retransmits), (21, 20, 1, 1));
    // Packet n waits n - 1 transmission times of 12 µs at the host, the second message 10 µs less.
    let at_host: Span = Span::from_micros(12).times((0..20).sum());
    assert_eq!(first.waited_at_host, at_host);
    let second_burst = Span::from_micros((20..40).map(|n| 12 * n - 10).sum());
    assert_eq!(second.waited_at_host, second_burst, "the retransmission finds an empty host");
}

/// A star of three hosts, measured from `warmup` to 100 ms.
fn measured_from(warmup: &str, traffic: &str, rows: &[&str]) -> Scenario {
    let times = format!("warmup = \"{warmup}\"\nduration = \"100ms\"");
    scenario(&star(3, traffic).replace("duration = \"1s\"", &times), rows)
}

/// The last 10 ms of 100 ms are measured: flows that end before they begin, while they last, and after
/// them. Of all, a link of 1 Gbit/s carries 1.25 MB in that time.
#[test]
fn only_bytes_of_the_measured_time_count_in_it() {
    let rows = ["0,0,2,5000000", "0.086,0,2,1000000", "0.095,0,2,125000", "0.098,1,2,1000000"];
    let scenario = measured_from("90ms", TRACE, &rows);
    for name in ["tcp", "dctcp", "pfabric"] {
        let outcome = run(&scenario, &scheme(name, &[]));
        let finishes: Vec<f64> =
            outcome.flows.iter().filter_map(|flow| Some(flow.finish?.as_secs_f64())).collect();
        let [before, into, within, beyond] = finishes[..] else { panic!("{name}: {finishes:?}") };
        assert!(before < 0.09 && (0.09..0.1).contains(&into), "{name}: {finishes:?}");
        assert!(within < 0.1 && beyond > 0.1, "{name}: {finishes:?}");

        let bytes: Vec<u64> = outcome.flows.iter().map(|flow| flow.acked_in_window.get()).collect();
        assert_eq!((bytes[0], bytes[2]), (0, 125_000), "{name}");
        assert!((500_000..1_000_000).contains(&bytes[1]), "{name}: {bytes:?}");
        assert!((1..=250_000).contains(&bytes[3]), "{name}: {bytes:?}");
        assert!(bytes.iter().sum::<u64>() <= 1_250_000, "{name}: {bytes:?}");
    }
}

/// The only query asks within the measured time and is answered after it.
#[test]
fn an_answer_after_the_measured_time_counts_nothing_in_it() {
    let query = "[[traffic]]\nkind = 'queries'\nworkers = 1\nto = 0\nrepeat = 1\nthink = '1ms'\nat = '90ms'
        compute = '30ms'\nsizes = { kind = 'fixed', value = '1KB' }";
    let outcome = run(&measured_from("20ms", query, &[]), &scheme("dctcp", &[]));
    let [request, answer] = &outcome.flows[..] else { panic!("{} rows", outcome.flows.len()) };
    assert_eq!((request.acked_in_window, answer.acked_in_window), (request.size, Bytes::ZERO));
    assert_eq!(answer.acked, answer.size);
}
