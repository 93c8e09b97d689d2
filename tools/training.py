"""Training of a profile-guided build: short runs of every scheme, and of dctcp over networks of every size.

Runs use one core and no captures, so that the counts, and therefore the build, are always the same.
"""

from shortflow import _core
from shortflow.scenario import Settings, load_scenario

NETWORKS: tuple[tuple[str, Settings], ...] = (
    ("bench-star", {"duration": "300ms"}),
    ("bench-two-tier", {"duration": "15ms"}),
    ("bench-leaf-spine", {"duration": "3ms"}),
    ("bench-fat-tree", {"duration": "1ms"}),
    ("bench-fat-tree", {"k": 16, "duration": "200us"}),
)
EVERY = "bench-star", "bench-leaf-spine"


def main() -> None:
    """Does all runs, and prints the number of packet-hops."""
    schemes, hops = [entry["name"] for entry in _core.registry()["schemes"]], 0
    for network, settings in NETWORKS:
        scenario = load_scenario(network, settings).core
        for name in schemes if network in EVERY else ["dctcp"]:
            result = _core.run(scenario, _core.Scheme.parse(name, []), 1, _core.Control())
            hops += result.meta()["counters"]["packet_hops"]
    print(f"trained by {hops:,} packet-hops under {len(schemes)} schemes")


if __name__ == "__main__":
    main()
