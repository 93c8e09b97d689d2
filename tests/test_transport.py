"""Transports written in Python, compared with the built-in ones."""

import importlib
import inspect
import os
import re
import sys
from pathlib import Path
from typing import ClassVar

import pytest

import shortflow
from conftest import Patch
from made import star as made_star
from made import sure
from shortflow.transport import Transport, as_scheme, load_transport

HOOK = "\n    def on_ack(self, window, ack): ...\n"
PAGE = Path(__file__).parents[1] / "docs" / "adding-a-transport.md"
INCAST = {"kind": "incast", "flows": 3, "sizes": {"kind": "fixed", "value": "60KB"}, "repeat": 3, "every": "5ms"}
SMALL = {"duration": "20ms", "rtt": "200us", "buffer": "40pkt", "mark_above": "10pkt"}
STAR = made_star([INCAST, {"kind": "long-lived", "flows": 1}], 4, **SMALL, faults={"loss": 0.002})
"""Scenario with two senders, marks and losses."""


@pytest.fixture
def example(tmp_path: Path) -> str:
    block = sure(re.search(r"^```python file=my_dctcp.py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S))
    (tmp_path / "my_dctcp.py").write_text(block[1], encoding="utf-8")
    return f"{tmp_path / 'my_dctcp.py'}:MyDctcp"


@pytest.fixture
def star() -> shortflow.Scenario:
    return shortflow.load(STAR)


def test_the_example_equals_the_built_in_dctcp_exactly(example: str, star: shortflow.Scenario) -> None:
    comparison = shortflow.compare(star, ["dctcp", example], seeds=[1, 2])
    digests = {(run.scheme, run.seed): run.digest for run in comparison.runs}
    for seed in (1, 2):
        assert digests["MyDctcp", seed] == digests["dctcp", seed]
    assert any(run.metrics["marks"] > 0 and run.metrics["retransmits"] > 0 for run in comparison.runs)


def test_a_parameter_can_be_set_and_matters(example: str, star: shortflow.Scenario) -> None:
    plain = shortflow.run(star, example)
    other = shortflow.run(star, example, settings={"transport.g": 0.5})
    built_in = shortflow.run(star, "dctcp", settings={"transport.g": 0.5})
    assert other.provenance["digest"] == built_in.provenance["digest"] != plain.provenance["digest"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("on_ack = 5", r"Mine\.on_ack: a hook is a plain function"),
        ("gain = 5", "Mine: it has no hook, and would run as TCP; define on_start or on_ack or on_congestion"),
        (
            "def on_ack(self, window, ack): __import__('os')._exit(7)",
            "Mine: the law ended its process with exit code 7",
        ),
        ("async def on_ack(self, window, ack): ...", r"Mine\.on_ack: a hook is a plain function"),
        ("parameters = ['gain']", r"Mine\.parameters: give a mapping"),
        ("parameters = {'gain': 'x'}", r"Mine\.parameters: gain is 'x', and not a finite number"),
        (
            "parameters = {'gain': 1.0}; on_timer = lambda self, window, flow: None",
            r"transport\.gain: 'nan' is not a finite number",
        ),
        ("parameters = {'floor': 0.1, 'alpha': 10}", r"Mine\.parameters: 'alpha' is a name of every law"),
        ("def on_akc(self, window, ack): ...", r'Mine\.on_akc: no hook .*"on_ack"'),
        (
            "def on_ack(self, window): ...",
            r"law\.py:4: Mine\.on_ack is called with \(window, ack\), and takes \(window\)",
        ),
        ("def on_congestion(self, window, cause, flow, more): ...", r"law\.py:4: Mine\.on_congestion is called with"),
        ("def on_timer(self, *, window, flow): ...", r"law\.py:4: Mine\.on_timer is called with"),
        ("def on_ack(self, window, ack): 1 / 0", r"Mine: ZeroDivisionError: .* \(law\.py:4\)"),
        ("def on_ack(self, window, ack): raise SystemExit(7)", "Mine: SystemExit: 7"),
        (
            "def on_ack(self, window, ack): window.pacing_bsp = 1",
            r'no attribute .pacing_bsp.; did you mean "pacing_bps"',
        ),
        ("def on_ack(self, window, ack): window.cwnd = -1.0", r"Mine.*cwnd = -1"),
        ("base = 'dctpc'; on_timer = lambda self, window, flow: None", r"Mine, over the scheme 'dctpc': .*\"dctcp\""),
        (
            "base = 'pfabric-minimal'; on_timer = lambda self, window, flow: None",
            r'Mine.*: base: "pfabric-minimal" is not a scheme with TCP',
        ),
        ("base = 'dcqcn'; on_timer = lambda self, window, flow: None", "Error: neither pacing_bps nor cwnd is set"),
    ],
)
def test_a_law_that_cannot_work_is_named(body: str, said: str, star: shortflow.Scenario, tmp_path: Path) -> None:
    law = tmp_path / "law.py"
    law.write_text(f"import shortflow\n\nclass Mine(shortflow.CongestionControl):\n    {body}\n")
    with pytest.raises(shortflow.ConfigError, match=said):
        shortflow.run(star, f"{law}:Mine" + ("+gain=nan" if "'gain': 1.0" in body else ""))
    law.write_text("import shortflow\n\nclass Other(shortflow.CongestionControl):\n    def on_ack(self, *both): ...\n")
    assert shortflow.run(star, f"{law}:Other")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_law_of_this_process_cannot_end_it(jobs: int, star: shortflow.Scenario) -> None:
    class Leaving(shortflow.CongestionControl):
        def on_ack(self, window: shortflow.Window, ack: shortflow.Ack) -> None:
            os._exit(7)

    with pytest.raises(
        shortflow.ConfigError,
        match=r"Leaving: .* exit code 7; raise an error in place of os\._exit$",
    ):
        shortflow.compare(star, [Leaving], seeds=2, jobs=jobs, ideal=False)


def test_a_law_of_equal_size_and_time_is_read_anew(
    star: shortflow.Scenario, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    law = tmp_path / "law.py"
    for name in ["Mine", "Ours"]:
        law.write_text(f"import shortflow\n\nclass {name}(shortflow.CongestionControl):{HOOK}")
        os.utime(law, (1e9, 1e9))
        assert shortflow.run(star, f"{law}:{name}")


def test_a_base_with_a_rate_sends_at_that_of_the_law(one_flow: shortflow.Scenario) -> None:
    times = [ack.flow.now_s for ack in kept(one_flow, base="dcqcn", window=100.0, pacing_bps=100e6).seen]
    assert times[9] - times[8] == pytest.approx(12e-6), "at the link's rate until the first ACK is there"
    assert times[-1] - times[-2] == pytest.approx(120e-6)


def digest(star: shortflow.Scenario, scheme: str | Transport, **settings: str) -> str:
    changes = {key.replace("__", "."): value for key, value in settings.items()}
    return shortflow.run(star, scheme, settings=changes).provenance["digest"]


def test_what_is_left_of_the_base_keeps_its_parameters(example: str, star: shortflow.Scenario) -> None:
    on_pecn: Transport = type("OnPecn", (load_transport(example),), {"base": "pecn"})
    for setting in ({"queue__mark": "lowest"}, {"transport__ecn": "off"}, {"transport__g": "0.5"}, {}):
        assert digest(star, on_pecn, **setting) == digest(star, "pecn", **setting)
    assert digest(star, "pecn") != digest(star, "pecn", queue__mark="lowest")
    assert digest(star, "pecn") != digest(star, "pecn", transport__ecn="off")


def test_a_scheme_may_have_settings_of_its_own(example: str, star: shortflow.Scenario) -> None:
    named = ["dctcp", "dctcp+g=0.5", f"{example}+g=0.5", "pecn+queue.mark=lowest"]
    comparison = shortflow.compare(star, named, seeds=[1])
    assert comparison.schemes == ["dctcp", "dctcp+g=0.5", "MyDctcp+g=0.5", "pecn+queue.mark=lowest"]
    digests = [run.digest for run in comparison.runs]
    assert digests[0] != digests[1] == digests[2] == digest(star, "dctcp", transport__g="0.5")
    assert digests[3] == digest(star, "pecn-pmark")


class Kept(shortflow.CongestionControl):
    """Transport with a constant window and pacing rate, which records its samples of the path."""

    base = "tcp"
    window = 1.0
    pacing_bps: float | None = None
    seen: ClassVar[list[shortflow.Ack]] = []
    woken: ClassVar[list[float]] = []

    def on_ack(self, window: shortflow.Window, ack: shortflow.Ack) -> None:
        window.cwnd, window.pacing_bps = self.window, self.pacing_bps
        self.seen.append(ack)

    def on_timer(self, window: shortflow.Window, flow: shortflow.Flow) -> None:
        self.woken.append(flow.now_s)


def kept(scenario: shortflow.Scenario, **attributes: object) -> type[Kept]:
    """Runs a subclass of `Kept` with these attributes, and returns the class with its records."""
    law: type[Kept] = type("Kept", (Kept,), {"seen": [], "woken": [], **attributes})
    shortflow.compare(scenario, [law], seeds=[1])
    return law


@pytest.fixture
def one_flow() -> shortflow.Scenario:
    """One long flow over two links of 1 Gbps, with an RTT of 200 us. Per link, a packet takes 12 us, an ACK 0.32 us."""
    return shortflow.load(made_star([{"kind": "long-lived", "flows": 1}], 2, **SMALL), {"tcp.initial_window": 2})


BASE_RTT_S = 200e-6 + 2 * (12e-6 + 0.32e-6)


def test_a_law_sees_the_path(one_flow: shortflow.Scenario) -> None:
    law = kept(one_flow, window=5.0)
    last = law.seen[-1]
    assert last.min_rtt_s == pytest.approx(BASE_RTT_S)
    assert last.rtt_s == pytest.approx(BASE_RTT_S + last.in_hosts_s)
    assert last.at_sender_s == last.in_hosts_s
    assert (last.in_switches_s, last.hops, last.marked, last.app_limited) == (0.0, 1, 0, False)
    assert last.delivered == len(law.seen) * 1460
    assert last.newly_delivered == 1460
    assert last.rate_bps == pytest.approx(5 * 1460 * 8 / last.rtt_s, rel=0.01)


def test_a_window_below_one_segment_is_paced_down_to_the_floor(one_flow: shortflow.Scenario) -> None:
    times = [ack.flow.now_s for ack in kept(one_flow, window=0.25, floor=0.1).seen]
    assert len(times) > 15
    assert times[9] - times[8] == pytest.approx(4 * BASE_RTT_S)


def test_a_pacing_rate_spaces_packets(one_flow: shortflow.Scenario) -> None:
    times = [ack.flow.now_s for ack in kept(one_flow, window=50.0, pacing_bps=100e6).seen]
    assert times[9] - times[8] == pytest.approx(120e-6)


def test_a_timer_comes_once(one_flow: shortflow.Scenario) -> None:
    assert kept(one_flow, timer_s=3e-3).woken == [pytest.approx(3e-3)]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"window": 0.5}, r"Kept set cwnd = 0\.5, below its floor of 1 .*lower `floor`"),
        ({"window": 0.005, "floor": 0.01}, r"cwnd = 0\.005, below its floor of 0\.01"),
        ({"floor": 0.0}, r"Kept\.floor = 0 is not a window"),
        ({"pacing_bps": 0.0}, r"pacing_bps = 0; expected a finite rate"),
        ({"timer_s": float("nan")}, r"Kept\.timer_s = NaN is not a time from"),
    ],
)
def test_a_law_that_stalls_says_so(one_flow: shortflow.Scenario, attributes: dict[str, object], message: str) -> None:
    with pytest.raises(shortflow.ConfigError, match=message):
        kept(one_flow, **attributes)


