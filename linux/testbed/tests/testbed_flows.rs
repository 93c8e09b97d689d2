//! Flows and packet priorities that the testbed states to the kernel, and their effect on laws and queues.
//! Needs root, iproute2, the kernel's BTF and Linux 6.4; skipped without them, or while foreign programs
//! are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::{
    Alone, alone, best_of_three, column, eventually, hides_connections, is_registered, measured, program,
    run, said, scenario,
};
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Two hosts send to a third over 50 Mbit/s, with K = 8. `traffic` is two entries.
fn two_senders(name: &str, traffic: [&str; 2]) -> PathBuf {
    let [first, second] = traffic;
    let text = format!(
        "title = \"Two senders\"\nduration = \"1200ms\"\ndrain = \"5s\"\n\
         [topology]\nkind = \"dumbbell\"\npairs = 2\nrate = \"100Mbps\"\nbottleneck = \"50Mbps\"\nrtt = \"2ms\"\n\
         [switch]\nbuffer = \"400pkt\"\nmark_above = \"8pkt\"\n\
         [tcp]\nmss = \"1448B\"\nheader = \"52B\"\ninitial_window = 10\nrto_min = \"200ms\"\nack_every = 2\n\
         [[traffic]]\nfrom = [0]\nto = 2\n{first}\n\
         [[traffic]]\nfrom = [1]\nto = 2\n{second}\n"
    );
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path
}

/// Mean completion time of the flows of a host, in seconds.
fn mean_fct(document: &Value, host: &str) -> f64 {
    let rows = column(document, "flows", "source").into_iter().zip(column(document, "flows", "fct_s"));
    let of_host = rows.filter(|(source, _)| *source == host);
    let times: Vec<f64> = of_host.map(|(_, time)| time.as_f64().unwrap()).collect();
    times.iter().sum::<f64>() / times.len() as f64
}

/// The mean completion time of the first host's flows, in seconds, is within these bounds.
fn takes(scenario: &Path, arguments: &[&str], bounds: Range<f64>) {
    best_of_three(|| {
        let took = mean_fct(&measured(scenario, arguments), "h0");
        eprintln!("{arguments:?}: {took:.4} s");
        assert!(bounds.contains(&took), "{arguments:?}: {took} s");
    });
}

/// Says why where a testbed cannot hold a congestion control.
fn alone_with_held_ones() -> Option<Alone> {
    let alone = alone()?;
    let (_, _, errors) = run(&scenario("held", "300ms"), &["--scheme", "dctcp", "--check"]);
    if errors.contains("before Linux 6.4") {
        eprintln!("skipped: {errors}");
        return None;
    }
    Some(alone)
}

/// Told nothing, a law gives both hosts half of the link: 3 MB take about 0.97 s beside each other, 900 KB 0.28 s
/// beside a larger flow, and six of them in a row 0.73 s or more in the mean. The simulator has 0.59, 0.64, 0.20 and 0.43 s
/// where its law knows deadlines, classes, the bytes that remain, and where in a shared connection a flow begins.
#[test]
fn the_kernel_knows_of_a_flow_what_a_simulation_knows() {
    let Some(_alone) = alone_with_held_ones() else { return };
    let flow = |size: &str, more: &str| {
        format!("kind = \"incast\"\nflows = 1\nsizes = {{ kind = \"fixed\", value = \"{size}\" }}\n{more}")
    };
    let deadline = |span: &str| format!("deadline = {{ kind = \"fixed\", value = \"{span}\" }}");
    let row = "at = \"500ms\"\nrepeat = 6\nevery = \"100ms\"\nconnections = \"persistent\"";
    let cases = [
        ("d2tcp", "expired=2", flow("3MB", &deadline("600ms")), flow("3MB", &deadline("10s")), 0.75),
        ("xdctcp", "ns=0.3", flow("3MB", "class = \"short\""), flow("3MB", "class = \"long\""), 0.75),
        ("l2dct", "profile=srpt", flow("900KB", ""), flow("4MB", ""), 0.24),
        ("xdctcp", "classify=bytes", flow("900KB", row), "kind = \"long-lived\"\nflows = 1".to_owned(), 0.55),
    ];
    for (scheme, parameter, first, second, bound) in cases {
        let scenario = two_senders("told", [&first, &second]);
        let setting = format!("transport.{parameter}");
        takes(&scenario, &["--scheme", scheme, "--set", &setting], 0.1..bound);
    }
}

