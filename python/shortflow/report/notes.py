"""Notes on results: limits of the numbers, settings that may be unintended, and flows of files that do not count."""

from shortflow.metrics.catalogue import QUEUE_MEAN
from shortflow.results import Results
from shortflow.scenario import WARNING, idle_notes, warnings_at
from shortflow.scheme import differing


def notes_on_results(results: Results) -> list[str]:
    """Limits of the numbers: notes on settings, ideal rows that are left out, means over ports, and remarks of runs."""
    found = notes_on_settings(results)
    if results.no_ideal:
        found.append(f"no ideal rows: {results.no_ideal}")
    ports = results.resolved.get("measure.ports", "")
    if ports.startswith("all ") and QUEUE_MEAN["pkt"].pattern in results.metrics:
        found.append(
            f"queues and link use are means over {ports}, because traffic goes to several hosts; "
            "choose ports with measure.ports"
        )
    for kind in dict.fromkeys(kind for run in results.runs for kind in run.meta.get("remarks", {})):
        runs = [run for run in results.runs if kind in run.meta.get("remarks", {})]
        names = ", ".join(dict.fromkeys(run.scheme for run in runs))
        where = f"{names} (as {runs[0].scheme} with seed {runs[0].seed})" if len(runs) > 1 else names
        found.append(f"{where}: {runs[0].meta['remarks'][kind]}")
    return found


def notes_on_settings(results: Results) -> list[str]:
    """Warnings with the points to which they apply, and constants that differ between the schemes."""
    omitted = omitted_flows(results)
    warned = [
        (each.place, [note for note in _warnings(each) if note not in omitted]) for each in results.points if each.runs
    ]
    around = (each for run in results.runs[:1] for each in run.provenance["scenario_settings"])
    origins = {run.scheme: run.provenance["scheme_settings"] for run in results.runs}
    return [*warnings_at(warned), *differing(origins, around)]


def omitted_flows(results: Results) -> list[str]:
    """Flows of the user's files that were not simulated or not counted, in words."""
    return list(dict.fromkeys(text for run in results.runs for text in run.meta.get("omitted", ())))


def _warnings(point: Results) -> list[str]:
    """Warnings of the first run's scenario, and keys without effect under the schemes."""
    notes = point.runs[0].provenance["traffic_notes"]
    found = {run.scheme: run.provenance for run in point.runs}
    idle = [
        (scheme, [each["key"] for each in of["scheme_settings"]], of.get("idle", [])) for scheme, of in found.items()
    ]
    return [*(note[len(WARNING) :] for note in notes if note.startswith(WARNING)), *idle_notes(idle)]
