"""``python -m odesys`` is the command ``odesys``."""

from .cli.commands import main

if __name__ == "__main__":
    main()
