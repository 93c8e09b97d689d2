"""Scenarios, schemes, and their settings."""

from shortflow._core import Scheme, registry
from shortflow.scenario import SHIPPED, Settings, as_pairs, is_default, load_scenario, path_of
from shortflow.scheme import ALPHA, LAWS, ONE_ALPHA, load_schemes, split_settings
from shortflow.transport import Cause
