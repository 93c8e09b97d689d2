"""Scenarios as typed values: a class for each table and kind. Written by `make stubs`; `spec.py` says more."""

from collections.abc import Mapping, Sequence
from typing import Literal

from shortflow.declared import NamedScheme, Table
from shortflow.declared import parameter as parameter

class Spec(Table):
    """A whole scenario.

    title: one line on what the scenario is (a line on what the scenario is).
    duration: arrivals stop and time-based metrics end here (a time such as "300us" (units: ps ns us ms s), from
        1ps to 30000s).
    warmup: the time before, and flows started before, do not count (a time such as "300us" (units: ps ns us ms
        s), from 0ps to 30000s; 0s unless given).
    drain: after duration the run goes on until every finite flow is done, but no longer than this; unless
        given, the longest of duration, 16 tcp.rto_min, in which four timeouts in a row fit, and 4
        tcp.initial_rto (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s).
    topology: the network (Topology).
    traffic: which flows there are (Sequence[Traffic]).
    switch: ports of every switch (Switch).
    host: ports of every host (Host).
    tcp: TCP of every host (Tcp).
    measure: what is recorded (Measure).
    faults: what goes wrong; one table, or several as [[faults]] (Faults | Sequence[Faults]).
    parameters: values that `parameter` and settings refer to (values by name).
    """

    def __init__(
        self,
        *,
        title: str,
        duration: str,
        topology: Topology,
        traffic: Sequence[Traffic],
        switch: Switch,
        warmup: str = ...,
        drain: str = ...,
        host: Host = ...,
        tcp: Tcp = ...,
        measure: Measure = ...,
        faults: Faults | Sequence[Faults] = ...,
        parameters: Mapping[str, object] = ...,
    ) -> None: ...

class Switch(Table):
    """Ports of every switch.

    buffer: what a port holds (a queue size such as "250pkt", "100KB" or "unlimited").
    mark_above: K: queues that mark do so when an arriving packet finds more than this (a queue size such as
        "250pkt", "100KB" or "unlimited").
    memory: memory that the ports of a switch share, each holding at most memory_alpha times what is free;
        static: each port has its buffer to itself ("static" or a queue size such as "250pkt", "100KB" or
        "unlimited"; static unless given).
    memory_alpha: alpha of the dynamic threshold, where memory is shared (a number above 0 and at most 1000; 1
        unless given).
    """

    def __init__(
        self,
        *,
        buffer: str,
        mark_above: str,
        memory: str = ...,
        memory_alpha: float = ...,
        **tiers: Mapping[str, object],
    ) -> None: ...

class Host(Table):
    """Ports of every host.

    buffer: what a port holds (a queue size such as "250pkt", "100KB" or "unlimited"; unlimited unless given).
    mark_above: K: queues that mark do so when an arriving packet finds more than this (a queue size such as
        "250pkt", "100KB" or "unlimited"; unlimited unless given).
    jitter: random time, up to this, by which a packet of a host reaches its switch late; order is kept (a time
        such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless given).
    stalls: pauses of each host per second, on average: its packets wait for the end, and go on in order (a
        number from 0 to 10000; 0 unless given).
    stall_min: shortest pause (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 500us unless
        given).
    stall_max: longest pause (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 1500us unless
        given).
    """

    def __init__(
        self,
        *,
        buffer: str = ...,
        mark_above: str = ...,
        jitter: str = ...,
        stalls: float = ...,
        stall_min: str = ...,
        stall_max: str = ...,
    ) -> None: ...

class Tcp(Table):
    """TCP of every host.

    mss: payload of a full segment (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 65KB;
        1460B unless given).
    header: headers of every packet (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 500B; 40B
        unless given).
    initial_window: initial window, in segments (a number from 1 to 1000; 2 unless given).
    initial_ssthresh: slow-start threshold of a new connection, in segments; ns-2 begins at the receive window
        (a window in segments such as "1256pkt", or "unlimited"; unlimited unless given).
    rto_min: smallest retransmission timeout (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s;
        10ms unless given).
    rto_max: largest retransmission timeout (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s;
        60s unless given).
    initial_rto: timeout before the first round-trip sample; auto: three base round trips, at least rto_min
        ("auto" or a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s; auto unless given).
    clock_granularity: tick of the retransmission clock; 0ps for a continuous one (a time such as "300us"
        (units: ps ns us ms s), from 0ps to 30000s; 0ps unless given).
    tlp_ack_delay: how much later a tail loss probe of RACK leaves where one segment is out, for its ACK may be
        delayed; auto: ack_delay where ACKs are delayed; Linux has rto_min ("auto" or a time such as "300us"
        (units: ps ns us ms s), from 0ps to 30000s; auto unless given).
    tlp_slack: how much later it leaves where more are out; Linux has two ticks of its clock (a time such as
        "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless given).
    ack_every: segments per ACK; 1 turns delayed ACKs off (a whole number from 1 to 64; 1 unless given).
    ack_delay: longest time an ACK is delayed (a time such as "300us" (units: ps ns us ms s), from 1ps to
        30000s; 500us unless given).
    ack_message_end: whether the end of a message is acknowledged at once, as by the answer of an application
        (true or false; false unless given).
    quick_acks: first segments of a connection that are acknowledged one by one in spite of ack_every (a whole
        number from 0 to 1000000; 0 unless given).
    ack_ecn_changes: whether a segment that changes the ECN echo, or has CWR, is acknowledged at once (true or
        false; false unless given).
    receive_window: receive window, in segments (a window in segments such as "1256pkt", or "unlimited";
        unlimited unless given).
    handshake: whether new connections exchange SYN and SYN-ACK first (true or false; false unless given).
    grow_on_marked_acks: which ACKs with ECN-Echo may open the window: no one, yes: all but those that shrink
        it, ns-2: all but the first after one without (one of no, yes, ns-2; no unless given).
    grow_by_segments: whether an ACK of several segments opens the window as an ACK of each would (true or
        false; false unless given).
    """

    def __init__(
        self,
        *,
        mss: str = ...,
        header: str = ...,
        initial_window: float = ...,
        initial_ssthresh: str = ...,
        rto_min: str = ...,
        rto_max: str = ...,
        initial_rto: str = ...,
        clock_granularity: str = ...,
        tlp_ack_delay: str = ...,
        tlp_slack: str = ...,
        ack_every: int = ...,
        ack_delay: str = ...,
        ack_message_end: bool = ...,
        quick_acks: int = ...,
        ack_ecn_changes: bool = ...,
        receive_window: str = ...,
        handshake: bool = ...,
        grow_on_marked_acks: Literal["no", "yes", "ns-2"] = ...,
        grow_by_segments: bool = ...,
    ) -> None: ...

class Measure(Table):
    """What is recorded.

    ports: ports whose queue is followed; unless given, the port to the host that all traffic goes to, or all
        switch ports (a list of ports such as ["s0->h22"]).
    sample_every: sampling interval ("off" or a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s;
        off unless given).
    """

    def __init__(self, *, ports: Sequence[str] = ..., sample_every: str = ...) -> None: ...

