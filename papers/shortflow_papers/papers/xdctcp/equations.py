"""Sec. III: the special case of equal factors. Eqs. 1 to 5 are checked by tests of the law."""

from shortflow_papers import lab
from shortflow_papers.papers.common import same_tables
from shortflow_papers.papers.xdctcp.setup import star

SAME = star(("dctcp", "xdctcp"), settings={"transport.ns": 0.5, "transport.nl": 0.5, "transport.g": 0.0625})


def _special_case(same: lab.Data) -> lab.Finding:
    lab.some(same.results("dctcp")[0].flows, "flows")
    pairs = list(zip(same.results("xdctcp"), same.results("dctcp"), strict=True))
    alike = all(same_tables(*pair, ("samples", "flows")) for pair in pairs)
    return lab.fact(alike, runs=len(pairs), flows=sum(dctcp.flows.height for _, dctcp in pairs))


window_law = lab.Figure("xdctcp/eq34", "Sec. III, Eqs. 3-4", "Equal factors", {"same": SAME})
window_law.claim("xdctcp/eq34-dctcp-special-case", "Sec. III", equation=True).says(
    "with both factors at one half xDCTCP is DCTCP", lab.decided("identical traces and flows", _special_case)
)
