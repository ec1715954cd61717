"""What only the two_mixture paper needs: each file says in its first line why it is here."""
