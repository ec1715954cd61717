From Odesys Require Import sequences.

(* w is a row of queries or keys and xi the noise of a sample, with d entries; every step is one of sign descent whose
   argument on the support of xi is xi times one number (Eq. (9)). M is the fourth root of m_v, and size is sigma_p s,
   which is at least |xi|_1 (Lemma C.4). *)
Theorem up_to_T_1 : forall (d : nat) (w : nat -> nat -> R) (xi c : nat -> R) (eta beta M size : R),
  0 < eta -> 0 < beta -> 0 < M -> 0 < size ->
  (forall t k, (k < d)%nat -> w (S t) k = w t k + eta * sgn (xi k * c t)) ->
  norm1 d xi <= size -> least beta M <= Rabs (inner d (w 0%nat) xi) ->
  forall t, INR t <= T_1 beta M eta size ->
  Rabs (inner d (w t) xi - inner d (w 0%nat) xi) <= share M * Rabs (inner d (w 0%nat) xi).
Proof.
  intros d w xi c eta beta M size E B HM HS step norm start t early.
  assert (N : 0 <= norm1 d xi).
  { unfold norm1. replace 0 with (total d (fun _ => 0)) by (rewrite total_constant; ring).
    apply total_at_most. intros; apply Rabs_pos. }
  assert (W := sign_steps_within (fun j => inner d (w j) xi) c (eta * norm1 d xi) ltac:(nra)
    (fun j => sign_step d (w j) (w (S j)) xi eta (c j) (step j)) t). cbv beta in W.
  assert (A : INR t * (eta * norm1 d xi) <= T_1 beta M eta size * (eta * size)).
  { assert (0 <= INR t) by apply pos_INR.
    apply Rmult_le_compat; [ assumption | nra | exact early | apply Rmult_le_compat_l; lra ]. }
  assert (Q : T_1 beta M eta size * (eta * size) = share M * least beta M) by (unfold T_1, share, least; field; nonzero).
  assert (F : 0 <= share M) by (unfold share; nonneg).
  apply Rle_trans with (share M * least beta M); [ lra | apply Rmult_le_compat_l; assumption ].
Qed.

Theorem share_tends_to_zero : forall eps, 0 < eps -> forall M, 4 / eps < M -> share M < eps.
Proof.
  intros eps P M H. assert (A : 0 < 4 / eps) by (unfold Rdiv; pos).
  assert (N : 0 < M) by lra. assert (Q : share M * M = 4) by (unfold share; field; lra).
  apply Rmult_lt_compat_l with (r := eps) in H; [ | exact P ].
  replace (eps * (4 / eps)) with 4 in H by (field; lra).
  apply Rmult_lt_reg_r with M; lra.
Qed.
