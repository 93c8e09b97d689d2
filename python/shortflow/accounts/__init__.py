"""Accounts of completion times: where the time of each flow went, and where two runs first part."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.accounts import account as account
    from shortflow.accounts import again as again
    from shortflow.accounts import charts as charts
    from shortflow.accounts import parting as parting
    from shortflow.accounts import reasons as reasons
    from shortflow.accounts import shown as shown

__getattr__ = modules(__name__)