class Faults(Table):
    """What goes wrong; one table, or several as [[faults]].

    links: links such as "leaf0-spine1", or one direction of them such as "leaf0->spine1"; without links, tier
        and hosts it is about every port of every switch (a list of links such as ["leaf0-spine1"]).
    tier: links from switches of this tier upwards (a tier of switches).
    hosts: links of these hosts (hosts: "all", a number such as 3, a range such as "0-19", or a list such as [0,
        2, 5]).
    loss: probability that a data packet is lost before it is queued (a number from 0 to 0.9; 0 unless given).
    ack_loss: the same for a pure ACK (a number from 0 to 0.9; 0 unless given).
    corrupt: probability that a packet is damaged on the wire and dropped at its end (a number from 0 to 0.9; 0
        unless given).
    reorder: probability that a packet arrives later than those behind it (a number from 0 to 1; 0 unless
        given).
    reorder_delay: how much later (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless
        given).
    mark: probability that a data packet is marked (a number from 0 to 1; 0 unless given).
    down_at: when the links fail; what is queued for them or on them is lost ("never" or a time such as "300us"
        (units: ps ns us ms s), from 0ps to 30000s; never unless given).
    up_at: when they are back ("never" or a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s;
        never unless given).
    drop_data: data packets lost on arrival at the first measured port, by number from 1 (a list of whole
        numbers from 1; [] unless given).
    mark_data: data packets marked on arrival at the first measured port, by number from 1 (a list of whole
        numbers from 1; [] unless given).
    """

    def __init__(
        self,
        *,
        links: Sequence[str] = ...,
        tier: str = ...,
        hosts: str | int | Sequence[int] = ...,
        loss: float = ...,
        ack_loss: float = ...,
        corrupt: float = ...,
        reorder: float = ...,
        reorder_delay: str = ...,
        mark: float = ...,
        down_at: str = ...,
        up_at: str = ...,
        drop_data: Sequence[int] = ...,
        mark_data: Sequence[int] = ...,
    ) -> None: ...

class Topology(Table):
    """A table `topology` of some kind. Some share keys:

    rate: rate of host links (a positive rate such as "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
    """

class topology:
    """The kinds of `Topology`."""

    class Star(Topology):
        """Every host on one switch.

        hosts: number of hosts (a whole number from 2 to 100000).
        rate: rate of every link (a positive rate such as "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
        rtt: propagation round trip between two hosts (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        """

        def __init__(self, *, hosts: int, rate: str, rtt: str) -> None: ...

    class SingleRootedTree(Topology):
        """Racks of hosts, each under a switch tor<i>, under one switch root0; one rack is a star under s0.

        hosts: number of hosts, spread evenly over the racks (a whole number from 2 to 100000).
        rtt: propagation round trip of the longest path (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        racks: number of racks (a whole number from 1 to 10000; 1 unless given).
        uplink_rate: rate of links between rack and root; the rate of host links unless given (a positive rate such
            as "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
        """

        def __init__(self, *, hosts: int, rate: str, rtt: str, racks: int = ..., uplink_rate: str = ...) -> None: ...

    class Dumbbell(Topology):
        """Hosts 0..pairs-1 left and pairs..2*pairs-1 right of one bottleneck link.

        pairs: number of hosts on each side (a whole number from 1 to 50000).
        bottleneck: rate of the link between the two switches (a positive rate such as "1Gbps" (units: bps Kbps Mbps
            Gbps Tbps)).
        rtt: propagation round trip from side to side (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        """

        def __init__(self, *, pairs: int, rate: str, bottleneck: str, rtt: str) -> None: ...

    class Chain(Topology):
        """Switches s0 to s<hops> in a row, with hosts at each; h0 is at s0, the last host at the other end.

        hops: links between switches from end to end (a whole number from 1 to 1000).
        hosts_per_switch: hosts at each switch (a whole number from 1 to 10000).
        trunk_rate: rate of links between switches; the rate of host links unless given (a positive rate such as
            "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
        rtt: propagation round trip from end to end (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        trunk_delay: one-way delay of each link between switches; an equal share of rtt unless given (a time such as
            "300us" (units: ps ns us ms s), from 0ps to 30000s).
        """

        def __init__(
            self,
            *,
            hops: int,
            hosts_per_switch: int,
            rate: str,
            rtt: str,
            trunk_rate: str = ...,
            trunk_delay: str = ...,
        ) -> None: ...

    class ParkingLot(Topology):
        """Two bottlenecks s0-s1-s2; n = senders; hosts 0..n-1 (S1) and n..2n-1 (S2) at s0, 2n..3n-1 (S3) and receivers
            3n..4n-1 (R2) at s1, receiver 4n (R1) at s2.

        senders: number of senders in each of the three groups, and of receivers R2 (a whole number from 1 to
            20000).
        first_bottleneck: rate of s0-s1, which S1 and S2 share (a positive rate such as "1Gbps" (units: bps Kbps
            Mbps Gbps Tbps)).
        second_bottleneck: rate of s1-s2, which S1 and S3 share (a positive rate such as "1Gbps" (units: bps Kbps
            Mbps Gbps Tbps)).
        rtt: propagation round trip from S1 to R1 (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        """

        def __init__(
            self, *, senders: int, rate: str, first_bottleneck: str, second_bottleneck: str, rtt: str
        ) -> None: ...

    class TwoTierTree(Topology):
        """Racks of hosts, each under a switch tor<i>, all under one switch core0.

        racks: number of racks (a whole number from 2 to 10000).
        hosts_per_rack: number of hosts in each rack (a whole number from 1 to 10000).
        uplink_rate: rate of each link upwards from a rack; it or oversubscription is needed (a positive rate such
            as "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
        oversubscription: rates of a rack's host links together over those of its uplinks, instead of uplink_rate (a
            number above 0 and at most 1000).
        rtt: propagation round trip between racks (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        uplink_delay: one-way delay of each uplink; a quarter of the way between racks unless given (a time such as
            "300us" (units: ps ns us ms s), from 0ps to 30000s).
        """

        def __init__(
            self,
            *,
            racks: int,
            hosts_per_rack: int,
            rate: str,
            rtt: str,
            uplink_rate: str = ...,
            oversubscription: float = ...,
            uplink_delay: str = ...,
        ) -> None: ...

    class LeafSpine(Topology):
        """Racks of hosts, each under a switch leaf<i>, which has a link to every switch spine<j>.

        racks: number of racks (a whole number from 2 to 10000).
        hosts_per_rack: number of hosts in each rack (a whole number from 1 to 10000).
        uplink_rate: rate of each link upwards from a rack; it or oversubscription is needed (a positive rate such
            as "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
        oversubscription: rates of a rack's host links together over those of its uplinks, instead of uplink_rate (a
            number above 0 and at most 1000).
        rtt: propagation round trip between racks (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        uplink_delay: one-way delay of each uplink; a quarter of the way between racks unless given (a time such as
            "300us" (units: ps ns us ms s), from 0ps to 30000s).
        spines: number of spine switches (a whole number from 1 to 256).
        """

        def __init__(
            self,
            *,
            racks: int,
            hosts_per_rack: int,
            rate: str,
            rtt: str,
            spines: int,
            uplink_rate: str = ...,
            oversubscription: float = ...,
            uplink_delay: str = ...,
        ) -> None: ...

    class FatTree(Topology):
        """K pods of switches edge<i> and agg<i> under switches core<i>, all with k ports; k^3/4 hosts.

        k: ports of each switch (an even number from 2 to 72).
        uplink_rate: rate of links between edge and aggregation; the rate of host links unless given (a positive
            rate such as "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
        core_rate: rate of links between aggregation and core; uplink_rate unless given (a positive rate such as
            "1Gbps" (units: bps Kbps Mbps Gbps Tbps)).
        rtt: propagation round trip between pods (a time such as "300us" (units: ps ns us ms s), from 0ps to
            30000s).
        uplink_delay: one-way delay of links between edge and aggregation; an equal share of rtt unless given (a
            time such as "300us" (units: ps ns us ms s), from 0ps to 30000s).
        core_delay: one-way delay of links between aggregation and core; an equal share of rtt unless given (a time
            such as "300us" (units: ps ns us ms s), from 0ps to 30000s).
        """

        def __init__(
            self,
            *,
            k: int,
            rate: str,
            rtt: str,
            uplink_rate: str = ...,
            core_rate: str = ...,
            uplink_delay: str = ...,
            core_delay: str = ...,
        ) -> None: ...

    class Explicit(Topology):
        """Nodes and links from a file: an edge list a,b,rate,delay (.csv) or GraphML (.graphml, .xml).

        file: links: a .csv file with the header a,b,rate,delay, or a .graphml or .xml file; relative to the
            scenario (the name of a .csv, .graphml or .xml file).
        node_file: nodes of an edge list: a .csv file with the header name,kind[,tier], kind being host or switch;
            without it the nodes are those that links name, and hosts those that begin with h (the name of a .csv
            file).
        rate: rate of links for which the file gives none (a positive rate such as "1Gbps" (units: bps Kbps Mbps
            Gbps Tbps)).
        delay: one-way delay of links for which the file gives none (a time such as "300us" (units: ps ns us ms s),
            from 0ps to 30000s).
        """

        def __init__(self, *, file: str, node_file: str = ..., rate: str = ..., delay: str = ...) -> None: ...

