"""L2DCT's and DCTCP's laws in Python: same results as the built-in laws, open to inspection."""

from shortflow import Ack, CongestionControl, Flow, Window
from shortflow.api.scenarios import Cause

KNEE_LOW, KNEE_HIGH = 200_000, 1_000_000
W_MAX, W_MIN = 2.5, 0.125


class L2dctInPython(CongestionControl):
    """L2DCT."""

    alpha = 0.0
    window_end = acked = marked = 0

    def weight(self, flow: Flow) -> float:
        """Weight by bytes sent, as in Sec. III."""
        share = (flow.sent - KNEE_LOW) / (KNEE_HIGH - KNEE_LOW)
        return W_MAX - (W_MAX - W_MIN) * min(max(share, 0.0), 1.0)

    def step(self, flow: Flow) -> float:
        """Segments added per round trip."""
        return self.weight(flow) / W_MAX

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Updates alpha at the end of a window, and grows by k segments per round trip."""
        self.acked += ack.acked
        self.marked += ack.acked if ack.ece else 0
        if ack.snd_una > self.window_end:
            self.alpha = self.alpha * 15 / 16 + self.marked / self.acked / 16
            self.window_end, self.acked, self.marked = ack.snd_nxt, 0, 0
        if ack.may_grow:
            self.grow(window, ack, self.step(ack.flow))

    def on_congestion(self, window: Window, cause: Cause, flow: Flow) -> None:
        """Reduces the window by half the penalty."""
        if cause == "ecn-echo":
            self.multiplicative_decrease(window, 1 - self.alpha ** self.weight(flow) / 2)
        else:
            self.on_loss(window, cause, flow)


class DctcpInPython(L2dctInPython):
    """DCTCP: L2DCT's law with weight 1 and step 1."""

    def weight(self, flow: Flow) -> float:
        """Returns 1."""
        return 1.0

    def step(self, flow: Flow) -> float:
        """Returns 1."""
        return 1.0
