From Odesys Require Import sequences.

(* q is a query or key along mu, c its argument in each step (Eq. (8)), beta the largest start, varsigma a sign *)
Theorem from_T_3_on : forall (q c : nat -> R) (eta mu beta varsigma : R),
  0 < eta -> 0 < mu -> varsigma = 1 \/ varsigma = -1 ->
  (forall k, q (S k) = q k + eta * mu * sgn (c k)) -> Rabs (q 0%nat) <= beta ->
  forall t, T_3 beta eta mu <= INR t ->
  varsigma * q t <= bound (INR t) eta mu /\ - bound (INR t) eta mu <= varsigma * q t.
Proof.
  intros q c eta mu beta varsigma E M V step start t late. unfold T_3, bound in *.
  assert (P : 0 < eta * mu) by (apply Rmult_lt_0_compat; assumption).
  assert (W := within _ _ (sign_steps_within q c (eta * mu) (Rlt_le _ _ P) step t)). apply within in start.
  assert (B : 3 * beta <= INR t * (eta * mu)).
  { apply Rmult_le_compat_r with (r := eta * mu) in late; [ | lra ].
    match type of late with ?x <= _ => replace x with (3 * beta) in late by (field; lra) end. exact late. }
  destruct V; subst varsigma; split; nra.
Qed.
