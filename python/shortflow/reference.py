"""`make docs`: the page about everything that can be named, built from the simulator's own registry."""

from shortflow import _core
from shortflow.metrics.catalogue import STATISTICS
from shortflow.metrics.data import SIZE_BINS
from shortflow.records import Entry, Parameter

HEADER = """\
# Everything that can be named

Built by `make docs` from the simulator's registry. `shortflow list KIND --long` shows the same.
"""

KINDS = {
    "schemes": "A scheme is a transport with the queue discipline that it needs. This is what `--schemes` takes. "
    "The parameters are set with `--set KEY=VALUE`.",
    "ideal": "An ideal scheduler of a fluid link, a yardstick beside schemes; docs/ideal.md says more.",
    "transports": "What runs in senders and receivers. The parameters are set with `--set transport.NAME=VALUE`.",
    "queues": "What runs in ports of switches, and of hosts with `--set host.queue=QUEUE`; buffer and threshold are "
    "the scenario's. The parameters are set with `--set queue.NAME=VALUE`, in hosts `--set host_queue.NAME=VALUE`.",
    "topologies": "The `[topology]` table of a scenario.",
    "routing": "The `[routing]` table of a scenario.",
    "traffic": "A `[[traffic]]` table of a scenario.",
    "sizes": "The `sizes` table of traffic.",
}


def page() -> str:
    """The whole page in Markdown."""
    parts = [HEADER]
    for kind, entries in _core.registry().items():
        parts.append(f"## {kind.capitalize()}\n\n{KINDS[kind]}\n")
        parts += [_entry(entry) for entry in entries]
    parts.append(_metrics())
    return "\n".join(parts)


def _entry(entry: Entry) -> str:
    lines = [f"### `{entry['name']}`\n", f"{_sentence(entry['summary'])}\n"]
    if entry["source"]:
        lines.append(f"Source: {entry['source']}.\n")
    if "transport" in entry and "queue" in entry:
        of_hosts = "" if entry["host_queue"] == "droptail" else f", in hosts `{entry['host_queue']}`"
        lines.append(f"Transport `{entry['transport']}`, queue `{entry['queue']}`{of_hosts}.\n")
    if entry["parameters"]:
        lines += ["| key | default | expected | meaning |", "|---|---|---|---|"]
        lines += [_row(parameter) for parameter in entry["parameters"]]
        lines.append("")
    return "\n".join(lines)


def _metrics() -> str:
    bins = ", ".join(f"`{name}` ({what})" for name, what in SIZE_BINS.items())
    head = (
        "## Metrics\n\nWhat `--metrics` and `--condition` take. `<class>` is a class of flows, `<task>` is query, job, "
        f"shuffle or request, and `<bin>` a bin of flow sizes: {bins}.\n\n"
        "| name | unit | meaning |\n|---|---|---|\n"
    )
    return head + "".join(f"| `{name}` | {each.unit or 'none'} | {each.about} |\n" for name, each in STATISTICS.items())


def _row(parameter: Parameter) -> str:
    default = parameter["default"] or "none"
    shown = default if default in ("none", "required") else f"`{default}`"
    cells = (f"`{parameter['name']}`", shown, parameter["expected"], parameter["summary"])
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    print(page(), end="")
