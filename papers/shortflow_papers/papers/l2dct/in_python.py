"""Laws of L2DCT and DCTCP in Python. They have the same results as the built-in laws, and claims can record calls."""

from shortflow import Ack, CongestionControl, Flow, Window
from shortflow.api.scenarios import Cause

KNEE_LOW, KNEE_HIGH = 200_000, 1_000_000
W_MAX, W_MIN = 2.5, 0.125


class L2dctInPython(CongestionControl):
    """Law of L2DCT."""

    alpha = 0.0
    window_end = acked = marked = 0

    def weight(self, flow: Flow) -> float:
        """Weight of a flow, which falls with the bytes sent (Sec. III)."""
        share = (flow.sent - KNEE_LOW) / (KNEE_HIGH - KNEE_LOW)
        return W_MAX - (W_MAX - W_MIN) * min(max(share, 0.0), 1.0)

    def step(self, flow: Flow) -> float:
        """Increase k of the window per round trip, in segments."""
        return self.weight(flow) / W_MAX

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Updates alpha at the end of a window of data, and grows the window by k segments per round trip."""
        self.acked += ack.acked
        self.marked += ack.acked if ack.ece else 0
        if ack.snd_una > self.window_end:
            self.alpha = self.alpha * 15 / 16 + self.marked / self.acked / 16
            self.window_end, self.acked, self.marked = ack.snd_nxt, 0, 0
        if ack.may_grow:
            self.grow(window, ack, self.step(ack.flow))

    def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
        """On a mark, reduces the window by the share alpha^weight / 2; on a loss, as TCP does."""
        if cause == "ecn-echo":
            self.multiplicative_decrease(window, 1 - self.alpha ** self.weight(flow) / 2)
        else:
            self.on_loss(window, cause, flow)


class DctcpInPython(L2dctInPython):
    """Law of DCTCP: L2DCT's law with weight 1 and step 1."""

    def weight(self, flow: Flow) -> float:
        """Returns 1."""
        return 1.0

    def step(self, flow: Flow) -> float:
        """Returns 1."""
        return 1.0
