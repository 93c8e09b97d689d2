//! The time over which the shares of backlogged flows are averaged.

use crate::common::{run, scenario_with_file, scheme};
use shortflow_sim::fairness::fairness_windows;
use shortflow_units::Span;

const LINKS: &str = "a,b,rate,delay\nh0,s0,1Gbps,5us\nh1,s0,1Gbps,5us\nh2,s0,1Gbps,5us\nh3,s0,1Mbps,9ms\n";

/// Two flows of class a go to h2, one flow of class b to h1, over links of 5 µs; no flow crosses the slow and long
/// link of h3. At 1 Gbps, 20 packets of each of two flows take 480 µs, 20 packets of one flow 240 µs, and ten round
/// trips 200 µs. Ethernet adds 38 bytes to each of the 40 packets of 1,500 bytes.
#[test]
fn a_window_is_of_the_links_of_its_class() {
    let text = |wire: &str| {
        format!(
            "title = 't'\nduration = '20ms'\ntcp.wire = '{wire}'\n[topology]\nkind = 'explicit'\nfile = 'l.csv'\n\
             [switch]\nbuffer = '250pkt'\nmark_above = '20pkt'\n\
             [[traffic]]\nkind = 'long-lived'\nfrom = '0-1'\nto = 2\nclass = 'a'\n\
             [[traffic]]\nkind = 'long-lived'\nfrom = 2\nto = 1\nclass = 'b'\n"
        )
    };
    let windows = |wire: &str| {
        let scenario = scenario_with_file(&text(wire), LINKS);
        fairness_windows(&run(&scenario, &scheme("dctcp", &[])), &scenario)
            .into_values()
            .collect::<Vec<Span>>()
    };
    assert_eq!(windows("none"), [480, 240].map(Span::from_micros));
    assert_eq!(windows("ethernet"), [492_160, 246_080].map(Span::from_nanos));
}
