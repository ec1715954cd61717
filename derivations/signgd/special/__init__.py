"""What only the signgd paper needs: each file says in its first line why it is here."""
