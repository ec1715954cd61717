"""The command ``odesys``, also as ``python -m odesys``; an interrupt while it loads is one line as well."""

import sys


def main() -> None:
    """Load the commands and run the one on the command line."""
    try:
        from .errors import OdesysError
        from .neighbours import find_neighbours
        from .threads import one_thread

        try:
            find_neighbours()
        except OdesysError as error:
            print(f"odesys: {error}", file=sys.stderr)
            sys.exit(2)
        with one_thread():
            from .cli.commands import main as run

            run()
    except KeyboardInterrupt:
        print("odesys: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
