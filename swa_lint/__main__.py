"""`python -m swa_lint`: the command line, where its script is not on the path."""

from swa_lint.cli import main

if __name__ == "__main__":
    main()
