"""Table III: a web service in a tree, with database backups and background flows of the trace."""

from shortflow import lab
from shortflow.papers.atcp.setup import (
    BASE,
    BUFFER,
    LARGE_TIME,
    MEDIUM,
    SMALL,
    SWITCH,
    TCP,
    across,
    large,
    median,
    over_tcp,
)

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
WEB = lab.Study(TREE, ("tcp", "atcp"), settings=BASE, quick={"duration": "140s"})
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
    over_tcp(SMALL_MEDIAN).between(-0.10, -0.05),
)
table3.claim("atcp/table3-text-gains-medium", "Sec. VII-B").says(
    "the text beside the table, which contradicts it: medium flows gain about 50 %", over_tcp(MEDIUM_MEDIAN).near(-0.5)
)
table3.claim("atcp/table3-large-unharmed", "Sec. VII-B").says(
    "large flows are practically unaffected", over_tcp(LARGE_TIME).within(-0.05, 0.05), no_harm=True
)
