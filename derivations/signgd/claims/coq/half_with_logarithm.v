From Odesys Require Import sequences.

(* as for Lemma 4.3 (2), up to T_3^+: log is log(12 m_k/delta), size is sigma_p s, and starts are at most
   T_3^+ eta sigma_p s, which they are by the order stated in logarithms. closeness is 4 C_2^2 log(12 m_k/delta) times
   (sigma_0 sigma_p s)^2 m_k, which the condition of the claim sends to 0. *)
Theorem up_to_T_3_plus : forall (m : nat) (q k1 k2 : nat -> nat -> R) (C_2 log sigma_0 eta size : R),
  0 < eta -> 0 < size -> 0 < C_2 -> 0 < sigma_0 -> 0 < log ->
  (forall s x, (s < m)%nat -> x = q \/ x = k1 \/ x = k2 ->
    Rabs (x s 0%nat) <= T_3_plus C_2 log sigma_0 eta * (eta * size) /\
    forall t, Rabs (x s (S t) - x s t) <= eta * size) ->
  forall t, INR t <= T_3_plus C_2 log sigma_0 eta ->
  Rabs (sigmoid (total m (fun s => q s t * k1 s t) - total m (fun s => q s t * k2 s t)) - / 2)
    <= closeness (INR m) C_2 log sigma_0 size.
Proof.
  intros m q k1 k2 C_2 log sigma_0 eta size E HS C G L moves t early.
  set (b := 2 * (T_3_plus C_2 log sigma_0 eta * (eta * size))).
  assert (P : 0 < eta * size) by (apply Rmult_lt_0_compat; assumption).
  assert (K : forall s x, (s < m)%nat -> x = q \/ x = k1 \/ x = k2 -> Rabs (x s t) <= b).
  { intros s x HM which. destruct (moves s x HM which) as [start step].
    assert (W := within _ _ (steps_within (x s) (eta * size) step t)). apply within in start.
    assert (A : INR t * (eta * size) <= T_3_plus C_2 log sigma_0 eta * (eta * size))
      by (apply Rmult_le_compat_r; lra).
    apply Rabs_le; unfold b; lra. }
  replace (closeness (INR m) C_2 log sigma_0 size) with (INR m * b ^ 2).
  - apply (softmax_near_half m (fun s => q s t) (fun s => k1 s t) (fun s => k2 s t) b).
    intros s HM; repeat split; apply K; auto.
  - assert (Q := sqrt_sqrt log (Rlt_le _ _ L)).
    replace b with (2 * (C_2 * sqrt log * sigma_0 * size)) by (unfold b, T_3_plus; field; lra).
    transitivity (4 * (INR m * C_2 ^ 2 * (sqrt log * sqrt log) * sigma_0 ^ 2 * size ^ 2)); [ ring | ].
    rewrite Q. unfold closeness. ring.
Qed.