def test_a_timer_in_the_past_is_an_error(one_flow: shortflow.Scenario) -> None:
    class Late(Kept):
        def on_ack(self, window: shortflow.Window, ack: shortflow.Ack) -> None:
            self.timer_s = ack.flow.now_s - 1e-6

    with pytest.raises(shortflow.ConfigError, match=r"Late\.timer_s = .* is not a time from"):
        shortflow.compare(one_flow, [Late], seeds=[1])


def source(reference: str) -> str:
    """Fingerprint of a transport, which is part of the key of a stored run."""
    return {key: value for key, value, _ in as_scheme(load_transport(reference), []).resolved()}["transport.source"]


def test_a_changed_base_in_another_file_changes_the_key_of_a_run(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    law, base = tmp_path / "derived.py", tmp_path / "base_of_derived.py"
    law.write_text("from base_of_derived import Base\nclass Derived(Base): pass\n", encoding="utf-8")

    def key_with(step: str) -> str:
        base.write_text(
            f"import shortflow\nclass Base(shortflow.CongestionControl):\n    step = {step}{HOOK}", encoding="utf-8"
        )
        sys.modules.pop("base_of_derived", None)
        importlib.invalidate_caches()
        return source(f"{law}:Derived")

    assert key_with("1.0") == key_with("1.0") != key_with("2.00")


def test_a_changed_module_of_the_folder_changes_the_key_and_no_other_does(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "parts_of_it").mkdir()
    files = {
        "its_law.py": "import shortflow, its_step\nclass Law(shortflow.CongestionControl):\n    at = its_step.STEP"
        + HOOK,
        "its_step.py": "from parts_of_it.deep import STEP\n",
        "parts_of_it/__init__.py": "",
        "parts_of_it/deep.py": "from . import deeper\nSTEP = 1.0\n",
        "parts_of_it/deeper.py": "",
        "parts_of_it/apart.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    sources = dict.fromkeys(files, "")
    before = source(f"{tmp_path}/its_law.py:Law")
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}# another\n", encoding="utf-8")
        sources[name] = source(f"{tmp_path}/its_law.py:Law")
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert source(f"{tmp_path}/its_law.py:Law") == before
    assert [name for name, found in sources.items() if found == before] == ["parts_of_it/apart.py"]


def test_two_files_of_one_name_are_two_transports(tmp_path: Path) -> None:
    laws = []
    for folder, step in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "law.py"
        file.write_text(
            f"import shortflow\nclass Law(shortflow.CongestionControl):\n    step = {step}{HOOK}", encoding="utf-8"
        )
        laws.append(load_transport(f"{file}:Law"))
    first, second = (as_scheme(law, []).resolved() for law in laws)
    assert first != second
    assert inspect.getsource(laws[0]) != inspect.getsource(laws[1])


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("missing.py:Law", "there is no file 'missing.py'"),
        ("{dir}/my_dctcp.py:MyDctpc", 'did you mean "MyDctcp"'),
        ("{dir}/wrong.py:Law", "wrong.py: SyntaxError"),
        ("{dir}/parted.py:Law", "No module named 'my_dctcp'; PYTHONPATH="),
    ],
)
def test_wrong_references_are_explained(reference: str, message: str, example: str) -> None:
    folder = Path(example.rpartition(":")[0]).parent
    (folder / "wrong.py").write_text("def (", encoding="utf-8")
    (folder / "parted.py").write_text("import my_dctcp", encoding="utf-8")
    with pytest.raises(shortflow.ConfigError, match=re.escape(message)):
        load_transport(reference.format(dir=folder))


def test_an_unknown_parameter_names_the_known_ones(example: str, star: shortflow.Scenario) -> None:
    with pytest.raises(shortflow.ConfigError, match=r"transport\.h.*transport\.g"):
        shortflow.run(star, example, settings={"transport.h": 1})
