"""Progress of long jobs: bars, lines and the time left."""

import itertools

import pytest

from shortflow.front.progress import Lines, Pace, progress_bar


def test_bars_in_turn_share_the_half_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    lines = Lines()
    due = []
    for second in (10, 29, 30, 45, 59, 61):
        now = float(second)
        with progress_bar("one of several", lines):
            due.append(lines.due())
    assert due == [False, False, True, False, False, True]


def test_progress_is_told_line_by_line_where_stderr_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.monotonic", itertools.count(0.0, 10.0).__next__)
    with progress_bar("quick") as progress:
        progress(0.25, 3, 12)
    assert capsys.readouterr().err == "quick: 3/12 runs, 0.3/s, 25% of the work, 40 s, about 30 s left at this pace\n"


def test_the_time_left_is_told_by_the_later_half_and_of_each_round_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    pace = Pace()
    for second in range(161):
        now = float(second)
        rate, left = pace.update(0.002 * min(second, 100), 2 * min(second, 100))
    assert rate == ", 0.5/s"
    assert left == pytest.approx(1600)
    for second in range(161, 170):
        now = float(second)
        rate, left = pace.update(0.05 * (second - 161), second - 161)
    assert rate == ", 1/s"
    assert left == pytest.approx(12)


def test_the_time_left_of_one_run_follows_its_own_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run does 40 % in 1 s, then forecasts 20 s more, and does 5 % of the rest each second."""
    now, fraction = 0.0, 0.4
    monkeypatch.setattr("time.monotonic", lambda: now)
    pace = Pace()
    for second in range(1, 6):
        now = float(second)
        _, left = pace.update(fraction, 0)
        fraction += 0.05 * (1 - fraction)
    assert left == pytest.approx(20, rel=0.1)
    now, pace = 0.0, Pace()
    for second in range(41):
        now = second + 4.0 * (second == 40)  # other work keeps the machine busy for four seconds
        _, left = pace.update(0.01 * second, 0)
    assert left == pytest.approx(60, rel=0.3)
