From Odesys Require Import sequences.

(* row and signal are <w_{V,j,r}, j y_i xi_i> and <w_{V,j,r}, mu>, norm is |xi_i|_1 and size sigma_p s; in a step row
   grows by eta |xi_i|_1 and signal moves by eta |mu| (Appendix E.2, last display). From 2 T_2' on: *)
Theorem rows_are_positive : forall (row : nat -> R) (eta beta norm size : R),
  0 < eta -> 0 < beta -> 0 < size -> (forall k, row (S k) = row k + eta * norm) ->
  Rabs (row 0%nat) <= beta -> size / sqrt 2 <= norm ->
  forall t, 2 * T_2_prime beta eta size <= INR t -> beta <= row t.
Proof.
  intros row eta beta norm size E B HS step start low t late.
  assert (V := steps_equal row (eta * norm) step t). apply within in start.
  assert (Q := sqrt_sqrt 2 ltac:(lra)). assert (P := sqrt_lt_R0 2 ltac:(lra)).
  assert (A : 2 * beta <= INR t * (eta * norm)).
  { apply Rle_trans with (2 * T_2_prime beta eta size * (eta * (size / sqrt 2))).
    - right; unfold T_2_prime; field; repeat split; lra.
    - assert (0 < size / sqrt 2) by (unfold Rdiv; pos).
      assert (0 <= T_2_prime beta eta size) by (unfold T_2_prime; nonneg).
      apply Rmult_le_compat; [ lra | nra | exact late | apply Rmult_le_compat_l; lra ]. }
  lra.
Qed.

Theorem rows_are_larger : forall (row signal : nat -> R) (eta beta beta_mu mu norm size : R),
  0 < eta -> 0 < beta -> 0 < size -> 0 < mu -> (forall k, row (S k) = row k + eta * norm) ->
  (forall k, Rabs (signal (S k) - signal k) <= eta * mu) ->
  Rabs (row 0%nat) <= beta -> Rabs (signal 0%nat) <= beta_mu -> size / sqrt 2 <= norm ->
  2 * beta_mu <= beta -> 8 * mu <= norm ->
  forall t, 2 * T_2_prime beta eta size <= INR t -> Rabs (signal t) < row t.
Proof.
  intros row signal eta beta beta_mu mu norm size E B HS M step moves start first low half eighth t late.
  assert (A := rows_are_positive row eta beta norm size E B HS step start low t late).
  assert (V := steps_equal row (eta * norm) step t).
  assert (W := within _ _ (steps_within signal (eta * mu) moves t)). apply within in start. apply within in first.
  assert (T := pos_INR t).
  assert (L : 8 * (INR t * (eta * mu)) <= INR t * (eta * norm)).
  { replace (8 * (INR t * (eta * mu))) with (INR t * (eta * (8 * mu))) by ring.
    apply Rmult_le_compat_l; [ exact T | apply Rmult_le_compat_l; lra ]. }
  assert (U : 2 * beta <= INR t * (eta * norm)).
  { destruct (Rle_lt_dec (2 * beta) (INR t * (eta * norm))) as [Y|Y]; [ exact Y | exfalso ].
    assert (F : row t < beta + 2 * beta) by lra.
    assert (G := rows_are_positive (fun k => row k - row 0%nat - beta) eta beta norm size E B HS).
    cbv beta in G. assert (H : beta <= row t - row 0%nat - beta).
    { apply G; [ intro k; rewrite step; ring | | exact low | exact late ].
      replace (row 0%nat - row 0%nat - beta) with (- beta) by ring. rewrite Rabs_Ropp, Rabs_right; lra. }
    lra. }
  apply Rabs_def1; lra.
Qed.
