//! A host: a network namespace with one network card and the TCP settings of the scenario.

use crate::card::CARD;
use crate::switch::{ipv4, ipv6};
use crate::sys;
use shortflow_cc::{Ecn, Recovery};
use shortflow_deploy::Failure;
use shortflow_deploy::sys::{Namespace, iproute2};
use shortflow_sim::scenario::Scenario;
use shortflow_sim::scheme::Scheme;
use shortflow_units::HostId;
use std::fs::{self, File};
use std::io::{self, Error};
use std::net::IpAddr;

/// Bytes of the IP and TCP headers: over IPv4, over IPv4 with TCP timestamps, over IPv6, and over IPv6 with
/// timestamps.
const HEADERS: [u64; 4] = [40, 52, 60, 72];
/// Smallest MTU of links that carry IPv6 (RFC 8200 section 5).
const MIN_IPV6_MTU: u64 = 1280;
/// Keys that have no counterpart in the kernel, and the default that each must keep.
const NOT_SET: [(&str, &str); 7] = [
    ("tcp.clock_granularity", "0ps"),
    ("tcp.grow_on_marked_acks", "no"),
    ("tcp.initial_rto", "auto"),
    ("tcp.initial_ssthresh", "unlimited"),
    ("tcp.receive_window", "unlimited"),
    ("tcp.rto_max", "60s"),
    ("tcp.wire", "none"),
];

/// TCP settings of every host.
#[derive(Debug, Clone)]
pub(crate) struct TcpSettings {
    /// Bytes of a full IP packet.
    pub mtu: u64,
    ipv6: bool,
    timestamps: bool,
    ecn: bool,
    sack: bool,
    initial_window: u64,
    rto_min_ms: u64,
    quick_acks: bool,
}

impl TcpSettings {
    /// Returns the settings of a scenario under a scheme.
    /// Fails if the kernel has no setting for a value.
    pub(crate) fn of(scenario: &Scenario, scheme: &Scheme) -> Result<TcpSettings, Failure> {
        let tcp = &scenario.tcp;
        let wrong = |key: &str, value: String, expected: &str| {
            Err(Failure::Input(format!("{key}: {value} is not {expected}, as the kernel requires")))
        };
        if !HEADERS.contains(&tcp.header.get()) {
            let headers = "40B, or 52B with timestamps; 60B or 72B over IPv6";
            return wrong("tcp.header", tcp.header.to_string(), headers);
        }
        let (mtu, ipv6) = ((tcp.mss + tcp.header).get(), tcp.header.get() >= HEADERS[2]);
        if ipv6 && mtu < MIN_IPV6_MTU {
            let least = format!("at least {}B over IPv6", MIN_IPV6_MTU - tcp.header.get());
            return wrong("tcp.mss", tcp.mss.to_string(), &least);
        }
        if tcp.initial_window.fract() != 0.0 {
            return wrong("tcp.initial_window", tcp.initial_window.to_string(), "a whole number");
        }
        if !(1..=2).contains(&tcp.ack_every) {
            return wrong("tcp.ack_every", tcp.ack_every.to_string(), "1 or 2");
        }
        for (key, only) in NOT_SET {
            if let Some(other) = scenario.resolved().iter().find(|each| each.key == key && each.value != only)
            {
                let found = &other.value;
                let why = format!("{key}: {found}: the testbed supports only {only}");
                return Err(Failure::Input(why));
            }
        }
        Ok(TcpSettings {
            mtu,
            ipv6,
            timestamps: [HEADERS[1], HEADERS[3]].contains(&tcp.header.get()),
            ecn: scheme.transport.ecn() != Ecn::Off,
            sack: scheme.transport.recovery() != Recovery::NewReno,
            initial_window: tcp.initial_window as u64,
            rto_min_ms: (tcp.rto_min.as_secs_f64() * 1e3).ceil().max(1.0) as u64,
            quick_acks: tcp.ack_every == 1,
        })
    }

    /// The address of a host.
    pub(crate) fn address(&self, host: HostId) -> IpAddr {
        if self.ipv6 { ipv6(host).into() } else { ipv4(host).into() }
    }

    /// Kernel settings of the namespace, below /proc/sys/net.
    fn sysctls(&self) -> Vec<(&'static str, String)> {
        let flag = |on: bool| u8::from(on).to_string();
        let plain = |value: &str| value.to_owned();
        vec![
            ("ipv4/tcp_ecn", flag(self.ecn)),
            ("ipv4/tcp_sack", flag(self.sack)),
            ("ipv4/tcp_timestamps", flag(self.timestamps)),
            ("ipv4/tcp_no_metrics_save", flag(true)),
            ("ipv4/tcp_slow_start_after_idle", flag(false)),
            ("ipv4/tcp_rmem", plain("4096 4194304 33554432")),
            ("ipv4/tcp_wmem", plain("4096 1048576 33554432")),
            // Without this limit the kernel takes megabytes in one write at the start of a flow, and the next flow
            // starts late.
            ("ipv4/tcp_notsent_lowat", plain("131072")),
            ("ipv4/ip_local_port_range", plain("2000 65000")),
            ("ipv4/tcp_max_syn_backlog", plain("16384")),
            ("core/somaxconn", plain("16384")),
        ]
    }

    /// Lines for `ip -batch` that set up the card, its address and its route.
    fn links(&self, host: HostId) -> String {
        let quick = if self.quick_acks { " quickack 1" } else { "" };
        let (network, length, at_once) =
            if self.ipv6 { ("fd53:46::/64", 64, " nodad") } else { ("10.83.0.0/16", 16, "") };
        format!(
            "link set dev {CARD} address 02:53:46:00:00:01 mtu {mtu} arp off gso_max_segs 1 up\n\
             address add {address}/{length} dev {CARD} noprefixroute{at_once}\n\
             route add {network} dev {CARD} src {address} initcwnd {window} rto_min {rto_min}ms{quick}\n",
            mtu = self.mtu,
            address = self.address(host),
            window = self.initial_window,
            rto_min = self.rto_min_ms,
        )
    }
}

/// A host of the testbed.
#[derive(Debug)]
pub(crate) struct Host {
    /// Namespace of its sockets.
    pub namespace: Namespace,
    /// Far end of its network card, from which the switch reads the host's frames.
    pub device: File,
}

impl Host {
    /// Makes a host, and sets up its card by `qdiscs`, lines for `tc -batch`.
    /// Fails without the right to make namespaces and TAP devices, or without `ip` and `tc`.
    pub(crate) fn new(host: HostId, qdiscs: &str, tcp: &TcpSettings) -> io::Result<Host> {
        let namespace = Namespace::new()?;
        let device = namespace.within(|| {
            let device = sys::tap(CARD)?;
            for (key, value) in tcp.sysctls() {
                let named = |error: Error| Error::new(error.kind(), format!("{key} = {value}: {error}"));
                fs::write(format!("/proc/sys/net/{key}"), &value).map_err(named)?;
            }
            iproute2("ip", &["-batch", "-"], &tcp.links(host))?;
            iproute2("tc", &["-batch", "-"], qdiscs)?;
            Ok(device)
        })?;
        Ok(Host { namespace, device })
    }
}
