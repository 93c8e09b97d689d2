"""A patch of SONiC's `config_db.json` under construction."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Patch:
    """Tables of `config_db.json`, and sentences on settings that they do not express."""

    tables: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    not_expressed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def put(self, table: str, name: str, fields: Mapping[str, str]) -> None:
        """Adds fields to an entry of a table."""
        if fields:
            self.tables.setdefault(table, {}).setdefault(name, {}).update(fields)
