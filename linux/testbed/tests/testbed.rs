//! Scenarios on the kernel's TCP, run by the command. Needs root, `ip` and `tc`; skipped without them.
#![cfg(feature = "bpf")]

mod common;

use common::{
    column, eventually, host_guard, measured, must, open_files, program, programs_guard, run, scenario,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use shortflow_deploy::sys::try_lock;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Four flows of 50 KB share 50 Mbit/s with a long flow. Their 200 KB alone take 33 ms with headers, so the last flow
/// takes at least as long. With the packets of the long flow and its short queue it takes more, but less than 0.5 s.
#[test]
fn flows_of_a_scenario_on_real_tcp() {
    let Some(_guard) = host_guard() else { return };
    let document = measured(&scenario("real-tcp", "600ms"), &["--scheme", "tcp-ecn"]);
    let sizes = column(&document, "flows", "size_bytes");
    assert_eq!(sizes.iter().filter(|size| size.as_u64() == Some(50_000)).count(), 8);
    let times: Vec<f64> =
        column(&document, "flows", "fct_s").iter().filter_map(|time| time.as_f64()).collect();
    assert_eq!(times.len(), 8);
    let longest = times.iter().copied().fold(0.0, f64::max);
    assert!((0.033..0.5).contains(&longest), "{times:?}");
    let acked: u64 =
        column(&document, "flows", "acked_bytes").iter().filter_map(|bytes| bytes.as_u64()).sum();
    assert!((2_000_000..3_750_000).contains(&acked), "600 ms at 50 Mbit/s carry 3.6 MB: {acked}");
    let of_flows: u64 = column(&document, "flows", "marks").iter().filter_map(|marks| marks.as_u64()).sum();
    let of_ports: u64 = column(&document, "ports", "marks").iter().filter_map(|marks| marks.as_u64()).sum();
    assert!(of_flows > 0 && of_flows.abs_diff(of_ports) < 20, "{of_flows} {of_ports}");
    let counters = &document["meta"]["counters"];
    let count = |name: &str| counters[name].as_u64().unwrap();
    let accounted = count("packets_delivered") + count("packets_dropped") + count("packets_in_flight");
    assert_eq!(count("packets_sent"), accounted);
    assert_eq!(document["testbed"]["congestion"], "reno");
}

/// The ideal time of 50 KB: 35 packets, the last of 820 bytes, over 100, 50 and 100 Mbit/s, and an ACK back. Each
/// link delays by 333 µs, a sixth of the round trip of 2 ms. A measured card sends at the rate of its link, so the
/// ideal is the same with and without it.
#[test]
fn a_measured_card_does_not_change_the_ideal_time() {
    let Some(_guard) = host_guard() else { return };
    let ideals = |name: &str, ports: &str| {
        let path = scenario(name, "300ms");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("\"s0->s1\"", ports)).unwrap();
        let document = measured(&path, &["--scheme", "tcp-ecn"]);
        let ideals: Vec<f64> =
            column(&document, "flows", "ideal_fct_s").iter().filter_map(|ideal| ideal.as_f64()).collect();
        ideals
    };
    let plain = ideals("ideal-plain", "\"s0->s1\"");
    assert!(plain.iter().any(|ideal| (0.009..0.013).contains(ideal)), "{plain:?}");
    assert_eq!(ideals("ideal-cards", "\"h0->s0\", \"h1->s0\", \"s0->s1\""), plain);
}

