"""``python -m halfspaces`` runs the command."""

from halfspaces._command import main

main()
