use super::*;
use shortflow_cc::{Ecn, Host, Recovery};

fn with(name: &str, key: &str, value: &str) -> Result<Scheme, ConfigError> {
    Scheme::named(name, &[(key.to_owned(), value.to_owned())])
}

#[test]
fn every_scheme_of_the_table_can_be_built() {
    let read = read_schemes(include_str!("../schemes.toml"), "schemes.toml").unwrap();
    assert!(read.len() >= 19);
    for info in read {
        let scheme = Scheme::named(&info.name, &[]).unwrap();
        assert_eq!(scheme.transport.info().name, info.transport);
        let of_host = match scheme.transport.info().host {
            Host::Tcp => "transport.ecn",
            Host::Roce => "transport.cnp_every",
            Host::Minimal => "transport.probe_after",
            Host::Homa => "transport.overcommit",
            Host::Ndp => "transport.window",
        };
        assert!(Scheme::accepts(&info.name, of_host, None));
    }
}

#[test]
fn a_scheme_may_be_composed() {
    let scheme = Scheme::named("dctcp  over red", &[("queue.max_p".to_owned(), "0.2".to_owned())]).unwrap();
    assert_eq!(scheme.name, "dctcp over red");
    assert_eq!((scheme.transport.info().name, scheme.queue.kind().info().name), ("dctcp", "red"));
    assert!(Scheme::accepts("sack over pias", "priority.by", None));
}

#[test]
fn schemes_of_a_file_say_what_is_wrong_with_them() {
    let read = |rest: &str| read_schemes(&format!("[[scheme]]\nname = \"mine\"\n{rest}"), "mine.toml");
    let mine = read("transport = \"dctcp\"\nqueue = \"red\"\nset = { \"transport.g\" = 0.5 }").unwrap();
    assert_eq!((mine[0].name.as_str(), &mine[0].set[0].1), ("mine", &"0.5".to_owned()));
    let error = |rest: &str| read(rest).unwrap_err().to_string();
    let missing = error("transport = \"dctcp\"");
    assert!(missing.starts_with("mine.toml:1: scheme.1.queue: missing"), "{missing}");
    let both = error("transport = \"dtccp\"\nqueue = \"red\"\n[[scheme]]\nname = \"other\"\nqueue = 1");
    assert_eq!(
        both,
        "mine.toml:3: scheme.1.transport: \"dtccp\": unknown transport; did you mean \"dctcp\"?\n\
         mine.toml:5: scheme.2.transport: missing; expected a line of visible characters on a transport"
    );
    let text = "transport = \"dctcp\"\nqueue = \"red\"\n";
    assert!(error(&format!("{text}que = 1")).contains("scheme.1.que"));
    assert!(
        error(&format!("{text}set = {{ \"transport.q\" = 1 }}")).contains("transport.q: unknown parameter")
    );
    assert!(error("transport = \"dctpc\"\nqueue = \"red\"").contains("\"dctcp\""));
    let trims = error("transport = \"dctcp\"\nqueue = \"trim\"");
    assert!(
        trims.contains("scheme.1.queue: trim takes the payload off")
            && trims.ends_with("choose the transport ndp, or another queue"),
        "{trims}"
    );
    let trims = error(&format!("{text}host_queue = \"trim\""));
    assert!(trims.contains("scheme.1.host_queue: \"trim\" is not one of droptail"), "{trims}");
}

#[test]
fn schemes_differ_from_their_transport_where_the_table_says_so() {
    let scheme = Scheme::named("tcp-ecn", &[]).unwrap();
    assert_eq!((scheme.transport.recovery(), scheme.transport.ecn()), (Recovery::NewReno, Ecn::Classic));
    let ecn = scheme.resolved.iter().find(|setting| setting.key == "transport.ecn").unwrap();
    assert_eq!((ecn.value.as_str(), &ecn.source), ("classic", &Source::Scheme));
}

#[test]
fn parameters_can_be_set() {
    let scheme = with("dctcp", "transport.g", "0.09").unwrap();
    let g = scheme.resolved.iter().find(|setting| setting.key == "transport.g").unwrap();
    assert_eq!((g.value.as_str(), &g.source), ("0.09", &Source::Set));
    assert!(Scheme::accepts("dctcp", "transport.g", None) && !Scheme::accepts("tcp", "transport.g", None));
    assert!(!Scheme::accepts("dctcp", "g", None) && !Scheme::accepts("dctpc", "transport.g", None));
}

#[test]
fn another_law_keeps_what_is_not_of_the_law() {
    assert!(Scheme::keeps("pecn", "queue.mark", None) && Scheme::keeps("pecn", "priority.by", None));
    assert!(
        Scheme::keeps("dctcp", "transport.recovery", None) && !Scheme::keeps("dctcp", "transport.g", None)
    );
    assert!(!Scheme::keeps("dctcp", "queue.among", None));
}

