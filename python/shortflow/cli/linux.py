"""`shortflow linux`: the schemes on real Linux."""

import typer

from shortflow.cli import fig14, testbed

app = typer.Typer(name="linux", help="The schemes on real Linux.", no_args_is_help=True)
app.command("testbed")(testbed.run_on_testbed)
app.command("compare-sim")(testbed.compare_sim)
app.command("fig14")(fig14.fig14)
