"""What only the cooccurrence paper needs: each file says in its first line why it is here."""
