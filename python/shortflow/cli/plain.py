"""Commands whose help names a type only where it says something."""

from typing import Any

from typer.core import TyperCommand, TyperGroup


def plain(parameters: list[Any]) -> list[Any]:
    """Options and arguments, of which arguments, and options that take no value, name no type in the help."""
    for each in parameters:
        if each.param_type_name == "argument":
            each.display_type_rich = lambda ctx: ""
        elif getattr(each, "is_flag", False):
            each.metavar = ""
    return parameters


class Command(TyperCommand):
    """One of the commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options and arguments, `--help` among them."""
        return plain(super().get_params(ctx))


class Group(TyperGroup):
    """Several commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options before a command."""
        return plain(super().get_params(ctx))
