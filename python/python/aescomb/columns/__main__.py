"""The command: see ``python -m aescomb.columns --help``."""

import sys

from aescomb._aescomb import columns_command

if __name__ == "__main__":
    sys.exit(columns_command(sys.argv[1:]))