/// Messages of 500 KB of two classes take turns on one connection, one every 20 ms. Each takes 80 ms, so they
/// overlap. A dropped packet is retransmitted about once, and counts for one message. Acknowledged bytes count for
/// the class of their message. Marks have no value, because the network cannot tell apart the messages of one
/// connection.
#[test]
fn packets_of_messages_on_one_connection_are_counted_once() {
    let Some(_guard) = host_guard() else { return };
    let messages = |class: &str, at: &str| {
        format!(
            "[[traffic]]\nkind = \"incast\"\nclass = \"{class}\"\nflows = 1\nfrom = [0]\nto = 2\nat = \"{at}\"\n\
             repeat = 3\nevery = \"40ms\"\nconnections = \"shared\"\nsizes = {{ kind = \"fixed\", value = \"500KB\" }}\n"
        )
    };
    let text = format!(
        "title = \"Overlapping messages\"\nduration = \"3s\"\n\
         [topology]\nkind = \"dumbbell\"\npairs = 2\nrate = \"100Mbps\"\nbottleneck = \"50Mbps\"\nrtt = \"2ms\"\n\
         [switch]\nbuffer = \"20pkt\"\nmark_above = \"8pkt\"\n\
         [tcp]\nmss = \"1448B\"\nheader = \"52B\"\ninitial_window = 10\nrto_min = \"200ms\"\nack_every = 2\n\
         [measure]\nsample_every = \"10ms\"\n{}{}",
        messages("even", "10ms"),
        messages("odd", "30ms")
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("overlapping.toml");
    std::fs::write(&path, text).unwrap();
    let document = measured(&path, &["--scheme", "tcp"]);
    let (finished, marks) = (column(&document, "flows", "finish_s"), column(&document, "flows", "marks"));
    assert!(finished.len() == 6 && finished.iter().all(|time| time.is_f64()), "{finished:?}");
    assert!(marks.iter().all(|marks| marks.is_null()), "{marks:?}");
    let again: u64 =
        column(&document, "flows", "retransmits").iter().filter_map(|count| count.as_u64()).sum();
    let dropped = document["meta"]["counters"]["packets_dropped"].as_u64().unwrap();
    assert!(dropped > 10 && (dropped..dropped + dropped / 4 + 10).contains(&again), "{dropped} {again}");
    for class in ["even", "odd"] {
        let subjects = column(&document, "samples", "subject").into_iter();
        let samples = subjects.zip(column(&document, "samples", "value"));
        let of_class = samples.filter(|(subject, _)| *subject == class);
        let bytes = of_class.filter_map(|(_, bps)| bps.as_f64()).sum::<f64>() * 0.01 / 8.0;
        assert!((1.4e6..1.6e6).contains(&bytes), "{class}: {bytes}");
    }
}

/// Sockets choose a program by its name. No command may replace the program until the sockets of all 41 hosts have
/// chosen it.
#[test]
fn a_program_is_not_replaced_before_the_sockets_of_a_run_have_it() {
    let Some(_guard) = programs_guard() else { return };
    let text = "title = \"t\"\nduration = \"2s\"\n[topology]\nkind = \"star\"\nhosts = 41\nrate = \"100Mbps\"\n\
                rtt = \"2ms\"\n[switch]\nbuffer = \"100pkt\"\nmark_above = \"8pkt\"\n[[traffic]]\nkind = \"incast\"\n\
                flows = 40\nto = 40\nsizes = { kind = \"fixed\", value = \"10KB\" }\n";
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("many-hosts.toml");
    std::fs::write(&path, text).unwrap();
    let mut process = program().arg("testbed").arg(&path).stdout(Stdio::null()).spawn().unwrap();
    let number = process.id().to_string();
    let hosts = || open_files(&number).iter().filter(|file| *file == "/dev/net/tun").count();
    assert!(eventually(|| hosts() > 0));
    let is_free = || try_lock(&File::open("/run/shortflow.lock").unwrap()).unwrap();
    assert!(!is_free(), "there are {} hosts of 41", hosts());
    assert!(eventually(|| hosts() == 41) && eventually(is_free));
    assert!(process.try_wait().unwrap().is_none() && process.wait().unwrap().code() <= Some(1));
}

/// Stops a process for `pause`.
fn stall(process: &Child, pause: Duration) {
    let process = Pid::from_child(process);
    kill_process(process, Signal::STOP).unwrap();
    std::thread::sleep(pause);
    kill_process(process, Signal::CONT).unwrap();
}

/// Runs the testbed, and calls `disturb` with its process until it ends. Returns the testbed's account of the run.
fn account(scenario: &Path, options: &[&str], mut disturb: impl FnMut(&Child)) -> Value {
    let mut testbed = program();
    testbed.arg("testbed").arg(scenario).args(options).stdout(Stdio::piped());
    let mut process = testbed.spawn().unwrap();
    let mut out = process.stdout.take().unwrap();
    let text = std::thread::spawn(move || std::io::read_to_string(&mut out).unwrap());
    while process.try_wait().unwrap().is_none() {
        disturb(&process);
    }
    let document: Value = serde_json::from_str(&text.join().unwrap()).unwrap();
    let is_late = document["testbed"]["verdict"] != "trustworthy";
    assert_eq!(process.wait().unwrap().code(), Some(i32::from(is_late)));
    document["testbed"].clone()
}

/// Six pauses per second of 0.5 to 1.5 ms, half of them longer than four packet times (0.96 ms). They delay less than
/// 1 % of the frames, and on an idle network none. `SHORTFLOW_STALLED` sets the number of runs (default: 1).
#[test]
fn stalls_are_seen() {
    let Some(_guard) = host_guard() else { return };
    let runs: u64 = std::env::var("SHORTFLOW_STALLED").map_or(1, |text| text.parse().unwrap());
    let path = scenario("stalled", "2s");
    for run in 0..runs {
        for start in ["traffic.1.start=0s", "traffic.1.start=1900ms"] {
            let mut pauses = (0..).map(|i| Duration::from_micros(500 + (i + run % 8) * 370 % 1000));
            let found = account(&path, &["--scheme", "tcp-ecn", "--set", start], |process| {
                std::thread::sleep(Duration::from_micros(166_667));
                stall(process, pauses.next().unwrap());
            });
            let verdict = found["verdict"].as_str().unwrap();
            assert!(verdict.starts_with("not trustworthy") && verdict.contains("times in"), "{found}");
            // At least three pauses are longer than the limit of four packet times and the one packet time that may
            // be missed.
            for thread in ["stalls", "host_stalls"] {
                assert!(found[thread]["count"].as_u64().unwrap() >= 3, "{thread}: {found}");
            }
        }
    }
}

/// True if a thread of the process has the policy `SCHED_IDLE`. A testbed keeps processors awake by such threads from
/// 0.1 s before time zero on.
fn keeps_awake(process: &Child) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", process.id())).into_iter().flatten().flatten();
    let stats = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
    // Field 41 is the policy; the name, field 2, may contain spaces.
    stats.filter_map(|stat| Some(stat.rsplit_once(") ")?.1.split(' ').nth(41 - 3)? == "5")).any(|is| is)
}