#[test]
fn queues_and_priorities_have_parameters_too() {
    let scheme = with("pecn", "queue.mark", "lowest").unwrap();
    let found = |key: &str| scheme.resolved.iter().find(|setting| setting.key == key).unwrap();
    assert_eq!((found("queue.mark").value.as_str(), &found("queue.mark").source), ("lowest", &Source::Set));
    assert_eq!(
        (found("priority.by").value.as_str(), &found("priority.by").source),
        ("size", &Source::Scheme)
    );
    assert!(Scheme::accepts("pias", "priority.by", None) && !Scheme::accepts("dctcp", "priority.by", None));
    assert!(Scheme::accepts("red", "queue.max_p", None) && !Scheme::accepts("dctcp", "queue.max_p", None));
}

#[test]
fn hosts_have_queues_too() {
    let scheme = |settings: &[(&str, &str)]| {
        let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        Scheme::named("dctcp", &settings.iter().map(owned).collect::<Vec<_>>())
    };
    assert_eq!(scheme(&[]).unwrap().host_queue.kind(), QueueKind::DropTail);
    let fair = scheme(&[("host.queue", "fair"), ("host_queue.quantum", "9000B")]).unwrap();
    assert_eq!((fair.host_queue.kind(), fair.reads_priority()), (QueueKind::Fair, false));
    assert!(scheme(&[("host.queue", "pias"), ("priority.by", "levels")]).unwrap().reads_priority());
    let accepts = |key, host_queue| Scheme::accepts("dctcp", key, host_queue);
    assert!(accepts("priority.by", Some("pias")) && accepts("host_queue.quantum", Some("fair")));
    assert!(!accepts("host_queue.quantum", None) && accepts("host.queue", Some("fiar")));
    let file = "[[scheme]]\nname = \"mine\"\ntransport = \"dctcp\"\nqueue = \"red\"\nhost_queue = \"fair\"";
    let settings = read_schemes(file, "mine.toml").unwrap()[0].settings();
    assert_eq!(settings, [("host.queue".to_owned(), "fair".to_owned())]);
}

#[test]
fn a_scheme_may_have_values_of_its_own_for_keys_of_the_network() {
    let scheme = with("pfabric", "switch.buffer", "36KB").unwrap();
    let given = [("switch.buffer".to_owned(), "1MB".to_owned())];
    let around: Vec<_> = scheme.around(&given, &[]).collect();
    assert_eq!(
        around.last(),
        Some(&("switch.buffer", "36KB", Source::Set)),
        "the scheme's own wins over --set"
    );
    assert!(scheme.resolved.iter().any(|setting| setting.key == "switch.buffer" && setting.value == "36KB"));
    assert!(Scheme::accepts("tcp", "tcp.ack_every", None) && !Scheme::accepts("tcp", "traffic.1.load", None));
}

#[test]
fn a_named_set_gives_a_scheme_the_constants_that_it_has() {
    let found = |scheme: &Scheme, key: &str| {
        scheme.resolved.iter().find(|setting| setting.key == key).map(|setting| setting.value.clone())
    };
    let linux = Scheme::named("dctcp@linux", &[]).unwrap();
    assert_eq!(found(&linux, "transport.recovery").as_deref(), Some("rack"));
    assert_eq!(found(&linux, "tcp.ack_every").as_deref(), Some("2"));
    let given = [("tcp.ack_every".to_owned(), "4".to_owned())];
    let last = |scheme: &Scheme| {
        scheme.around(&given, &[]).filter(|one| one.0 == "tcp.ack_every").last().unwrap().1.to_owned()
    };
    assert_eq!(last(&linux), "4", "--set wins over the set");
    let own = Scheme::named("dctcp@linux", &[("tcp.ack_every".to_owned(), "8".to_owned())]).unwrap();
    assert_eq!(last(&own), "8");
    let best = Scheme::named("hpcc@best", &[]).unwrap();
    assert_eq!(found(&best, "transport.eta").as_deref(), Some("0.99"));
    for (name, expected) in
        [("dctcp@paper", "a scheme with the transport hpcc or dcqcn"), ("hpcc@linux", "TCP's hosts")]
    {
        let refused = Scheme::named(name, &[]).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    let simai = Scheme::named("dcqcn@simai-2026", &[]).unwrap();
    assert_eq!(found(&simai, "transport.rate_timer").as_deref(), Some("900us"));
    assert_eq!(found(&simai, "queue.weight").as_deref(), Some("1"), "the scheme's own");
    let [of_hpcc, of_dcqcn] =
        ["hpcc", "dcqcn"].map(|name| Scheme::named(&format!("{name}@paper"), &[]).unwrap());
    assert_eq!(found(&of_hpcc, "transport.flows").as_deref(), Some("100"));
    assert_eq!(found(&of_dcqcn, "queue.curves").as_deref(), Some("40Gbps 5KB 200KB 0.01"));
    let tcp = Scheme::named("tcp@ns-2", &[]).unwrap();
    assert_eq!(
        (found(&tcp, "transport.cwnd_floor"), found(&tcp, "tcp.ack_every").as_deref()),
        (None, Some("1"))
    );
    assert!(parameter_sets().len() >= 3);
    for (of, constant) in
        parameter_sets().iter().flat_map(|set| set.constants.iter().map(|one| (&set.of, one)))
    {
        let base = of.as_deref().unwrap_or("dctcp");
        assert!(
            with(base, &constant.key, &constant.value).is_ok() && !constant.value.is_empty(),
            "{constant:?}"
        );
    }
}
