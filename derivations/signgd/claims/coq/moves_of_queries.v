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

Lemma proportional_Q_plus : forall j, along argument_Q_plus j = xi j * common argument_Q_plus.
Proof. intro j. unfold argument_Q_plus. whole. ring. Qed.

(* |<Delta w_Q, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_query_plus : forall q' eta, 0 <= eta -> common argument_Q_plus <> 0 ->
  (forall j, (j < d)%nat -> q' j = q j + eta * sgn (along argument_Q_plus j)) ->
  Rabs (inner d q' xi - inner d q xi) = eta * norm1 d xi.
Proof. intros q' eta E N step. exact (length_of_move _ _ _ _ E proportional_Q_plus N step). Qed.

Lemma proportional_K_plus : forall j, along argument_K_plus j = xi j * common argument_K_plus.
Proof. intro j. unfold argument_K_plus. whole. ring. Qed.

(* |<Delta w_K, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_key_plus : forall k' eta, 0 <= eta -> common argument_K_plus <> 0 ->
  (forall j, (j < d)%nat -> k' j = k j + eta * sgn (along argument_K_plus j)) ->
  Rabs (inner d k' xi - inner d k xi) = eta * norm1 d xi.
Proof. intros k' eta E N step. exact (length_of_move _ _ _ _ E proportional_K_plus N step). Qed.

Lemma proportional_Q_minus : forall j, along argument_Q_minus j = xi j * common argument_Q_minus.
Proof. intro j. unfold argument_Q_minus. whole. ring. Qed.

(* |<Delta w_Q, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_query_minus : forall q' eta, 0 <= eta -> common argument_Q_minus <> 0 ->
  (forall j, (j < d)%nat -> q' j = q j + eta * sgn (along argument_Q_minus j)) ->
  Rabs (inner d q' xi - inner d q xi) = eta * norm1 d xi.
Proof. intros q' eta E N step. exact (length_of_move _ _ _ _ E proportional_Q_minus N step). Qed.

Lemma proportional_K_minus : forall j, along argument_K_minus j = xi j * common argument_K_minus.
Proof. intro j. unfold argument_K_minus. whole. ring. Qed.

(* |<Delta w_K, y_i xi_i>| = eta |xi_i|_1, unless the argument vanishes *)
Theorem move_of_a_key_minus : forall k' eta, 0 <= eta -> common argument_K_minus <> 0 ->
  (forall j, (j < d)%nat -> k' j = k j + eta * sgn (along argument_K_minus j)) ->
  Rabs (inner d k' xi - inner d k xi) = eta * norm1 d xi.
Proof. intros k' eta E N step. exact (length_of_move _ _ _ _ E proportional_K_minus N step). Qed.
End support.

(* along the signal, which has one entry mu, a step of length eta moves by eta |mu|, unless its argument c vanishes *)
Theorem move_along_the_signal : forall w w' mu eta c, 0 <= eta -> 0 < mu -> c <> 0 -> w' = w + eta * sgn c ->
  Rabs (w' * mu - w * mu) = eta * mu.
Proof.
  intros w w' mu eta c E M N step. rewrite step. replace ((w + eta * sgn c) * mu - w * mu) with (eta * mu * sgn c) by ring.
  rewrite Rabs_mult, (sgn_one _ N), Rmult_1_r. apply Rabs_right, Rle_ge, Rmult_le_pos; lra.
Qed.
