"""What only the benign_overfitting paper needs: each file says in its first line why it is here."""