class Routing(Table):
    """A table `routing` of some kind."""

class routing:
    """The kinds of `Routing`."""

    class FlowHash(Routing):
        """A hash of the connection's number chooses, and the connection keeps its path."""

        def __init__(self) -> None: ...

    class Destination(Routing):
        """The number of the destination modulo that of the paths chooses."""

        def __init__(self) -> None: ...

    class Spray(Routing):
        """Each packet takes a path at random."""

        def __init__(self) -> None: ...

    class Flowlet(Routing):
        """A connection that pauses for longer than a gap goes on over a path drawn at random.

        gap: pause at a switch after which a connection may take another path (a time such as "300us" (units: ps ns
            us ms s), from 1ps to 30000s; 500us unless given).
        """

        def __init__(self, *, gap: str = ...) -> None: ...

class Traffic(Table):
    """A table `traffic` of some kind. Some share keys:

    from_: senders (hosts: "all", a number such as 3, a range such as "0-19", or a list such as [0, 2, 5]; all
        unless given).
    to: receivers; the last host unless given, or all for all-to-all (hosts: "all", a number such as 3, a range
        such as "0-19", or a list such as [0, 2, 5]).
    unmeasured: accept that none of its flows starts in the measured time, and so counts (true or false).
    transport: transport of these flows in place of the scheme's, with its parameters; their class is then
        CLASS-TRANSPORT (a transport such as "cubic" or "dctcp+g=0.09").
    transport_share: share of the flows that run it, or of the connections where flows share one; 1 unless given
        (a number above 0 and at most 1).
    class_: name of the traffic class in results (a name of lower-case letters, digits, "-" and "_", such as
        "short"; short unless given).
    connections: whether each flow has a connection of its own, or those of the entry between two hosts share
        one (persistent), or those of all entries that say shared (one of new, persistent, shared; new unless
        given).
    sizes: flow sizes (a table such as { kind = "uniform", min = "2KB", max = "98KB" }; kinds are fixed,
        uniform, log-uniform, exponential, pareto, mixture, published, cdf).
    deadline: deadlines, relative to the start of a flow (a table such as { kind = "exponential", mean = "40ms"
        }; kinds are fixed, uniform, exponential).
    at: when the first one begins (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless
        given).
    repeat: how many there are, one after the other; none begins after the end of arrivals (a whole number from
        1 to 1000000; 1 unless given).
    think: from the end of one to the beginning of the next (a time such as "300us" (units: ps ns us ms s), from
        0ps to 30000s; 0s unless given).
    """

