"""Tables I to III: the trace on the chain with more flows, with partly shared paths, and a web service in a tree."""

from collections.abc import Mapping
from dataclasses import replace

from shortflow_papers import lab
from shortflow_papers.lab.study import Value
from shortflow_papers.papers.atcp.setup import (
    BASE,
    BUFFER,
    END_TO_END,
    LARGE_FLOWS,
    LARGE_RATE,
    LARGE_SIZES,
    LARGE_TIME,
    MEDIUM,
    OTHERS,
    SMALL,
    SWITCH,
    TCP,
    across,
    chain,
    large,
    median,
    over_tcp,
    traced,
)
from shortflow_papers.papers.common import ns_study

TREE: dict[str, object] = {
    "title": "Web tree: clients 0-3, web server 4, database 8 that is backed up to 12, background between their racks",
    "duration": "600s",
    "warmup": "40s",
    "drain": "1000s",
    "parameters": {**BUFFER, "background": 11},
    "topology": {"kind": "single-rooted-tree", "hosts": 16, "racks": 4, "rate": "100Mbps", "rtt": "400us"},
    "switch": SWITCH,
    "tcp": TCP,
    "traffic": [
        across("web", ("4-4", "0-3"), load=0.2, link="tor1->root0"),
        across("web", ("8-8", "4-4"), load=0.2, link="tor2->root0"),
        large("$background", ("5-7", 1)),
        large("$background", ("9-11", 5)),
        large(1, ("8-8", 12)),
    ],
    "measure": {"ports": ["tor1->root0", "tor2->root0"]},
}
"""Large background flows share both paths of the web service. Their number gives TCP's published median of medium
flows, 1.7 s. The last flow is the backup."""
WEB = ns_study(TREE, ("tcp", "atcp"), settings=BASE, seeds=20, quick={"duration": "140s"})
SMALL_MEDIAN, MEDIUM_MEDIAN = median(SMALL, "web"), median(MEDIUM, "web")


table3 = lab.Figure("atcp/table3", "Table III, Fig. 9", "Web service in a tree", {"web": WEB})
table3.claim("atcp/table3-web-tree-small").says(
    "the median of small flows falls from 102 to 80 ms",
    over_tcp(SMALL_MEDIAN).near(-0.216),
    shows=[lab.level(("tcp", "atcp"), SMALL_MEDIAN)],
)
table3.claim("atcp/table3-web-tree-medium").says(
    "the median of medium flows falls from 1.7 to 1.2 s",
    over_tcp(MEDIUM_MEDIAN).near(-0.294),
    shows=[lab.level(("tcp", "atcp"), MEDIUM_MEDIAN)],
)
table3.claim("atcp/table3-text-gains-small", "Sec. VII-B").says(
    "the text beside the table, which contradicts it: small flows gain 5 to 10 %",
    over_tcp(SMALL_MEDIAN).near(-0.10, -0.05),
)
table3.claim("atcp/table3-text-gains-medium", "Sec. VII-B").says(
    "the text beside the table, which contradicts it: medium flows gain about 50 %", over_tcp(MEDIUM_MEDIAN).near(-0.5)
)
table3.claim("atcp/table3-large-unharmed", "Sec. VII-B").says(
    "large flows are practically unaffected", over_tcp(LARGE_TIME).within(-0.05, 0.05), no_harm=True
)

HOPS = [(f"{4 * hop}-{4 * hop + 3}", f"{4 * hop + 4}-{4 * hop + 7}") for hop in range(4)]
"""Hosts before and behind each link."""

DENSITY = replace(traced(over={"others": (OTHERS, 2 * OTHERS), "large": (LARGE_FLOWS, 2 * LARGE_FLOWS)}), seeds=20)
LARGE_ON_CHAIN = traced(
    chain(
        "Large flows over the whole chain, others over one link each",
        {"others": OTHERS / 4, "large": LARGE_FLOWS},
        [large("$large", ("0-3", 16)), *(across("other", ends, rate_per_s="$others") for ends in HOPS)],
    )
)
# Large flows that never end would fill each of the four links: TCP's median of medium flows is then 19 s with a single
# one per link (paper: 2.5 s). The trace's own large flows, a quarter of them on each link, offer it 21 % of its rate.
SMALL_ON_CHAIN = traced(
    chain(
        "Large flows over one link each, others over the whole chain",
        {"others": OTHERS, "large": LARGE_RATE / 4},
        [
            across("other", END_TO_END, rate_per_s="$others"),
            *({**across("large", ends, rate_per_s="$large"), "sizes": LARGE_SIZES} for ends in HOPS),
        ],
    )
)

MEDIANS = {"small": median(SMALL), "medium": median(MEDIUM)}
Row = Mapping[str, Value]
ROWS: dict[str, Row] = {
    "non-dense": {"others": OTHERS, "large": LARGE_FLOWS},
    "dense large": {"others": OTHERS, "large": 2 * LARGE_FLOWS},
    "dense non-large": {"others": 2 * OTHERS, "large": LARGE_FLOWS},
    "dense all": {"others": 2 * OTHERS, "large": 2 * LARGE_FLOWS},
}


