"""`python -m pageloom` is the `pageloom` command."""

import sys

from pageloom.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
