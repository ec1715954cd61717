From Odesys Require Import sequences.

(* m neurons: q s is the query of neuron s along a patch (mu or y_i xi_i), k1 s and k2 s its keys along both patches. A
   step moves each of them by at most eta sigma_p s (Eq. (8), (9), Lemma C.4), and all start within beta_xi. Softmax of
   the logits total q k1 and total q k2 stays within closeness of 1/2, which tends to 0: stated in logarithms. *)
Theorem up_to_T_2 : forall (m : nat) (q k1 k2 : nat -> nat -> R) (eta beta n size : R),
  0 < eta -> 0 < beta -> 0 <= n -> 0 < size ->
  (forall s x, (s < m)%nat -> x = q \/ x = k1 \/ x = k2 ->
    Rabs (x s 0%nat) <= beta /\ forall t, Rabs (x s (S t) - x s t) <= eta * size) ->
  forall t, INR t <= T_2 n beta eta size ->
  Rabs (sigmoid (total m (fun s => q s t * k1 s t) - total m (fun s => q s t * k2 s t)) - / 2)
    <= closeness (INR m) n beta.
Proof.
  intros m q k1 k2 eta beta n size E B N HS moves t early.
  set (b := beta * (1 + 50 * sqrt 2 * n)).
  assert (K : forall s x, (s < m)%nat -> x = q \/ x = k1 \/ x = k2 -> Rabs (x s t) <= b).
  { intros s x HM which. destruct (moves s x HM which) as [start step].
    assert (W := within _ _ (steps_within (x s) (eta * size) step t)). apply within in start.
    assert (P : 0 < eta * size) by (apply Rmult_lt_0_compat; assumption).
    assert (A : INR t * (eta * size) <= 50 * sqrt 2 * n * beta).
    { apply Rmult_le_compat_r with (r := eta * size) in early; [ | lra ].
      eapply Rle_trans; [ exact early | right; unfold T_2; field; lra ]. }
    apply Rabs_le; unfold b; lra. }
  replace (closeness (INR m) n beta) with (INR m * b ^ 2) by (unfold closeness, b; ring).
  apply (softmax_near_half m (fun s => q s t) (fun s => k1 s t) (fun s => k2 s t) b).
  intros s HM; repeat split; apply K; auto.
Qed.
