From Odesys Require Import sequences.

(* v_mu and v are the mean values along mu and along y_i xi_i (Eq. (14), (15)); size is sigma_p s, and v is at least
   t eta sigma_p s from T_1 on (Lemma 4.1 (1)). That both terms of the ratio tend to 0 is stated in logarithms. *)
Theorem from_T_1_on : forall (v_mu v : nat -> R) (eta mu size first T : R),
  0 < eta -> 0 < mu -> 0 < size -> 0 < T -> Rabs (v_mu 0%nat) <= first ->
  (forall k, v_mu (S k) = v_mu k + 2 * eta * mu) ->
  (forall t, T <= INR t -> INR t * eta * size <= v t) ->
  forall t, T <= INR t -> Rabs (v_mu t) <= ratio first T eta mu size * v t.
Proof.
  intros v_mu v eta mu size first T E M HS HT start step low t late.
  assert (V := steps_equal v_mu (2 * eta * mu) step t). specialize (low t late).
  assert (F : 0 <= first) by (eapply Rle_trans; [ apply Rabs_pos | exact start ]).
  assert (P : 0 < INR t * eta * size) by (repeat apply Rmult_lt_0_compat; lra).
  assert (R0 : 0 <= ratio first T eta mu size) by (unfold ratio; nonneg).
  apply Rle_trans with (ratio first T eta mu size * (INR t * eta * size)); [ | apply Rmult_le_compat_l; lra ].
  assert (Q : ratio first T eta mu size * (INR t * eta * size) = first * (INR t / T) + INR t * (2 * eta * mu))
    by (unfold ratio; field; repeat split; lra).
  rewrite Q, V. assert (L : 1 <= INR t / T).
  { apply Rmult_le_reg_r with T; [ exact HT | ]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  eapply Rle_trans; [ apply Rabs_triang | ].
  rewrite (Rabs_right (INR t * (2 * eta * mu))); [ | apply Rle_ge; repeat apply Rmult_le_pos; lra ].
  apply Rplus_le_compat_r. nra.
Qed.