/// Seven pauses of 2.2 ms in the 2 s of measured time, after a warm-up of 5 s without pauses. Averaged over the whole
/// run, they would be one per second, which is allowed.
#[test]
fn stalls_of_the_measured_time_are_not_diluted_by_the_warm_up() {
    let Some(_guard) = programs_guard() else { return };
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/shortflow/scenarios");
    let options = ["--scheme", "l2dct", "--set", "warmup=5s", "--set", "duration=7s"];
    let mut pauses = 0..7;
    let found = account(&scenarios.join("testbed-two-long.toml"), &options, |process| {
        let Some(pause) = pauses.next() else { return std::thread::sleep(Duration::from_millis(20)) };
        if pause == 0 {
            assert!(eventually(|| keeps_awake(process)));
            std::thread::sleep(Duration::from_secs(5));
        }
        std::thread::sleep(Duration::from_millis(230));
        stall(process, Duration::from_micros(2200));
    });
    assert!(found["verdict"].as_str().unwrap().contains("times in the 2.0 s measured"), "{found}");
    assert!(found["stalls"]["measured"].as_u64().unwrap() >= 7, "{found}");
}

/// Runs keep time on an idle host. `SHORTFLOW_QUIET` declares the host idle, and sets the number of runs.
#[test]
fn without_stalls_runs_keep_time() {
    let Some(_guard) = host_guard() else { return };
    let Ok(runs) = std::env::var("SHORTFLOW_QUIET") else {
        return eprintln!("not asked for: SHORTFLOW_QUIET=RUNS");
    };
    let path = scenario("quiet", "2s");
    for run in 0..runs.parse().unwrap() {
        let found =
            account(&path, &["--scheme", "tcp-ecn"], |_| std::thread::sleep(Duration::from_millis(20)));
        assert_eq!(found["verdict"], "trustworthy", "run {run}: {found}");
    }
}

