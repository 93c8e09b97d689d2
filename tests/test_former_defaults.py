"""Former defaults, given as settings, reproduce the former results."""

import json

from conftest import Command

FORMER = {"tcp.initial_window": 2, "transport.initial_alpha": 0, "transport.cwnd_floor": 1, "host.jitter": "0s"}
GIVEN = ("--schemes", "dctcp,l2dct", "--seeds", "6", "--no-ideal", "--json")
DIGEST = "e08ae0dc1ef9be547ddd1d005d5a371b7c2305023dfe1ad97937aad32b517c0d"
"""Digest of these runs in tests/golden/compare-until.txt of commit 9f7fa983, when FORMER were the defaults."""


def test_former_values_give_former_outcomes(scenario: str, shortflow: Command) -> None:
    settings = [part for key, value in FORMER.items() for part in ("--set", f"{key}={value}")]
    former, present = (json.loads(shortflow("compare", scenario, *GIVEN, *more).stdout) for more in (settings, []))
    assert former["runs_digest"] == DIGEST
    assert present["runs_digest"] != DIGEST
