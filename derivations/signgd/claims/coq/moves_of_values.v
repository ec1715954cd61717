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

Lemma proportional_P_plus : forall j, along argument_P_plus j = xi j * common argument_P_plus.
Proof. intro j. unfold argument_P_plus. whole. ring. Qed.

Lemma proportional_N_plus : forall j, along argument_N_plus j = xi j * common argument_N_plus.
Proof. intro j. unfold argument_N_plus. whole. ring. Qed.

Lemma sign_P_plus : 0 < common argument_P_plus.
Proof. unfold common, argument_P_plus, sigmoid. pos. Qed.

Lemma sign_N_plus : common argument_N_plus < 0.
Proof. apply Ropp_lt_cancel. rewrite Ropp_0. unfold common, argument_N_plus, sigmoid. rewrite ?Ropp_involutive. pos. Qed.

(* rows of W_{V,1} and W_{V,-1} along y_i xi_i, y_i = 1 *)
Theorem rows_move_plus : forall row row' eta,
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_P_plus j)) ->
    inner d row' xi = inner d row xi + eta * norm1 d xi) /\
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_N_plus j)) ->
    inner d row' xi = inner d row xi - eta * norm1 d xi).
Proof.
  intros row row' eta; split; intro step.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_P_plus step), (sgn_positive _ sign_P_plus); ring.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_N_plus step), (sgn_negative _ sign_N_plus); ring.
Qed.

(* v = 1/m_v sum_r (w_{V,1,r} - w_{V,-1,r}), with r rows in each class: it moves by 2 eta |xi_i|_1 *)
Theorem mean_value_moves_plus : forall (r : nat) (P P' N N' : nat -> nat -> R) eta, m_v = INR r ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> P' s j = P s j + eta * sgn (along argument_P_plus j)) ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> N' s j = N s j + eta * sgn (along argument_N_plus j)) ->
  (total r (fun s => inner d (P' s) xi - inner d (N' s) xi) / m_v) =
  (total r (fun s => inner d (P s) xi - inner d (N s) xi) / m_v) + 2 * eta * norm1 d xi.
Proof.
  intros r P P' N N' eta R up down.
  rewrite (total_equal r (fun s => inner d (P' s) xi - inner d (N' s) xi)
    (fun s => (inner d (P s) xi - inner d (N s) xi) + (2 * eta * norm1 d xi))).
  - rewrite total_plus, total_constant, R. field. rewrite R in some_rows. lra.
  - intros s HS. assert (A := proj1 (rows_move_plus (P s) (P' s) eta) (fun j J => up s j HS J)).
    assert (B := proj2 (rows_move_plus (N s) (N' s) eta) (fun j J => down s j HS J)). lra.
Qed.

Lemma proportional_P_minus : forall j, along argument_P_minus j = xi j * common argument_P_minus.
Proof. intro j. unfold argument_P_minus. whole. ring. Qed.

Lemma proportional_N_minus : forall j, along argument_N_minus j = xi j * common argument_N_minus.
Proof. intro j. unfold argument_N_minus. whole. ring. Qed.

Lemma sign_N_minus : 0 < common argument_N_minus.
Proof. unfold common, argument_N_minus, sigmoid. pos. Qed.

Lemma sign_P_minus : common argument_P_minus < 0.
Proof. apply Ropp_lt_cancel. rewrite Ropp_0. unfold common, argument_P_minus, sigmoid. rewrite ?Ropp_involutive. pos. Qed.

(* rows of W_{V,1} and W_{V,-1} along y_i xi_i, y_i = -1 *)
Theorem rows_move_minus : forall row row' eta,
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_P_minus j)) ->
    - inner d row' xi = - inner d row xi + eta * norm1 d xi) /\
  ((forall j, (j < d)%nat -> row' j = row j + eta * sgn (along argument_N_minus j)) ->
    - inner d row' xi = - inner d row xi - eta * norm1 d xi).
Proof.
  intros row row' eta; split; intro step.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_P_minus step), (sgn_negative _ sign_P_minus); ring.
  - rewrite (moves_by_the_norm _ _ _ _ proportional_N_minus step), (sgn_positive _ sign_N_minus); ring.
Qed.

(* v = 1/m_v sum_r (w_{V,1,r} - w_{V,-1,r}), with r rows in each class: it moves by 2 eta |xi_i|_1 *)
Theorem mean_value_moves_minus : forall (r : nat) (P P' N N' : nat -> nat -> R) eta, m_v = INR r ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> P' s j = P s j + eta * sgn (along argument_P_minus j)) ->
  (forall s j, (s < r)%nat -> (j < d)%nat -> N' s j = N s j + eta * sgn (along argument_N_minus j)) ->
  - (total r (fun s => inner d (P' s) xi - inner d (N' s) xi) / m_v) =
  - (total r (fun s => inner d (P s) xi - inner d (N s) xi) / m_v) + 2 * eta * norm1 d xi.
Proof.
  intros r P P' N N' eta R up down.
  rewrite (total_equal r (fun s => inner d (P' s) xi - inner d (N' s) xi)
    (fun s => (inner d (P s) xi - inner d (N s) xi) + - (2 * eta * norm1 d xi))).
  - rewrite total_plus, total_constant, R. field. rewrite R in some_rows. lra.
  - intros s HS. assert (A := proj1 (rows_move_minus (P s) (P' s) eta) (fun j J => up s j HS J)).
    assert (B := proj2 (rows_move_minus (N s) (N' s) eta) (fun j J => down s j HS J)). lra.
Qed.
End support.

(* along the signal, which has one entry mu, a step of length eta moves by eta |mu|, unless its argument c vanishes *)
Theorem move_along_the_signal : forall w w' mu eta c, 0 <= eta -> 0 < mu -> c <> 0 -> w' = w + eta * sgn c ->
  Rabs (w' * mu - w * mu) = eta * mu.
Proof.
  intros w w' mu eta c E M N step. rewrite step. replace ((w + eta * sgn c) * mu - w * mu) with (eta * mu * sgn c) by ring.
  rewrite Rabs_mult, (sgn_one _ N), Rmult_1_r. apply Rabs_right, Rle_ge, Rmult_le_pos; lra.
Qed.
