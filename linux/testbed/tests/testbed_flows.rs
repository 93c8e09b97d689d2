//! Data on flows and packet priorities that the testbed gives the kernel, and their effect on laws and queues. Needs
//! root, iproute2, the kernel's BTF and Linux 6.4; skipped without them, or while foreign programs are loaded.
#![cfg(feature = "bpf")]

mod common;

use common::{
    ProgramsGuard, best_of_three, column, eventually, hides_connections, is_registered, measured, output_of,
    program, programs_guard, run, scenario,
};
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Writes a scenario in which two hosts send to a third over 50 Mbit/s, with K = 8 packets. `traffic` has further
/// keys of each host's traffic.
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

/// Asserts that the mean completion time of the first host's flows is within `bounds`, in seconds.
fn takes(scenario: &Path, arguments: &[&str], bounds: Range<f64>) {
    best_of_three(|| {
        let took = mean_fct(&measured(scenario, arguments), "h0");
        eprintln!("{arguments:?}: {took:.4} s");
        assert!(bounds.contains(&took), "{arguments:?}: {took} s");
    });
}

/// Waits for exclusive use of the host, for a test whose testbed holds a congestion control. Prints the reason and returns `None` if
/// that is impossible.
fn guard_for_held_programs() -> Option<ProgramsGuard> {
    let guard = programs_guard()?;
    let (_, _, errors) = run(&scenario("held", "300ms"), &["--scheme", "dctcp", "--check"]);
    if errors.contains("before Linux 6.4") {
        eprintln!("skipped: {errors}");
        return None;
    }
    Some(guard)
}

/// A law without data on flows gives each host half of the link. Two flows of 3 MB then take about 0.97 s, 900 KB
/// beside a larger flow 0.28 s, and six flows of 900 KB in a row at least 0.73 s on average. In the simulator the law
/// knows deadlines, classes, remaining bytes, and where a flow begins in a shared connection. The four cases then
/// take 0.59, 0.64, 0.20 and 0.43 s.
#[test]
fn the_kernel_and_a_simulation_have_the_same_data_on_a_flow() {
    let Some(_guard) = guard_for_held_programs() else { return };
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

/// Eight flows of 25 KB and eight of 250 KB start at once. The link carries all of them in 0.37 s, and the small
/// flows alone in 34 ms. In the simulator the small flows take 58 ms on average if packets have no priorities, and at
/// most 29 ms if packets of small or urgent flows leave first.
#[test]
fn the_switch_sends_the_packets_of_small_and_urgent_flows_first() {
    let Some(_guard) = guard_for_held_programs() else { return };
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

/// Flows of 25 KB and of 28 KB have the same DSCP, so all sixteen flows take about the same time. Their IPv6 flow
/// labels differ, so the smaller flows end in the first half of the time.
#[test]
fn flow_labels_distinguish_sizes_of_equal_dscp() {
    let Some(_guard) = guard_for_held_programs() else { return };
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

/// Flows of 20 KB meet a queue of up to 200 packets (48 ms) of a flow that has sent more than 1 MB. The long flow is
/// in the lowest of PIAS's queues and does not delay them: they take 6 ms in the simulator. If no flow reaches a
/// threshold, they take 93 ms.
#[test]
fn flows_fall_through_the_queues_of_pias_as_they_send() {
    let Some(_guard) = guard_for_held_programs() else { return };
    let short = "kind = \"incast\"\nflows = 1\nsizes = { kind = \"fixed\", value = \"20KB\" }\n\
                 at = \"700ms\"\nrepeat = 5\nevery = \"80ms\"";
    let scenario = two_senders("levels", [short, "kind = \"long-lived\"\nflows = 1"]);
    for (thresholds, bounds) in [("100KB,1MB", 0.0..0.02), ("1GB", 0.05..1.0)] {
        let thresholds = format!("priority.thresholds={thresholds}");
        let settings = ["--scheme", "pias", "--set", &thresholds, "--set", "switch.mark_above=200pkt"];
        takes(&scenario, &settings, bounds);
    }
}

/// The name of a congestion control is unique in the whole kernel, so two testbeds cannot register the same one.
#[test]
fn a_second_testbed_with_the_same_congestion_control_is_refused_with_a_reason() {
    let Some(_guard) = guard_for_held_programs() else { return };
    let (long, check) = (scenario("first", "60s"), ["--scheme", "dctcp", "--check"]);
    let (code, out, errors) = run(&long, &check);
    assert_eq!((code, out.as_str(), errors.as_str()), (Some(0), "", ""));
    assert!(!is_registered("sf_"), "a check leaves nothing");
    let mut first = program();
    first.arg("testbed").arg(&long).args(["--scheme", "dctcp"]).stdout(Stdio::null());
    let mut first = first.spawn().unwrap();
    eventually(|| is_registered("sf_dctcp"));
    if hides_connections(&output_of(&["status"]).1) {
        first.kill().unwrap();
        first.wait().unwrap();
        return;
    }
    let (code, _, errors) = run(&long, &check);
    let (other, _, _) = run(&long, &["--scheme", "tcp", "--check"]);
    let is_seen = eventually(|| {
        output_of(&["status"]).1.contains("sf_dctcp  (not loaded; a process, such as a testbed, holds it)")
    });
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(code == Some(3) && errors.contains("sf_dctcp: in use by another testbed"), "{errors}");
    assert_eq!((other, is_seen), (Some(0), true));
}
