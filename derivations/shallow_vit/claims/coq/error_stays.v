From Odesys Require Import sequences lengths.

(* v t is the value of a token after t steps, grown t what the sums of Claim 3 have after t steps, p its feature: the same
   step is added to both, and at the start the sums are empty. The error v - p - grown keeps its length. *)
Theorem error_is_that_of_the_start :
  forall (d : nat) (v grown step : nat -> nat -> R) (p : nat -> R) (sigma tau : R),
  (forall k, grown 0%nat k = 0) ->
  (forall t k, v (S t) k = v t k + step t k) -> (forall t k, grown (S t) k = grown t k + step t k) ->
  norm d (fun k => v 0%nat k - p k) <= longest sigma tau ->
  forall t, norm d (fun k => v t k - p k - grown t k) <= longest sigma tau.
Proof.
  intros d v grown step p sigma tau empty moves sums start t.
  assert (Z : forall k, v t k - p k - grown t k = v 0%nat k - p k).
  { intro k. induction t as [|t E]; [ rewrite empty; ring | rewrite moves, sums; lra ]. }
  unfold norm, inner in *.
  rewrite (total_equal d _ (fun k => (v 0%nat k - p k) * (v 0%nat k - p k))); [ exact start | intros; rewrite Z; reflexivity ].
Qed.