class traffic:
    """The kinds of `Traffic`."""

    class LongLived(Traffic):
        """Flows that always have something to send, sources taken in turn, to one host, one for each source, or a
            random permutation.

        flows: number of flows; one for each sender unless given (a whole number from 1 to 1000000).
        start: when they start (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless given).
        stagger: each flow starts later by this times the number of the sending host (a time such as "300us" (units:
            ps ns us ms s), from 0ps to 30000s; 0s unless given).
        permutation: whether the senders are the receivers too, each of one other, in a random order (true or false;
            false unless given).
        class_: name of the traffic class in results (a name of lower-case letters, digits, "-" and "_", such as
            "short"; long unless given).
        """

        def __init__(
            self,
            *,
            flows: int = ...,
            start: str = ...,
            stagger: str = ...,
            permutation: bool = ...,
            class_: str = ...,
            from_: str | int | Sequence[int] = ...,
            to: str | int | Sequence[int] = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Poisson(Traffic):
        """Independent flows at random times, at an offered load or a rate.

        load: offered load, arrival rate x mean size / capacity: of the link that is named, otherwise of the link to
            the receiver, or of the links to all receivers together (a number above 0 and at most 10).
        rate_per_s: flows per second, instead of load (a number above 0 and at most 10000000000).
        link: the link that load is about, which counts the flows that cross it (a link such as "s0->s1").
        start: when arrivals begin (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless
            given).
        pattern: who sends to whom: all to one host, to any host, each to one host of its own, within or across
            racks, a mixture of both, or more than their share to hot hosts (one of many-to-one, all-to-all,
            permutation, intra-rack, inter-rack, rack-locality, hot-spot; many-to-one unless given).
        local: for rack-locality: share of flows that stay in the rack (a number from 0 to 1).
        hot: for hot-spot: share of flows that go to hot hosts (a number from 0 to 1).
        hot_hosts: for hot-spot: the hot hosts; the last one unless given (hosts: "all", a number such as 3, a range
            such as "0-19", or a list such as [0, 2, 5]).
        """

        def __init__(
            self,
            *,
            sizes: Sizes,
            load: float = ...,
            rate_per_s: float = ...,
            link: str = ...,
            start: str = ...,
            pattern: Literal[
                "many-to-one", "all-to-all", "permutation", "intra-rack", "inter-rack", "rack-locality", "hot-spot"
            ] = ...,
            local: float = ...,
            hot: float = ...,
            hot_hosts: str | int | Sequence[int] = ...,
            from_: str | int | Sequence[int] = ...,
            to: str | int | Sequence[int] = ...,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            deadline: Deadline = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Arrivals(Traffic):
        """Independent flows with inter-arrival times of any distribution: regular, log-normal, in bursts, ….

        interarrival: distribution of the times between arrivals (a table such as { kind = "log-normal", sigma = 1.8
            }; kinds are exponential, fixed, log-normal, bursts).
        load: offered load, arrival rate x mean size / capacity: of the link that is named, otherwise of the link to
            the receiver, or of the links to all receivers together (a number above 0 and at most 10).
        rate_per_s: flows per second, instead of load (a number above 0 and at most 10000000000).
        link: the link that load is about, which counts the flows that cross it (a link such as "s0->s1").
        start: when arrivals begin (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless
            given).
        pattern: who sends to whom: all to one host, to any host, each to one host of its own, within or across
            racks, a mixture of both, or more than their share to hot hosts (one of many-to-one, all-to-all,
            permutation, intra-rack, inter-rack, rack-locality, hot-spot; many-to-one unless given).
        local: for rack-locality: share of flows that stay in the rack (a number from 0 to 1).
        hot: for hot-spot: share of flows that go to hot hosts (a number from 0 to 1).
        hot_hosts: for hot-spot: the hot hosts; the last one unless given (hosts: "all", a number such as 3, a range
            such as "0-19", or a list such as [0, 2, 5]).
        """

        def __init__(
            self,
            *,
            interarrival: Interarrival,
            sizes: Sizes,
            load: float = ...,
            rate_per_s: float = ...,
            link: str = ...,
            start: str = ...,
            pattern: Literal[
                "many-to-one", "all-to-all", "permutation", "intra-rack", "inter-rack", "rack-locality", "hot-spot"
            ] = ...,
            local: float = ...,
            hot: float = ...,
            hot_hosts: str | int | Sequence[int] = ...,
            from_: str | int | Sequence[int] = ...,
            to: str | int | Sequence[int] = ...,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            deadline: Deadline = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Periodic(Traffic):
        """Every sender sends a burst at fixed intervals to one host.

        every: time from burst to burst of a sender (a time such as "300us" (units: ps ns us ms s), from 1ps to
            30000s).
        start: when host 0 would send first (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s
            unless given).
        stagger: each sender starts later by this times its host number (a time such as "300us" (units: ps ns us ms
            s), from 0ps to 30000s; 0s unless given).
        jitter: each sender's clock is late by a random time up to this, the same for all of its bursts (a time such
            as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s unless given).
        """

        def __init__(
            self,
            *,
            every: str,
            sizes: Sizes,
            start: str = ...,
            stagger: str = ...,
            jitter: str = ...,
            from_: str | int | Sequence[int] = ...,
            to: str | int | Sequence[int] = ...,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            deadline: Deadline = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Incast(Traffic):
        """Many flows to one host at once, once or again and again.

        flows: flows in one burst, senders taken in turn (a whole number from 1 to 1000000).
        at: when the first burst starts (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s
            unless given).
        jitter: each flow starts later by a random time up to this (a time such as "300us" (units: ps ns us ms s),
            from 0ps to 30000s; 0s unless given).
        repeat: number of bursts (a whole number from 1 to 1000000; 1 unless given).
        every: time from burst to burst (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s; 100ms
            unless given).
        """

        def __init__(
            self,
            *,
            flows: int,
            sizes: Sizes,
            at: str = ...,
            jitter: str = ...,
            repeat: int = ...,
            every: str = ...,
            from_: str | int | Sequence[int] = ...,
            to: str | int | Sequence[int] = ...,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            deadline: Deadline = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Trace(Traffic):
        """Flows from a CSV file: start,source,destination,bytes[,deadline][,class].

        file: CSV file, relative to the scenario, by increasing start; times in seconds or with a unit (the name of
            a CSV file of flows).
        class_: class of rows that name none (a name of lower-case letters, digits, "-" and "_", such as "short";
            short unless given).
        """

        def __init__(
            self,
            *,
            file: str,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Queries(Traffic):
        """One host asks many workers, each answers; the next query begins when all have.

        workers: workers that are asked, hosts of from taken in turn (a whole number from 1 to 1000000).
        query_deadline: time allowed for the whole query (a time such as "300us" (units: ps ns us ms s), from 1ps to
            30000s).
        request: size of the request to each host of this level (a size such as "98KB" (units: B KB MB GB KiB MiB
            GiB), from 1B to 1000000GB; 100B unless given).
        request_deadline: time allowed for the request (a time such as "300us" (units: ps ns us ms s), from 1ps to
            30000s).
        compute: from the request, or from the last answer below, until the answer is sent (a time such as "300us"
            (units: ps ns us ms s), from 0ps to 30000s; 0s unless given).
        jitter: the answer is sent later by a random time up to this (a time such as "300us" (units: ps ns us ms s),
            from 0ps to 30000s; 0s unless given).
        """

        def __init__(
            self,
            *,
            workers: int,
            sizes: Sizes,
            at: str = ...,
            repeat: int = ...,
            think: str = ...,
            query_deadline: str = ...,
            from_: str | int | Sequence[int] = ...,
            to: str | int | Sequence[int] = ...,
            request: str = ...,
            request_deadline: str = ...,
            compute: str = ...,
            jitter: str = ...,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            deadline: Deadline = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Aggregation(Traffic):
        """A root asks aggregators, each asks workers of its own, answers come back the same way.

        root: the host that asks first (hosts: "all", a number such as 3, a range such as "0-19", or a list such as
            [0, 2, 5]; 0 unless given).
        aggregators: hosts of the aggregators, one each (hosts: "all", a number such as 3, a range such as "0-19",
            or a list such as [0, 2, 5]).
        from_: hosts of the workers (hosts: "all", a number such as 3, a range such as "0-19", or a list such as [0,
            2, 5]).
        workers: workers that are asked, hosts of from taken in turn; neighbours have one aggregator (a whole number
            from 1 to 1000000).
        query_deadline: time allowed for the whole query (a time such as "300us" (units: ps ns us ms s), from 1ps to
            30000s).
        aggregator: what aggregators do and answer (a table with request, request_deadline, compute, jitter, class,
            connections, sizes, deadline).
        worker: what workers do and answer (a table with request, request_deadline, compute, jitter, class,
            connections, sizes, deadline).
        """

        def __init__(
            self,
            *,
            aggregators: str | int | Sequence[int],
            from_: str | int | Sequence[int],
            workers: int,
            aggregator: Mapping[str, object],
            worker: Mapping[str, object],
            root: str | int | Sequence[int] = ...,
            at: str = ...,
            repeat: int = ...,
            think: str = ...,
            query_deadline: str = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Mapreduce(Traffic):
        """Jobs: read, map, shuffle many-to-many, reduce, collect.

        mappers: hosts that map, one mapper each (hosts: "all", a number such as 3, a range such as "0-19", or a
            list such as [0, 2, 5]).
        reducers: hosts that reduce, one reducer each; they may map too (hosts: "all", a number such as 3, a range
            such as "0-19", or a list such as [0, 2, 5]).
        collector: the host that collects the results; it neither maps nor reduces (hosts: "all", a number such as
            3, a range such as "0-19", or a list such as [0, 2, 5]).
        storage: hosts that mappers read from; unless given, their input is on the spot (hosts: "all", a number such
            as 3, a range such as "0-19", or a list such as [0, 2, 5]).
        input: what a mapper reads from storage (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB; 8MB unless given).
        result: what a reducer sends to the collector (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from
            1B to 1000000GB; 1MB unless given).
        map: computing time of a mapper (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s
            unless given).
        reduce: computing time of a reducer (a time such as "300us" (units: ps ns us ms s), from 0ps to 30000s; 0s
            unless given).
        straggle: each computing time is longer by a random share of it, up to this (a number from 0 to 100; 0
            unless given).
        job_deadline: time allowed for a job (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s).
        """

        def __init__(
            self,
            *,
            mappers: str | int | Sequence[int],
            reducers: str | int | Sequence[int],
            collector: str | int | Sequence[int],
            sizes: Sizes,
            storage: str | int | Sequence[int] = ...,
            input: str = ...,
            result: str = ...,
            map: str = ...,
            reduce: str = ...,
            straggle: float = ...,
            job_deadline: str = ...,
            at: str = ...,
            repeat: int = ...,
            think: str = ...,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            deadline: Deadline = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

    class Web(Traffic):
        """Sessions that ask web servers for pages, for which those ask a database.

        clients: hosts of the clients (hosts: "all", a number such as 3, a range such as "0-19", or a list such as
            [0, 2, 5]).
        servers: hosts of the web servers (hosts: "all", a number such as 3, a range such as "0-19", or a list such
            as [0, 2, 5]).
        databases: hosts of the databases (hosts: "all", a number such as 3, a range such as "0-19", or a list such
            as [0, 2, 5]).
        sessions: sessions, client hosts taken in turn; one for each host unless given (a whole number from 1 to
            1000000).
        start: when sessions begin to think about their first page (a time such as "300us" (units: ps ns us ms s),
            from 0ps to 30000s; 0s unless given).
        think: mean time from a page to the next request, exponentially distributed (a time such as "300us" (units:
            ps ns us ms s), from 1ps to 30000s).
        request: what a client sends to ask for a page (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from
            1B to 1000000GB; 1KB unless given).
        query: what a web server sends to ask a database (a size such as "98KB" (units: B KB MB GB KiB MiB GiB),
            from 1B to 1000000GB; 1KB unless given).
        page_deadline: time allowed for a page, from its request on (a time such as "300us" (units: ps ns us ms s),
            from 1ps to 30000s).
        answer: what a database answers (a table with class, connections, sizes, deadline).
        """

        def __init__(
            self,
            *,
            clients: str | int | Sequence[int],
            servers: str | int | Sequence[int],
            databases: str | int | Sequence[int],
            think: str,
            answer: Mapping[str, object],
            sizes: Sizes,
            sessions: int = ...,
            start: str = ...,
            request: str = ...,
            query: str = ...,
            page_deadline: str = ...,
            class_: str = ...,
            connections: Literal["new", "persistent", "shared"] = ...,
            deadline: Deadline = ...,
            unmeasured: bool = ...,
            transport: str = ...,
            transport_share: float = ...,
        ) -> None: ...

class Sizes(Table):
    """A table `sizes` of some kind."""

class sizes:
    """The kinds of `Sizes`."""

    class Fixed(Sizes):
        """Every flow of the same size.

        value: the size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, value: str) -> None: ...

    class Uniform(Sizes):
        """Every whole number of bytes between two bounds equally likely.

        min: smallest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        max: largest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, min: str, max: str) -> None: ...

    class LogUniform(Sizes):
        """Between two bounds, the logarithm evenly spread.

        min: smallest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        max: largest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, min: str, max: str) -> None: ...

    class Exponential(Sizes):
        """Exponentially distributed.

        mean: mean size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, mean: str) -> None: ...

    class Pareto(Sizes):
        """Pareto distributed; with max, truncated there.

        shape: shape: the smaller, the heavier the tail (a number from 1.01 to 100).
        mean: mean size without truncation (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        max: sizes above this one do not occur; the offered load counts the smaller mean that is left (a size such
            as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, shape: float, mean: str, max: str = ...) -> None: ...

    class Mixture(Sizes):
        """Several distributions, each with its share of the flows.

        parts: the distributions, with shares that sum to 1 (a list of tables such as { share = 0.8, kind =
            "uniform", min = "1KB", max = "9KB" }).
        """

        def __init__(self, *, parts: Sequence[Part]) -> None: ...

    class Published(Sizes):
        """Measured in a data centre and published; linear between the published points.

        name: which distribution (one of alibaba-storage, datamining, facebook-hadoop, google-rpc, imc10-university,
            websearch, websearch-packets).
        min: sizes up to this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        max: sizes above this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        """

        def __init__(
            self,
            *,
            name: Literal[
                "alibaba-storage",
                "datamining",
                "facebook-hadoop",
                "google-rpc",
                "imc10-university",
                "websearch",
                "websearch-packets",
            ],
            min: str = ...,
            max: str = ...,
        ) -> None: ...

    class Cdf(Sizes):
        """From a CSV file of lines bytes,cumulative that ends at 1; linear between lines.

        file: CSV file, relative to the scenario (the name of a CSV file of lines bytes,cumulative).
        min: sizes up to this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        max: sizes above this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        """

        def __init__(self, *, file: str, min: str = ..., max: str = ...) -> None: ...

class Part(Table):
    """A table `part` of some kind. Some share keys:

    share: share of the flows (a number above 0 and at most 1).
    """

class part:
    """The kinds of `Part`."""

    class Fixed(Part):
        """Every flow of the same size.

        value: the size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, value: str, share: float) -> None: ...

    class Uniform(Part):
        """Every whole number of bytes between two bounds equally likely.

        min: smallest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        max: largest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, min: str, max: str, share: float) -> None: ...

    class LogUniform(Part):
        """Between two bounds, the logarithm evenly spread.

        min: smallest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        max: largest size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, min: str, max: str, share: float) -> None: ...

    class Exponential(Part):
        """Exponentially distributed.

        mean: mean size (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, mean: str, share: float) -> None: ...

    class Pareto(Part):
        """Pareto distributed; with max, truncated there.

        shape: shape: the smaller, the heavier the tail (a number from 1.01 to 100).
        mean: mean size without truncation (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        max: sizes above this one do not occur; the offered load counts the smaller mean that is left (a size such
            as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to 1000000GB).
        """

        def __init__(self, *, shape: float, mean: str, share: float, max: str = ...) -> None: ...

    class Mixture(Part):
        """Several distributions, each with its share of the flows.

        parts: the distributions, with shares that sum to 1 (a list of tables such as { share = 0.8, kind =
            "uniform", min = "1KB", max = "9KB" }).
        """

        def __init__(self, *, parts: Sequence[Part], share: float) -> None: ...

    class Published(Part):
        """Measured in a data centre and published; linear between the published points.

        name: which distribution (one of alibaba-storage, datamining, facebook-hadoop, google-rpc, imc10-university,
            websearch, websearch-packets).
        min: sizes up to this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        max: sizes above this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        """

        def __init__(
            self,
            *,
            name: Literal[
                "alibaba-storage",
                "datamining",
                "facebook-hadoop",
                "google-rpc",
                "imc10-university",
                "websearch",
                "websearch-packets",
            ],
            share: float,
            min: str = ...,
            max: str = ...,
        ) -> None: ...

    class Cdf(Part):
        """From a CSV file of lines bytes,cumulative that ends at 1; linear between lines.

        file: CSV file, relative to the scenario (the name of a CSV file of lines bytes,cumulative).
        min: sizes up to this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        max: sizes above this one do not occur (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B to
            1000000GB).
        """

        def __init__(self, *, file: str, share: float, min: str = ..., max: str = ...) -> None: ...

class Deadline(Table):
    """A table `deadline` of some kind."""

class deadline:
    """The kinds of `Deadline`."""

    class Fixed(Deadline):
        """The same deadline for every flow.

        value: the deadline (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s).
        """

        def __init__(self, *, value: str) -> None: ...

    class Uniform(Deadline):
        """Between two bounds, all equally likely.

        min: shortest deadline (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s).
        max: longest deadline (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s).
        """

        def __init__(self, *, min: str, max: str) -> None: ...

    class Exponential(Deadline):
        """Exponentially distributed.

        mean: mean deadline (a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s).
        """

        def __init__(self, *, mean: str) -> None: ...

class Interarrival(Table):
    """A table `interarrival` of some kind."""

class interarrival:
    """The kinds of `Interarrival`."""

    class Exponential(Interarrival):
        """Independent of the past: a Poisson process."""

        def __init__(self) -> None: ...

    class Fixed(Interarrival):
        """All equal."""

        def __init__(self) -> None: ...

    class LogNormal(Interarrival):
        """Of very different lengths: the logarithm is normally distributed.

        sigma: standard deviation of the natural logarithm of an inter-arrival time (a number above 0 and at most
            5).
        """

        def __init__(self, *, sigma: float) -> None: ...

    class Bursts(Interarrival):
        """Several flows at once, bursts as a Poisson process.

        flows: flows that start at once (a whole number from 1 to 1000000).
        """

        def __init__(self, *, flows: int) -> None: ...

class AnyScheme(NamedScheme):
    """The text that names a scheme, with settings of its own. Some share keys:

    recovery: loss recovery: RFC 6582, RFC 6675, or RACK-TLP of RFC 8985 (one of newreno, sack, rack; sack
        unless given).
    dupthresh: duplicate ACKs, or segments SACKed above a hole, that tell of a loss: what is reordered further
        looks lost (a whole number from 2 to 1000000; 3 unless given).
    ecn: ECN behaviour of sender and receiver (one of off, classic, exact; off unless given).
    host_queue: queue discipline of host ports (one of droptail, step-ecn, red, pie, codel, tcn, fair, priority-
        ecn, pfabric, pias; droptail unless given).
    recovery: loss recovery: RFC 6582, RFC 6675, or RACK-TLP of RFC 8985 (one of newreno, sack, rack; newreno
        unless given).
    g: weight of the newest window in alpha (a number from 0 to 1; 0.0625 unless given).
    initial_alpha: alpha before the first window has been acknowledged (a number from 0 to 1; 0 unless given).
    cwnd_floor: smallest window after a decrease for ECN, in segments (a number from 1 to 100; 1 unless given).
    ecn: ECN behaviour of sender and receiver (one of off, classic, exact; exact unless given).
    w_max: largest weight, of a flow that has just started (a number from 0.01 to 100; 2.5 unless given).
    w_min: smallest weight, of a long flow (a number from 0.001 to 100; 0.125 unless given).
    knee_low: bytes up to which a flow has the largest weight (a size such as "98KB" (units: B KB MB GB KiB MiB
        GiB), from 0B on; 200KB unless given).
    knee_high: bytes from which a flow has the smallest weight (a size such as "98KB" (units: B KB MB GB KiB MiB
        GiB), from 0B on; 1MB unless given).
    priority_thresholds: bytes sent at which a flow falls one level, with by=levels (one to seven rising sizes
        such as "10KB,100KB,1MB"; 10KB,100KB,1MB,10MB unless given).
    """

class schemes:
    """The kinds of `AnyScheme`."""

    class Tcp(AnyScheme):
        """TCP with selective acknowledgements over drop-tail queues (RFC 5681, RFC 6675)."""

        def __init__(
            self,
            *,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Newreno(AnyScheme):
        """TCP NewReno over drop-tail queues (RFC 5681, RFC 6582)."""

        def __init__(
            self,
            *,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class TcpEcn(AnyScheme):
        """TCP NewReno that halves on marks, over queues that mark above a threshold (RFC 5681, RFC 6582, RFC 3168).

        ecn: ECN behaviour of sender and receiver (one of off, classic, exact; classic unless given).
        """

        def __init__(
            self,
            *,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Cubic(AnyScheme):
        """CUBIC over drop-tail queues (RFC 9438).

        c: how steeply the window returns, in segments per cubic second (a number from 0.001 to 1000000; 0.4 unless
            given).
        beta: share of the window that is kept after a loss (a number from 0.1 to 0.99; 0.7 unless given).
        beta_ecn: share of the window that is kept after ECN-Echo (a number from 0.1 to 0.99; 0.7 unless given).
        fast_convergence: whether a flow that loses before its old maximum leaves room for others (true or false;
            true unless given).
        reno_friendly: whether the window is at least that of a TCP that decreases by beta (true or false; true
            unless given).
        """

        def __init__(
            self,
            *,
            c: float = ...,
            beta: float = ...,
            beta_ecn: float = ...,
            fast_convergence: bool = ...,
            reno_friendly: bool = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Dctcp(AnyScheme):
        """DCTCP over queues that mark above a threshold (DCTCP, SIGCOMM 2010; RFC 8257)."""

        def __init__(
            self,
            *,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class D2tcp(AnyScheme):
        """D2TCP: DCTCP that backs off less near a deadline (D2TCP, SIGCOMM 2012).

        clip_low: smallest exponent, of a flow that is well ahead of its deadline (a number from 0 to 1; 0.5 unless
            given).
        clip_high: largest exponent, of a flow that is about to miss it; a large number means no limit (a number
            from 1 to 1000000000; 2 unless given).
        expired: exponent after the deadline; 1 is DCTCP (a number from 0 to 1000000000; 1 unless given).
        """

        def __init__(
            self,
            *,
            clip_low: float = ...,
            clip_high: float = ...,
            expired: float = ...,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class L2dct(AnyScheme):
        """L2DCT: DCTCP that favours flows that have sent little (L2DCT, INFOCOM 2013).

        profile: what the weight depends on (one of las, srpt, ps; las unless given).
        """

        def __init__(
            self,
            *,
            profile: Literal["las", "srpt", "ps"] = ...,
            w_max: float = ...,
            w_min: float = ...,
            knee_low: str = ...,
            knee_high: str = ...,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class L2dctSrpt(AnyScheme):
        """L2DCT with weights by remaining bytes, which it would have to know (L2DCT, INFOCOM 2013, §III-E).

        profile: what the weight depends on (one of las, srpt, ps; srpt unless given).
        """

        def __init__(
            self,
            *,
            profile: Literal["las", "srpt", "ps"] = ...,
            w_max: float = ...,
            w_min: float = ...,
            knee_low: str = ...,
            knee_high: str = ...,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class L2dctPs(AnyScheme):
        """L2DCT with equal weights: processor sharing (L2DCT, INFOCOM 2013, §III-E).

        profile: what the weight depends on (one of las, srpt, ps; ps unless given).
        """

        def __init__(
            self,
            *,
            profile: Literal["las", "srpt", "ps"] = ...,
            w_max: float = ...,
            w_min: float = ...,
            knee_low: str = ...,
            knee_high: str = ...,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Xdctcp(AnyScheme):
        """XDCTCP: DCTCP whose long flows back off more than its short ones (xDCTCP, UC San Diego 2015).

        ns: share of alpha by which short flows reduce their window (a number from 0 to 0.5; 0.3 unless given).
        nl: share of alpha by which long flows reduce their window (a number from 0.5 to 1; 1 unless given).
        classify: how a flow is found to be short or long (one of role, bytes; role unless given).
        threshold: bytes sent from which a flow is long, where its class does not say (a size such as "98KB" (units:
            B KB MB GB KiB MiB GiB), from 0B on; 1MB unless given).
        g: weight of the newest window in alpha (a number from 0 to 1; 0.09 unless given).
        """

        def __init__(
            self,
            *,
            ns: float = ...,
            nl: float = ...,
            classify: Literal["role", "bytes"] = ...,
            threshold: str = ...,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Atcp(AnyScheme):
        """ATCP over drop-tail queues: TCP that grows by a weight that falls with bytes sent (ATCP, University of
            Wisconsin-Madison).

        w_high: weight of a flow that has sent little (a number from 0.01 to 100; 3 unless given).
        w_low: weight of a flow that has sent much (a number from 0.01 to 100; 1 unless given).
        t1: bytes up to which a flow has the high weight (a size such as "98KB" (units: B KB MB GB KiB MiB GiB),
            from 0B on; 10MB unless given).
        t2: bytes above which a flow has the low weight (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from
            0B on; 10MB unless given).
        middle: how the weight falls between t1 and t2 (one of linear, exponential; linear unless given).
        base: what a mark does (one of tcp, dctcp; tcp unless given).
        g: weight of the newest window in alpha, where base is dctcp (a number from 0 to 1; 0.0625 unless given).
        """

        def __init__(
            self,
            *,
            w_high: float = ...,
            w_low: float = ...,
            t1: str = ...,
            t2: str = ...,
            middle: Literal["linear", "exponential"] = ...,
            base: Literal["tcp", "dctcp"] = ...,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class AtcpDctcp(AnyScheme):
        """ATCP's growth with DCTCP's response to marks (ATCP, University of Wisconsin-Madison, §V-D).

        w_high: weight of a flow that has sent little (a number from 0.01 to 100; 3 unless given).
        w_low: weight of a flow that has sent much (a number from 0.01 to 100; 1 unless given).
        t1: bytes up to which a flow has the high weight (a size such as "98KB" (units: B KB MB GB KiB MiB GiB),
            from 0B on; 10MB unless given).
        t2: bytes above which a flow has the low weight (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from
            0B on; 10MB unless given).
        middle: how the weight falls between t1 and t2 (one of linear, exponential; linear unless given).
        base: what a mark does (one of tcp, dctcp; dctcp unless given).
        g: weight of the newest window in alpha, where base is dctcp (a number from 0 to 1; 0.0625 unless given).
        """

        def __init__(
            self,
            *,
            w_high: float = ...,
            w_low: float = ...,
            t1: str = ...,
            t2: str = ...,
            middle: Literal["linear", "exponential"] = ...,
            base: Literal["tcp", "dctcp"] = ...,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Fast(AnyScheme):
        """FaST: DCTCP whose window may fall below one segment (FaST, KSII TIIS 2014).

        probes: data packets of half a segment that a connection starts with, one per round trip (a whole number
            from 0 to 3; 3 unless given).
        w_min: window after probing, and below which the limit per round trip holds, in segments (a number from 1 to
            100; 2 unless given).
        min_segment: payload of the smallest segment (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B
            to 65KB; 100B unless given).
        nagle: whether the sender waits for room for a whole segment (true or false; false unless given).
        initial_alpha: alpha before the first window has been acknowledged (a number from 0 to 1; 1 unless given).
        """

        def __init__(
            self,
            *,
            probes: int = ...,
            w_min: float = ...,
            min_segment: str = ...,
            nagle: bool = ...,
            g: float = ...,
            initial_alpha: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Red(AnyScheme):
        """TCP NewReno that halves on marks, over random early detection (RED, ToN 1993; RFC 3168).

        ecn: ECN behaviour of sender and receiver (one of off, classic, exact; classic unless given).
        queue_min: minimum threshold; auto: mark_above of the switch ("auto" or a queue size above zero such as
            "5pkt" or "30KB"; auto unless given).
        queue_max: maximum threshold, in multiples of the minimum (a number from 1 to 100; 3 unless given).
        queue_max_p: probability of a mark where the average reaches the maximum threshold (a number from 0 to 1;
            0.1 unless given).
        queue_weight: weight of a new arrival in the average backlog; 1: the instantaneous backlog (a number from
            0.000001 to 1; 0.002 unless given).
        queue_gentle: beyond the maximum threshold, let the probability rise to 1 at twice of it (true or false;
            true unless given).
        queue_ecn: mark ECN-capable packets; false: drop them (true or false; true unless given).
        queue_spread: space marks evenly; false: each packet by itself, so that the share of marks is the
            probability (true or false; true unless given).
        """

        def __init__(
            self,
            *,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            queue_min: str = ...,
            queue_max: float = ...,
            queue_max_p: float = ...,
            queue_weight: float = ...,
            queue_gentle: bool = ...,
            queue_ecn: bool = ...,
            queue_spread: bool = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Pecn(AnyScheme):
        """DCTCP over queues that mark and send the smallest flow first (pECN, ComSIS 2016).

        queue_mark: which packet is marked: the arriving one, or the one with the lowest priority (pMark) (one of
            arriving, lowest; arriving unless given).
        priority_by: what the priority of a packet is made from (one of none, size, size-dscp, size-class,
            remaining, sent, deadline, levels; size unless given).
        """

        def __init__(
            self,
            *,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            queue_mark: Literal["arriving", "lowest"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
            priority_by: Literal[
                "none", "size", "size-dscp", "size-class", "remaining", "sent", "deadline", "levels"
            ] = ...,
            priority_thresholds: str = ...,
        ) -> None: ...

    class PecnPmark(AnyScheme):
        """DCTCP over queues that mark the packet of the largest flow and send the smallest flow first (pECN, ComSIS
            2016, §4.1).

        queue_mark: which packet is marked: the arriving one, or the one with the lowest priority (pMark) (one of
            arriving, lowest; lowest unless given).
        priority_by: what the priority of a packet is made from (one of none, size, size-dscp, size-class,
            remaining, sent, deadline, levels; size unless given).
        """

        def __init__(
            self,
            *,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            queue_mark: Literal["arriving", "lowest"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
            priority_by: Literal[
                "none", "size", "size-dscp", "size-class", "remaining", "sent", "deadline", "levels"
            ] = ...,
            priority_thresholds: str = ...,
        ) -> None: ...

    class PecnEdf(AnyScheme):
        """DCTCP over queues that mark and send the flow with the earliest deadline first (pECN, ComSIS 2016, §4.2).

        queue_mark: which packet is marked: the arriving one, or the one with the lowest priority (pMark) (one of
            arriving, lowest; arriving unless given).
        priority_by: what the priority of a packet is made from (one of none, size, size-dscp, size-class,
            remaining, sent, deadline, levels; deadline unless given).
        """

        def __init__(
            self,
            *,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            queue_mark: Literal["arriving", "lowest"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
            priority_by: Literal[
                "none", "size", "size-dscp", "size-class", "remaining", "sent", "deadline", "levels"
            ] = ...,
            priority_thresholds: str = ...,
        ) -> None: ...

    class Pfabric(AnyScheme):
        """TCP with selective acknowledgements over queues that send the flow with the least left first (pFabric,
            SIGCOMM 2013).

        host_queue: queue discipline of host ports (one of droptail, step-ecn, red, pie, codel, tcn, fair, priority-
            ecn, pfabric, pias; pfabric unless given).
        priority_by: what the priority of a packet is made from (one of none, size, size-dscp, size-class,
            remaining, sent, deadline, levels; remaining unless given).
        """

        def __init__(
            self,
            *,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
            priority_by: Literal[
                "none", "size", "size-dscp", "size-class", "remaining", "sent", "deadline", "levels"
            ] = ...,
            priority_thresholds: str = ...,
        ) -> None: ...

    class PfabricMinimal(AnyScheme):
        """PFabric's own minimal sender over queues that send the flow with the least left first (pFabric, SIGCOMM
            2013).

        window: first window, in segments; auto: the bandwidth-delay product, of the host's link and the path
            without queues ("auto" or a number from 1 to 1000000; auto unless given).
        rto: time without progress after which all that is out counts as lost; auto: three round trips without
            queues ("auto" or a time such as "300us" (units: ps ns us ms s), from 1ps to 30000s; auto unless given).
        probe_after: timeouts in a row from which on headers probe the path in place of data (a whole number from 1
            to 1000; 5 unless given).
        host_queue: queue discipline of host ports (one of droptail, step-ecn, red, pie, codel, tcn, fair, priority-
            ecn, pfabric, pias; pfabric unless given).
        priority_by: what the priority of a packet is made from (one of none, size, size-dscp, size-class,
            remaining, sent, deadline, levels; remaining unless given).
        """

        def __init__(
            self,
            *,
            window: float | str = ...,
            rto: str = ...,
            probe_after: int = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
            priority_by: Literal[
                "none", "size", "size-dscp", "size-class", "remaining", "sent", "deadline", "levels"
            ] = ...,
            priority_thresholds: str = ...,
        ) -> None: ...

    class Pias(AnyScheme):
        """DCTCP over eight strict priorities, through which flows fall as they send (PIAS, NSDI 2015).

        queue_ecn: what is compared with the marking threshold: the backlog of the port or of the packet's queue, or
            a packet's wait (one of port, queue, sojourn; port unless given).
        host_queue: queue discipline of host ports (one of droptail, step-ecn, red, pie, codel, tcn, fair, priority-
            ecn, pfabric, pias; pias unless given).
        host_queue_ecn: what is compared with the marking threshold: the backlog of the port or of the packet's
            queue, or a packet's wait (one of port, queue, sojourn; port unless given).
        priority_by: what the priority of a packet is made from (one of none, size, size-dscp, size-class,
            remaining, sent, deadline, levels; levels unless given).
        """

        def __init__(
            self,
            *,
            g: float = ...,
            initial_alpha: float = ...,
            cwnd_floor: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            queue_ecn: Literal["port", "queue", "sojourn"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
            host_queue_ecn: Literal["port", "queue", "sojourn"] = ...,
            priority_by: Literal[
                "none", "size", "size-dscp", "size-class", "remaining", "sent", "deadline", "levels"
            ] = ...,
            priority_thresholds: str = ...,
        ) -> None: ...

    class Swift(AnyScheme):
        """Swift over drop-tail queues: keeps the delay at a target (Swift, SIGCOMM 2020).

        base_target: target of the fabric's delay, without hops and flow scaling; auto: the round-trip time with
            empty queues, plus queueing ("auto" or a time such as "300us" (units: ps ns us ms s), from 1ps to
            30000s; auto unless given).
        queueing: delay in queues that the target allows, with base_target=auto (a time such as "300us" (units: ps
            ns us ms s), from 1ps to 30000s; 50us unless given).
        hop: what each switch adds to base_target, where that is given (a time such as "300us" (units: ps ns us ms
            s), from 0ps to 30000s; 0s unless given).
        fs_range: most that flow scaling adds to the target (a time such as "300us" (units: ps ns us ms s), from 0ps
            to 30000s; 100us unless given).
        fs_min: window at which flow scaling adds all of it, in segments (a number from 0.001 to 1; 0.1 unless
            given).
        fs_max: window from which it adds nothing (a number from 2 to 1000; 100 unless given).
        host_target: target of the delay in the two hosts (a time such as "300us" (units: ps ns us ms s), from 1ps
            to 30000s; 100us unless given).
        ai: additive increase, in segments per round-trip time (a number from 0.001 to 100; 1 unless given).
        beta: weight of the excess delay in a cut (a number from 0 to 1; 0.8 unless given).
        max_mdf: largest share that a cut takes (a number from 0 to 0.99; 0.5 unless given).
        retx_reset: timeouts in a row that leave the smallest window (a whole number from 1 to 100; 5 unless given).
        min_cwnd: smallest window, in segments (a number from 0.00001 to 1; 0.001 unless given).
        max_cwnd: largest window, in segments (a number from 1 to 1000000; 1000 unless given).
        """

        def __init__(
            self,
            *,
            base_target: str = ...,
            queueing: str = ...,
            hop: str = ...,
            fs_range: str = ...,
            fs_min: float = ...,
            fs_max: float = ...,
            host_target: str = ...,
            ai: float = ...,
            beta: float = ...,
            max_mdf: float = ...,
            retx_reset: int = ...,
            min_cwnd: float = ...,
            max_cwnd: float = ...,
            recovery: Literal["newreno", "sack", "rack"] = ...,
            dupthresh: int = ...,
            ecn: Literal["off", "classic", "exact"] = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...

    class Dcqcn(AnyScheme):
        """DCQCN: senders with a rate and no window, over queues that mark at random; without priority flow control
            (DCQCN, SIGCOMM 2015).

        g: weight of a notification in alpha (a number from 0 to 1; 0.00390625 unless given).
        alpha_timer: time without a notification after which alpha falls (a time such as "300us" (units: ps ns us ms
            s), from 1ps to 30000s; 55us unless given).
        rate_timer: time after which the rate rises (a time such as "300us" (units: ps ns us ms s), from 1ps to
            30000s; 55us unless given).
        bytes: bytes sent after which the rate rises (a size such as "98KB" (units: B KB MB GB KiB MiB GiB), from 1B
            on; 10MB unless given).
        fast_recovery: steps of fast recovery (a whole number from 1 to 1000; 5 unless given).
        additive: step of additive increase; auto: a thousandth of the link's rate ("auto" or a positive rate such
            as "1Gbps" (units: bps Kbps Mbps Gbps Tbps); auto unless given).
        hyper: step of hyper increase; auto: a two-hundredth of the link's rate ("auto" or a positive rate such as
            "1Gbps" (units: bps Kbps Mbps Gbps Tbps); auto unless given).
        min_rate: smallest rate (a positive rate such as "1Gbps" (units: bps Kbps Mbps Gbps Tbps); 10Mbps unless
            given).
        cnp_every: least time between two notifications of marks (CNPs) of a flow (a time such as "300us" (units: ps
            ns us ms s), from 1ps to 30000s; 50us unless given).
        queue_min: minimum threshold; auto: mark_above of the switch ("auto" or a queue size above zero such as
            "5pkt" or "30KB"; 5KB unless given).
        queue_max: maximum threshold, in multiples of the minimum (a number from 1 to 100; 40 unless given).
        queue_max_p: probability of a mark where the average reaches the maximum threshold (a number from 0 to 1;
            0.01 unless given).
        queue_weight: weight of a new arrival in the average backlog; 1: the instantaneous backlog (a number from
            0.000001 to 1; 1 unless given).
        queue_gentle: beyond the maximum threshold, let the probability rise to 1 at twice of it (true or false;
            false unless given).
        queue_ecn: mark ECN-capable packets; false: drop them (true or false; true unless given).
        queue_spread: space marks evenly; false: each packet by itself, so that the share of marks is the
            probability (true or false; false unless given).
        """

        def __init__(
            self,
            *,
            g: float = ...,
            alpha_timer: str = ...,
            rate_timer: str = ...,
            bytes: str = ...,
            fast_recovery: int = ...,
            additive: str = ...,
            hyper: str = ...,
            min_rate: str = ...,
            cnp_every: str = ...,
            queue_min: str = ...,
            queue_max: float = ...,
            queue_max_p: float = ...,
            queue_weight: float = ...,
            queue_gentle: bool = ...,
            queue_ecn: bool = ...,
            queue_spread: bool = ...,
            host_queue: Literal[
                "droptail", "step-ecn", "red", "pie", "codel", "tcn", "fair", "priority-ecn", "pfabric", "pias"
            ] = ...,
        ) -> None: ...
