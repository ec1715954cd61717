(* the sets {e_1, e_2} and {(3/5, 4/5)}, tau = 0: all patterns have length 1; the printed minimum over pairs of a set is Delta = 0, from a pattern and
   itself, and patterns of different sets are at least kappa = sqrt(2/5) apart, so that 2 tau + Delta < kappa; but an inner product within a set
   is below both between the sets *)
Definition distance (x0 x1 y0 y1 : R) : R := sqrt (square x0 x1 y0 y1).

Theorem inner_products_do_not_separate :
  inner 1 0 1 0 = 1 /\ inner 0 1 0 1 = 1 /\ inner (3 / 5) (4 / 5) (3 / 5) (4 / 5) = 1 /\
  distance 1 0 1 0 = 0 /\ sqrt (2 / 5) <= distance 1 0 (3 / 5) (4 / 5) /\ distance 0 1 (3 / 5) (4 / 5) = sqrt (2 / 5) /\ 2 * 0 + 0 < sqrt (2 / 5) /\
  inner 1 0 0 1 < inner 1 0 (3 / 5) (4 / 5) /\ inner 1 0 0 1 < inner 0 1 (3 / 5) (4 / 5).
Proof.
  unfold inner, distance, square. repeat split; try lra.
  - rewrite <- sqrt_0. f_equal. lra.
  - apply sqrt_le_1_alt. lra.
  - f_equal. lra.
  - rewrite Rmult_0_r, Rplus_0_l. apply sqrt_lt_R0. lra.
Qed.
