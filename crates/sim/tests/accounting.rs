//! What rows and counters tell is what happened in the network, packet by packet.

use crate::common::{run, scenario, scheme, star};
use shortflow_units::Span;

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