#[test]
fn wrong_input_is_named() {
    let scenario = scenario("wrong-input", "300ms");
    let cases: [(&[&str], &str); 12] = [
        (&["--scheme", "dctpc"], "\"dctpc\": unknown scheme; did you mean \"dctcp\"?"),
        (
            &["--scheme", "swift"],
            "scheme swift: the testbed has no program for the transport swift; it has dctcp, ",
        ),
        (
            &["--check", "--scheme", "pfabric-minimal"],
            "scheme pfabric-minimal: the testbed has no program for the transport minimal; ",
        ),
        (
            &["--set", "tcp.header=64B"],
            "tcp.header: 64B is not 40B, or 52B with timestamps; 60B or 72B over IPv6",
        ),
        (
            &["--set", "tcp.header=60B", "--set", "tcp.mss=1000B"],
            "tcp.mss: 1KB is not at least 1220B over IPv6",
        ),
        (&["--set", "tcp.ack_every=3"], "tcp.ack_every: 3 is not 1 or 2"),
        (&["--set", "tcp.rto_max=1s"], "tcp.rto_max: 1s: the testbed supports only 60s"),
        (&["--set", "tcp.initial_rto=1s"], "tcp.initial_rto: 1s: the testbed supports only auto"),
        (
            &["--set", "tcp.clock_granularity=10ms"],
            "tcp.clock_granularity: 10ms: the testbed supports only 0ps",
        ),
        (
            &["--set", "tcp.grow_on_marked_acks=yes"],
            "tcp.grow_on_marked_acks: yes: the testbed supports only no",
        ),
        (
            &["--set", "tcp.receive_window=20pkt"],
            "tcp.receive_window: 20pkt: the testbed supports only unlimited",
        ),
        (&["--set", "switch.bufer=3pkt"], "switch.bufer: unknown key"),
    ];
    for (arguments, message) in cases {
        let (code, out, errors) = run(&scenario, arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(errors.starts_with(message), "{errors}");
    }
    let (code, _, errors) = run(Path::new("nowhere.toml"), &[]);
    assert!(code == Some(2) && errors.starts_with("nowhere.toml: the scenario cannot be read"), "{errors}");
    let (code, _, errors) = run(&scenario, &["--congestion", "vegas-2"]);
    assert!(code == Some(3) && errors.contains("the kernel has no congestion control vegas-2"), "{errors}");
}

/// A parent that is killed cannot end its children itself.
#[test]
fn a_testbed_ends_with_its_parent() {
    let Some(_guard) = host_guard() else { return };
    let long = scenario("orphan", "60s");
    let line = "\"$0\" testbed \"$1\" --scheme tcp-ecn --parent $$ >/dev/null & echo $!; wait";
    let mut parent = Command::new("sh");
    parent.args(["-c", line, env!("CARGO_BIN_EXE_shortflow-linux")]).arg(&long).stdout(Stdio::piped());
    let mut parent = parent.spawn().unwrap();
    let mut child = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut child).unwrap();
    let has_hosts = || open_files(child.trim()).iter().any(|file| file == "/dev/net/tun");
    let has_begun = eventually(has_hosts);
    parent.kill().unwrap();
    parent.wait().unwrap();
    assert!(has_begun, "process {child} has no hosts");
    assert!(eventually(|| !has_hosts()), "process {child} lives on");
    let (code, _, errors) = run(&long, &["--parent", "1"]);
    assert!(code == Some(3) && errors.contains("not the parent"), "{errors}");
}

/// `check` reports a missing device before a run fails for it.
#[test]
fn a_missing_device_is_named() {
    let Some(_guard) = host_guard() else { return };
    let path = scenario("no-device", "600ms");
    let line = "mount -t tmpfs none /dev/net && \"$0\" check; \"$0\" testbed --scheme tcp \"$1\"";
    let mut hidden = Command::new("unshare");
    hidden.args(["--mount", "sh", "-c", line, env!("CARGO_BIN_EXE_shortflow-linux")]).arg(&path);
    let output = hidden.output().unwrap();
    let [found, reasons] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    let what = "/dev/net/tun: No such file or directory (os error 2)";
    assert!(
        found.contains(&format!("for the testbed  no       {what}; run `modprobe tun`")),
        "{found}{reasons}"
    );
    assert!(reasons.ends_with(&format!("testbed: {what}\n")), "{reasons}");
    assert_eq!(output.status.code(), Some(3));
}

/// Without the kernel's types (BTF) nothing loads, and commands that load a program give the same reason as `check`.
#[test]
fn missing_types_of_the_kernel_are_named() {
    let Some(_guard) = programs_guard() else { return };
    must(&["load", "dctcp"]);
    let line = "mount -t tmpfs none /sys/kernel/btf && \"$0\" check; \"$0\" status; \"$0\" testbed --scheme l2dct \"$1\"";
    let mut hidden = Command::new("unshare");
    hidden.args(["--mount", "sh", "-c", line, env!("CARGO_BIN_EXE_shortflow-linux")]);
    let output = hidden.arg(scenario("no-types", "600ms")).output().unwrap();
    let [found, reasons] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    let what = "/sys/kernel/btf/vmlinux: the kernel needs CONFIG_DEBUG_INFO_BTF=y";
    assert!(found.contains(&format!("BTF              MISSING  {what}\n")), "{found}{reasons}");
    let refusals = format!("this host cannot load programs: BTF missing\nstatus: {what}\nsf_l2dct: {what}\n");
    assert_eq!((reasons, output.status.code()), (refusals, Some(3)));
}

#[test]
fn without_rights_the_reason_names_them() {
    let path = scenario("rights", "600ms");
    let limited =
        ["--bounding-set", "-all", env!("CARGO_BIN_EXE_shortflow-linux"), "testbed", "--scheme", "tcp"];
    let Ok(output) = Command::new("setpriv").args(limited).arg(&path).output() else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3) && text.contains("CAP_SYS_ADMIN and CAP_NET_ADMIN"), "{text}");
}
