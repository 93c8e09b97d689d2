"""Public names for packages that measure on the testbed."""

from shortflow_linux.given import AllowLate, Attempts, Virtual, chosen, exit_code
from shortflow_linux.testbed import (
    ATTEMPTS,
    Replacements,
    Testbed,
    is_trustworthy,
    kept_time,
    linux_settings,
    real_runs,
)