def _row(
    table: lab.Figure,
    name: str,
    says: str,
    small: tuple[int, int],
    medium: tuple[float, float],
    row: Row,
    study: str = "",
) -> None:
    """A row of a table: medians with TCP and ATCP, of small flows in ms and medium flows in s."""
    for each, unit, (tcp, atcp) in (("small", "ms", small), ("medium", "s", medium)):
        metric = MEDIANS[each]
        table.claim(f"atcp/{name}-{each}").says(
            f"{says}: the median of {each} flows falls from {tcp} to {atcp} {unit}",
            over_tcp(metric, study).at(says if row else "", **row).near(atcp / tcp - 1),
            shows=[lab.level(("tcp", "atcp"), metric, study).at(**row)],
        )


def _denser(size: str) -> lab.ClaimCondition:
    def over_base(density: lab.Data) -> dict[str, float]:
        found = {}
        for scheme in ("tcp", "atcp"):
            at = {row: density.mean(scheme, MEDIANS[size], **where).value for row, where in ROWS.items()}
            for dense in ("dense non-large", "dense large"):
                found[f"{scheme} {dense} over base"] = at[dense] / at["non-dense"]
                found[f"{scheme} {dense} to all"] = at["dense all"] / at[dense]
        return found

    return lab.computed(f"median of {size} flows over the median without the added class", over_base).within(low=1.0)


GAIN = {name: over_tcp(metric).each("every row", ROWS) for name, metric in MEDIANS.items()}

table1 = lab.Figure("atcp/table1", "Table I", "Median completion times over the density of flows", {"density": DENSITY})
_row(table1, "table1-base", "base row", (625, 543), (2.3, 1.4), ROWS["non-dense"])
_row(table1, "table1-dense-nonlarge", "twice the other flows", (763, 680), (2.5, 1.6), ROWS["dense non-large"])
_row(table1, "table1-dense-large", "twice the large flows", (750, 680), (2.8, 1.8), ROWS["dense large"])
_row(table1, "table1-dense-all", "twice all flows", (813, 707), (2.9, 1.8), ROWS["dense all"])
PRINTED_S: dict[str, dict[str, float]] = {
    "small": dict(zip(ROWS, (0.625, 0.75, 0.763, 0.813), strict=True)),
    "medium": dict(zip(ROWS, (2.3, 2.8, 2.5, 2.9), strict=True)),
}
"""TCP's printed medians by size and row. The first of medium flows calibrates the number of large flows."""


def _as_printed(size: str, *rows: str) -> list[lab.ClaimCondition]:
    found = lab.level("tcp", MEDIANS[size])
    return [found.at(row, **ROWS[row]).called(row).near(PRINTED_S[size][row]) for row in rows]


table1.claim("atcp/table1-tcp-small").says(
    "TCP's medians of small flows are 625 to 813 ms", *_as_printed("small", *ROWS)
)
table1.claim("atcp/table1-tcp-medium").says(
    "with denser traffic TCP's medians of medium flows are 2.5 to 2.9 s", *_as_printed("medium", *[*ROWS][1:])
)
table1.claim("atcp/table1-tcp-medium-base").says(
    "TCP's median of medium flows is 2.3 s", *_as_printed("medium", "non-dense"), fitted=True
)
for size in MEDIANS:
    table1.claim(f"atcp/table1-density-slower-{size}").says(
        f"denser traffic lengthens the median of {size} flows", _denser(size)
    )
table1.claim("atcp/table1-small-gain-range", "Sec. VII-B").says(
    "small flows gain 10 to 13 % in every row (9 to 13 % in the table)", GAIN["small"].near(-0.13, -0.10)
)
table1.claim("atcp/table1-medium-gain-range", "Sec. VII-B").says(
    "medium flows gain 30 to 40 % in every row", GAIN["medium"].near(-0.4, -0.3)
)
table1.claim("atcp/table1-nonlarge-gains-more", "Sec. VII-B").says(
    "medium flows gain more with twice the others than with twice the large: 39 to 36 % says the text, 36 % both "
    "the table",
    lab.difference(
        *(over_tcp(MEDIANS["medium"]).at(row, **ROWS[row]) for row in ("dense large", "dense non-large"))
    ).above(),
)
table2 = lab.Figure(
    "atcp/table2",
    "Table II",
    "Median completion times on partly shared paths",
    {"large_on_chain": LARGE_ON_CHAIN, "small_on_chain": SMALL_ON_CHAIN},
)
_row(table2, "table2-large-on-chain", "large flows on the whole chain", (562, 489), (2.0, 1.3), {}, "large_on_chain")
_row(table2, "table2-small-on-chain", "the others on the whole chain", (688, 598), (2.5, 1.6), {}, "small_on_chain")
for size, says, printed_s in (("small", "562 and 688 ms", (0.562, 0.688)), ("medium", "2 and 2.5 s", (2.0, 2.5))):
    table2.claim(f"atcp/table2-tcp-{size}").says(
        f"TCP's medians of {size} flows are {says}, with the large flows and with the others on the whole chain",
        *(
            lab.level("tcp", MEDIANS[size], study).called(study.replace("_", " ")).near(at)
            for study, at in zip(table2.studies, printed_s, strict=True)
        ),
    )
for size, metric in MEDIANS.items():
    table2.claim(f"atcp/table2-large-on-chain-better-{size}").says(
        f"the median of {size} flows is lower where the large flows span the chain",
        lab.effect(("tcp", "atcp"), metric, "large_on_chain", "small_on_chain").below(),
    )
