"""The testbed on real Linux."""

from shortflow.linux.given import AllowLate, Attempts, Virtual, chosen, exit_code
from shortflow.linux.testbed import (
    ATTEMPTS,
    Replacements,
    Testbed,
    is_trustworthy,
    kept_time,
    linux_settings,
    real_runs,
)
