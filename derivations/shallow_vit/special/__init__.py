"""What only the shallow_vit paper needs: each file says in its first line why it is here."""
