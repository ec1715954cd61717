(* trained and frozen are what (11) and (13) are one over the squares of; e = sigma + tau, c is the constant c'' of (11), and errors are at
   most a share theta of alpha: the factor between the bounds is alpha^-2 up to (1 - theta)^2 from both sides *)
Theorem factor_between : forall alpha e c theta, 0 < alpha -> 0 <= e -> 0 <= c -> 0 <= theta < 1 -> e <= theta * alpha -> c * e <= theta * alpha ->
  let factor := / frozen alpha e ^ 2 / / trained alpha c e ^ 2 in
  (1 - theta) ^ 2 * / alpha ^ 2 <= factor <= / (1 - theta) ^ 2 * / alpha ^ 2.
Proof.
  intros alpha e c theta A E C T small other factor. assert (CE : 0 <= c * e) by (apply Rmult_le_pos; lra).
  assert (low : 0 < (1 - theta) * alpha) by (apply Rmult_lt_0_compat; lra).
  set (x := alpha - e). set (y := alpha - c * e).
  assert (X : (1 - theta) * alpha <= x <= alpha) by (unfold x; lra). assert (Y : (1 - theta) * alpha <= y <= alpha) by (unfold y; lra).
  assert (F : factor = (y / x) ^ 2 * / alpha ^ 2).
  { unfold factor, frozen, trained. fold y. replace (alpha + - e) with x by (unfold x; ring). replace (alpha + - (c * e)) with y by (unfold y; ring). field. lra. }
  rewrite F. assert (I : 0 < / alpha ^ 2) by (apply Rinv_0_lt_compat, pow_lt, A).
  assert (near : 1 - theta <= y / x <= / (1 - theta)).
  { split; apply Rmult_le_reg_r with x; try lra.
    - replace (y / x * x) with y by (field; lra). nra.
    - replace (y / x * x) with y by (field; lra). apply Rmult_le_reg_l with (1 - theta); [ lra | ]. rewrite <- Rmult_assoc, Rinv_r by lra. nra. }
  split; apply Rmult_le_compat_r; try lra.
  - apply pow_incr. lra.
  - rewrite <- pow_inv. apply pow_incr. lra.
Qed.

Theorem factor_without_errors : forall alpha c, 0 < alpha -> / frozen alpha 0 ^ 2 / / trained alpha c 0 ^ 2 = / alpha ^ 2.
Proof. intros alpha c A. unfold frozen, trained. field. lra. Qed.
