"""Declaration of commands. The annotated function is the Python call; options and help of the shell follow from it.

A parameter is `Annotated[TYPE, Opt(…)]`, or `Arg(…)` for a positional argument. The shell shows the docstring up to the
paragraph that begins with `In Python`.
"""

import copy
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from shortflow import front
from shortflow.errors import ExitCode, front_door
from shortflow.front.console import print_json

if TYPE_CHECKING:
    from shortflow.report.blocks import Block

P = ParamSpec("P")
R = TypeVar("R")
UNSET: Any = object()


@dataclass(frozen=True)
class Opt:
    """Option of the shell for a parameter. Without `help`, the shell has no option and passes `default`."""

    help: str = ""
    metavar: str | None = None
    name: str = ""
    """Name of the option, if it differs from the parameter's name."""
    kind: Any = str
    """Type to which the shell converts the text."""
    many: bool = False
    """True if the option may be repeated."""
    read: Callable[[Any], Any] | None = None
    """Converts the value that the shell parsed. Errors of the function name the option."""
    complete: Callable[..., Sequence[str]] | None = None
    default: Any = UNSET
    """Default of the shell, if it differs from Python's; `...` makes the option required."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments for Typer."""


class Arg(Opt):
    """A positional argument of the shell."""


@dataclass(frozen=True)
class Answer:
    """A command's output on stdout, and its exit code."""

    document: Callable[[], Any]
    """Makes the plain data for --json."""
    blocks: "Iterable[Block]"
    """Output for the terminal, made when printed."""
    exit_code: ExitCode = ExitCode.FINE


_SHOWN: dict[Callable[..., Any], Callable[[Any, Mapping[str, Any]], Answer]] = {}
"""For each command, the function that makes an `Answer` from the command's result and the values of its parameters."""


def command(function: Callable[P, R], shows: Callable[[R, Mapping[str, Any]], Answer] | None = None) -> Callable[P, R]:
    """Declares a command. Its errors are raised without inner frames, and `help()` shows plain types."""
    called, signature = front_door(function), inspect.signature(function)
    plain = [each.replace(annotation=_plain(each.annotation)) for each in signature.parameters.values()]
    called.__signature__ = signature.replace(parameters=plain)  # type: ignore[attr-defined]
    _SHOWN[called] = shows or (lambda found, _: found)  # type: ignore[assignment,return-value]
    return called


def _plain(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def showing(shows: Callable[[R, Mapping[str, Any]], Answer]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declares a command whose result `shows` turns into an `Answer`."""
    return partial(command, shows=shows)


def shell_command(called: Callable[..., Any]) -> Callable[..., int]:
    """A command for Typer: parses the arguments, calls the function, prints the result."""
    opts, hidden, parameters = {}, {}, []
    for name, parameter in inspect.signature(inspect.unwrap(called)).parameters.items():
        opt = next((each for each in get_args(parameter.annotation)[1:] if isinstance(each, Opt)), None)
        if opt and not opt.help:
            hidden[name] = opt.default
        elif opt:
            opts[name] = opt
            parameters.append(_typed(parameter, opt))
    is_choice = "json" not in opts and "json" not in hidden
    if is_choice:
        said = Annotated[bool, Opt("Print one JSON document instead of tables.")]
        json = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=said)
        parameters.append(_typed(json, get_args(said)[1]))

    def run(**typed: Any) -> int:
        is_json = typed.pop("json") if is_choice else {**hidden, **typed}["json"]
        values = {
            name: read(value) if (read := opts[name].read) and value is not None else value
            for name, value in typed.items()
        }
        answer = _SHOWN[called](called(**values, **hidden), values)
        if is_json:
            print_json(answer.document())
        else:
            front.terminal.print_blocks(answer.blocks)
        return int(answer.exit_code)

    run.__name__ = called.__name__
    run.__doc__ = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(called.__doc__ or "").partition("\n\nIn Python")[0])
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def built(name: str, called: Callable[..., Any]) -> TyperCommand:
    """The command of the shell, with its options."""
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=Command)(shell_command(called))
    return get_command(alone)  # type: ignore[return-value]


def _typed(parameter: inspect.Parameter, opt: Opt) -> inspect.Parameter:
    default = parameter.default if opt.default is UNSET else opt.default
    bare = get_args(parameter.annotation)[0]
    kind = bare if bare is bool or (isinstance(bare, type) and issubclass(bare, Enum)) else opt.kind
    said = {"help": opt.help, "metavar": opt.metavar, "autocompletion": opt.complete, **opt.more}
    if isinstance(opt, Arg):
        info = typer.Argument(**{**said, "metavar": f"[{opt.metavar}]..." if opt.many else opt.metavar})
    else:
        option = opt.name or f"--{parameter.name.replace('_', '-')}"
        info = typer.Option(f"{option}/--no{option[1:]}" if default is True else option, **said)
    required = default in (inspect.Parameter.empty, ...)
    kind = list[kind] if opt.many else kind  # type: ignore[valid-type]
    return parameter.replace(
        kind=inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else default,
        annotation=Annotated[kind if required or default is not None else kind | None, info],
    )


def _without_types(parameters: list[Any]) -> list[Any]:
    """Removes type names from the help of arguments and flags."""
    for each in parameters:
        if each.param_type_name == "argument":
            each.type = copy.copy(each.type)
            each.type.get_metavar = lambda *_, **__: ""
        elif getattr(each, "is_flag", False):
            each.metavar = ""
    return parameters


class Command(TyperCommand):
    """A single command."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Options and arguments, with `--help`."""
        return _without_types(super().get_params(ctx))


class CommandGroup(TyperGroup):
    """A group of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Options that precede a command."""
        return _without_types(super().get_params(ctx))
