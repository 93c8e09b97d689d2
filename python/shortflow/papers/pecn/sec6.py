"""Sec. 6: pMark against plain pECN over all experiments."""

from statistics import median

from shortflow.lab import Data, Figure, Finding, all_hold, within
from shortflow.papers.pecn.fig06 import BURSTS, INTERVAL, SPARED
from shortflow.papers.pecn.fig08 import QUERIES
from shortflow.papers.pecn.fig09 import BURSTS_ACROSS
from shortflow.papers.pecn.fig10 import LOOSE, TIGHT, limits
from shortflow.papers.pecn.fig11 import BESIDE
from shortflow.papers.pecn.setup import alike

pmark = Figure(
    "pecn/pmark",
    "Sec. 6",
    "pMark against pECN",
    {
        "fig6": BURSTS,
        "fig8": QUERIES,
        "fig9": BURSTS_ACROSS,
        "fig11": BESIDE,
        "tight": TIGHT,
        "loose": LOOSE,
    },
)


@pmark.claim(
    "sec6-pmark-slight",
    "on the whole pECN equals pMark, or is slightly worse",
    f"mean FCTs within 5 %, {INTERVAL}; medians of Fig. 10 within 4 senders",
    because=SPARED,
)
def slight(fig6: Data, fig8: Data, fig9: Data, fig11: Data, tight: Data, loose: Data) -> Finding:
    times = {"fig6": fig6, "fig8": fig8, "fig9": fig9, "fig11": fig11}
    senders = {"tight": tight, "loose": loose}
    return all_hold(
        {
            **{name: alike(data, ["pecn-pmark"], "pecn") for name, data in times.items()},
            **{
                f"senders, {name}": within(
                    float(median(limits(data, "pecn-pmark")) - median(limits(data, "pecn"))), -4, 4
                )
                for name, data in senders.items()
            },
        }
    )
