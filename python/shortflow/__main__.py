"""Entry point of `shortflow` and `python -m shortflow`. Imports little before Ctrl-C is handled."""

import sys


def main() -> None:
    """Runs the command and exits with its code. Ctrl-C during imports exits with code 130 too."""
    try:
        from shortflow.front.shell import run_and_exit  # noqa: PLC0415
    except KeyboardInterrupt:
        print("shortflow: interrupted", file=sys.stderr)
        sys.exit(130)
    run_and_exit()


if __name__ == "__main__":
    main()
