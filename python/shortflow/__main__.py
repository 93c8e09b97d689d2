"""The command's entry: `shortflow`, or `python -m shortflow`. Little is imported before Ctrl-C is taken care of."""

import sys


def main() -> None:
    """Run the command and leave with its exit code; Ctrl-C during the imports ends it like later."""
    try:
        from shortflow.front.shell import main as command  # noqa: PLC0415
    except KeyboardInterrupt:
        print("shortflow: interrupted", file=sys.stderr)
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
