From Coq Require Import Lia.
From Odesys Require Import sequences.

(* A sample with label y has the noise xi with d entries on a support of its own, so that no other sample adds anything
   there. q, k, p, m are a query, a key and the sums of the rows of W_{V,1}, W_{V,-1} on that support; Q1, K1, P1, N1 are
   the inner products with the signal patch, Z.. what other neurons add to the logits. argument_X_y is what the sample
   adds to the argument of the step of an entry of X, as derived: a function of the entry, of what all other entries add
   to the inner product with xi, and of the entry of xi. *)
Section support.
Variables (d : nat) (xi q k p m : nat -> R) (Q1 K1 P1 N1 Z11 Z12 Z21 Z22 m_v n : R).
Hypotheses (some_samples : 0 < n) (some_rows : 0 < m_v).
Definition rest (w : nat -> R) (j : nat) : R := inner d w xi - w j * xi j.
Definition along (argument : R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R)
  (j : nat) : R :=
  argument (q j) Q1 (rest q j) (k j) K1 (rest k j) (p j) P1 (rest p j) (m j) N1 (rest m j) Z11 Z12 Z21 Z22 m_v n (xi j).
Definition common (argument : R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R -> R)
  : R :=
  argument 0 Q1 (inner d q xi) 0 K1 (inner d k xi) 0 P1 (inner d p xi) 0 N1 (inner d m xi) Z11 Z12 Z21 Z22 m_v n 1.
Ltac whole := unfold along, common, rest;
  repeat match goal with
  | |- context [inner ?d ?w ?x - ?w ?j * ?x ?j + ?w ?j * ?x ?j] =>
      replace (inner d w x - w j * x j + w j * x j) with (inner d w x) by ring
  end; rewrite ?Rmult_0_l, ?Rplus_0_r.

Lemma moves_by_the_norm : forall argument w w' eta,
  (forall j, along argument j = xi j * common argument) ->
  (forall j, (j < d)%nat -> w' j = w j + eta * sgn (along argument j)) ->
  inner d w' xi = inner d w xi + eta * norm1 d xi * sgn (common argument).
Proof. intros argument w w' eta A step. apply sign_step. intros j J. rewrite <- A. apply step, J. Qed.

Lemma norm1_not_negative : 0 <= norm1 d xi.
Proof.
  unfold norm1. replace 0 with (total d (fun _ => 0)) by (rewrite total_constant; ring).
  apply total_at_most. intros; apply Rabs_pos.
Qed.

Lemma length_of_move : forall argument w w' eta, 0 <= eta ->
  (forall j, along argument j = xi j * common argument) -> common argument <> 0 ->
  (forall j, (j < d)%nat -> w' j = w j + eta * sgn (along argument j)) ->
  Rabs (inner d w' xi - inner d w xi) = eta * norm1 d xi.
Proof.
  intros argument w w' eta E A N step. rewrite (moves_by_the_norm argument w w' eta A step).
  replace (inner d w xi + eta * norm1 d xi * sgn (common argument) - inner d w xi)
    with (eta * norm1 d xi * sgn (common argument)) by ring.
  rewrite Rabs_mult, (sgn_one _ N), Rmult_1_r. apply Rabs_right, Rle_ge, Rmult_le_pos; [ exact E | apply norm1_not_negative ].
Qed.
