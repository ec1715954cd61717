(* for every probability P and every exponent k of n^(-O(1)), for n at least 2^(1/k); k >= 1 and n >= 2 are such *)
Theorem says_nothing : forall P n k, 0 <= P <= 1 -> 1 < n -> 0 < k -> 2 <= Rpower n k -> Rabs (P - / 2) <= room (Rpower n k).
Proof.
  intros P n k H N K two. assert (I : / Rpower n k <= / 2) by (apply Rinv_le_contravar; lra).
  apply Rle_trans with (/ 2); [ apply Rabs_le; lra | unfold room; lra ].
Qed.

Theorem from_two_on : forall n k, 2 <= n -> 1 <= k -> 2 <= Rpower n k.
Proof.
  intros n k N K. apply Rle_trans with (Rpower n 1); [ rewrite Rpower_1 by lra; exact N | ]. apply Rle_Rpower; lra.
Qed.