/// Eight flows of 25 KB and as many of 250 KB begin at once. The link carries all of them in 0.37 s, and the small ones
/// alone in 34 ms. The simulator's small flows take 58 ms in the mean where packets have no priorities, and 29 ms or
/// less where small or urgent ones leave first.
#[test]
fn the_switch_sends_the_packets_of_small_and_urgent_flows_first() {
    let Some(_alone) = alone_with_held_ones() else { return };
    let flows = |size: &str, deadline: &str| {
        format!(
            "kind = \"incast\"\nflows = 8\nsizes = {{ kind = \"fixed\", value = \"{size}\" }}\n\
             deadline = {{ kind = \"fixed\", value = \"{deadline}\" }}"
        )
    };
    let scenario = two_senders("priorities", [&flows("25KB", "50ms"), &flows("250KB", "1s")]);
    takes(&scenario, &["--scheme", "dctcp"], 0.045..0.1);
    let (remaining, class) = (["--set", "priority.by=remaining"], ["--set", "priority.by=size-class"]);
    for (scheme, settings) in [
        ("pecn", &[][..]),
        ("pecn", &remaining),
        ("pecn", &class),
        ("pecn-pmark", &[]),
        ("pecn-edf", &[]),
        ("pfabric", &[]),
    ] {
        takes(&scenario, &[&["--scheme", scheme], settings].concat(), 0.02..0.045);
    }
}

/// 25 and 28 KB have one DSCP, so that sixteen flows end alike; in an IPv6 flow label they differ, and the smaller ones
/// end in the first half of the time.
#[test]
fn flow_labels_tell_sizes_apart_that_the_dscp_does_not() {
    let Some(_alone) = alone_with_held_ones() else { return };
    let flows = |size: &str| {
        format!("kind = \"incast\"\nflows = 8\nsizes = {{ kind = \"fixed\", value = \"{size}\" }}")
    };
    let scenario = two_senders("labels", [&flows("25KB"), &flows("28KB")]);
    let ipv6 = ["--set", "tcp.header=72B", "--set", "tcp.mss=1428B"];
    for (settings, low, high) in [(&[][..], 0.8, 1.2), (&ipv6, 0.2, 0.7)] {
        best_of_three(|| {
            let document = measured(&scenario, &[&["--scheme", "pecn"], settings].concat());
            let ratio = mean_fct(&document, "h0") / mean_fct(&document, "h1");
            eprintln!("{settings:?}: {ratio:.2}");
            assert!((low..high).contains(&ratio), "{settings:?}: {ratio}");
        });
    }
}

/// Flows of 20 KB meet a queue of up to 200 packets, 48 ms, of a flow that has sent more than a megabyte. In the lowest of
/// PIAS's queues it does not hold them up: they take 6 ms in the simulator, and 93 ms where no flow reaches a threshold.
#[test]
fn flows_fall_through_the_queues_of_pias_as_they_send() {
    let Some(_alone) = alone_with_held_ones() else { return };
    let short = "kind = \"incast\"\nflows = 1\nsizes = { kind = \"fixed\", value = \"20KB\" }\n\
                 at = \"700ms\"\nrepeat = 5\nevery = \"80ms\"";
    let scenario = two_senders("levels", [short, "kind = \"long-lived\"\nflows = 1"]);
    for (thresholds, bounds) in [("100KB,1MB", 0.0..0.02), ("1GB", 0.05..1.0)] {
        let thresholds = format!("priority.thresholds={thresholds}");
        let settings = ["--scheme", "pias", "--set", &thresholds, "--set", "switch.mark_above=200pkt"];
        takes(&scenario, &settings, bounds);
    }
}

/// A congestion control has one name in the whole kernel.
#[test]
fn a_second_testbed_with_the_same_congestion_control_says_why_it_cannot_begin() {
    let Some(_alone) = alone_with_held_ones() else { return };
    let (long, check) = (scenario("first", "60s"), ["--scheme", "dctcp", "--check"]);
    let (code, out, errors) = run(&long, &check);
    assert_eq!((code, out.as_str(), errors.as_str()), (Some(0), "", ""));
    assert!(!is_registered("sf_"), "a check leaves nothing");
    let mut first = program();
    first.arg("testbed").arg(&long).args(["--scheme", "dctcp"]).stdout(Stdio::null());
    let mut first = first.spawn().unwrap();
    eventually(|| is_registered("sf_dctcp"));
    if hides_connections(&said(&["status"]).1) {
        first.kill().unwrap();
        first.wait().unwrap();
        return;
    }
    let (code, _, errors) = run(&long, &check);
    let (other, _, _) = run(&long, &["--scheme", "tcp", "--check"]);
    let is_seen = eventually(|| {
        said(&["status"]).1.contains("sf_dctcp  (not loaded; held by a process such as a testbed)")
    });
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(code == Some(3) && errors.contains("sf_dctcp: in use by another testbed"), "{errors}");
    assert_eq!((other, is_seen), (Some(0), true));
}
