From Odesys Require Import sequences.

(* q is a query or key along mu (Eq. (8)); at the start it is at least sigma_0 n s^(-1/3) |mu| in size (Lemma C.12).
   Up to T it stays within share times its start, and with share below 1 it keeps its sign. That share tends to 0 is
   stated in logarithms. *)
Theorem up_to_T : forall (q c : nat -> R) (T eta mu sigma_0 n s : R),
  0 <= T -> 0 < eta -> 0 < mu -> 0 < sigma_0 -> 0 < n -> 0 < s ->
  (forall k, q (S k) = q k + eta * mu * sgn (c k)) -> least sigma_0 n s * mu <= Rabs (q 0%nat) ->
  forall t, INR t <= T ->
  Rabs (q t - q 0%nat) <= share T eta sigma_0 n s * Rabs (q 0%nat) /\
  (share T eta sigma_0 n s < 1 -> sgn (q t) = sgn (q 0%nat)).
Proof.
  intros q c T eta mu sigma_0 n s HT E M G N S step start t early.
  assert (P : 0 < eta * mu) by (apply Rmult_lt_0_compat; assumption).
  assert (W := sign_steps_within q c (eta * mu) (Rlt_le _ _ P) step t).
  assert (L : 0 < least sigma_0 n s) by (unfold least; pos).
  assert (Q : share T eta sigma_0 n s * least sigma_0 n s = T * eta) by (unfold share, least in *; field; nonzero).
  assert (F : 0 <= share T eta sigma_0 n s) by (apply Rmult_le_reg_r with (least sigma_0 n s); nra).
  assert (B : Rabs (q t - q 0%nat) <= share T eta sigma_0 n s * Rabs (q 0%nat)).
  { apply Rle_trans with (T * eta * mu); [ apply Rle_trans with (INR t * (eta * mu)); [ exact W | nra ] | ].
    rewrite <- Q, Rmult_assoc. apply Rmult_le_compat_l; assumption. }
  split; [ exact B | intro small ].
  assert (Z : 0 < Rabs (q 0%nat)) by nra.
  assert (D := within _ _ B). unfold Rabs in D, Z; destruct (Rcase_abs (q 0%nat)) as [C|C].
  - rewrite !sgn_negative; [ reflexivity | lra | nra ].
  - rewrite !sgn_positive; [ reflexivity | lra | nra ].
Qed.
