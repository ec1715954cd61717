(* the third bound, from the first: V is the sum of the E[Z_j^2], and t the printed quantile for a probability delta. That Z > t has at most the probability
   exp(-exponent), the first bound, is from Chernoff's bound and is not in this file *)
Theorem quantile_from_first_tail : forall V M delta, 0 < V -> 0 < M -> 0 < delta < 1 ->
  let t := quantile V M (ln (/ delta)) in 0 < t /\ exp (- exponent V M t) <= delta.
Proof.
  intros V M delta PV PM [D D1] t. assert (U : 0 < ln (/ delta)).
  { rewrite <- ln_1. apply ln_increasing; [ lra | ]. rewrite <- Rinv_1. apply Rinv_lt_contravar; lra. }
  set (u := ln (/ delta)) in *. assert (P : 0 < 2 * (V * u)) by (assert (0 < V * u) by (apply Rmult_lt_0_compat; assumption); lra).
  set (s := sqrt (2 * (V * u))). assert (S0 : 0 < s) by (apply sqrt_lt_R0, P). assert (S : s * s = 2 * (V * u)) by (apply sqrt_sqrt; lra).
  assert (m : 0 < M * u) by (apply Rmult_lt_0_compat; assumption).
  assert (T : t = s + 2 * (M * u)) by reflexivity. assert (T0 : 0 < t) by lra. split; [ exact T0 | ].
  assert (B : 0 < V + 1 / 3 * (M * t)) by (assert (0 < M * t) by (apply Rmult_lt_0_compat; assumption); lra).
  assert (E : u <= exponent V M t).
  { unfold exponent. apply Rmult_le_reg_r with (V + 1 / 3 * (M * t)); [ exact B | ].
    replace (1 / 2 * (t ^ 2 * / (V + 1 / 3 * (M * t))) * (V + 1 / 3 * (M * t))) with (t ^ 2 / 2) by (field; lra).
    replace (u * (V + 1 / 3 * (M * t))) with (s * s / 2 + 1 / 3 * (M * u) * (s + 2 * (M * u))) by (rewrite S, T; field).
    rewrite T. nra. }
  replace delta with (exp (- u)).
  - destruct (Rle_lt_or_eq_dec _ _ E) as [L|L]; [ apply Rlt_le, exp_increasing; lra | rewrite L; lra ].
  - unfold u. rewrite ln_Rinv, Ropp_involutive by exact D. apply exp_ln, D.
Qed.
