From Coq Require Import Lia.
From Odesys Require Import sequences lengths matrices attention.

(* eta = x^-5 tends to 0 as x grows, and T of (10) is between steps c_1 and steps c_2 *)
Definition for_small_eta (statement : R -> Prop) : Prop := exists least, forall x, least <= x -> statement x.
Definition at_T (c_1 c_2 alpha_s x : R) (T : nat) : Prop := steps c_1 alpha_s x <= INR T <= steps c_2 alpha_s x.

(* weights after t steps of size h from a start with norms at most o, v, k, q, for some batches; the slope of the loss is 1
   as in the printed gradients or that of the hinge, and W_K, W_Q are trained (kappa = h) or frozen (kappa = 0) *)
Definition trained (d m_a m_b m : nat) (o v k q h : R) (w : nat -> weights) : Prop :=
  exists slope kappa sizes batches, (forall w p, 0 <= slope w p <= 1) /\
  run d m_a m_b m slope h kappa sizes batches w /\ inside d m_a m_b m (w 0%nat) o v k q.

Lemma short_time : forall c alpha_s x T, 0 < c -> 0 < alpha_s -> 1 + c / alpha_s <= x -> INR T <= steps c alpha_s x ->
  1 <= x /\ 0 < eta x /\ 0 < / x <= 1 /\ eta x <= / x /\ 0 <= eta x * INR T <= / x.
Proof.
  intros c alpha_s x T C A X L. assert (D : 0 < c / alpha_s) by (apply Rdiv_lt_0_compat; assumption).
  assert (P : 0 < / x) by (apply Rinv_0_lt_compat; lra). assert (E : x * / x = 1) by (apply Rinv_r; lra).
  assert (B : / x <= 1) by nra. unfold eta, steps in *. set (y := / x) in *.
  assert (y2 : 0 < y * y <= y) by nra. assert (y4 : 0 < y * y * (y * y) <= 1) by nra.
  assert (F : y ^ 5 = y * y * (y * y) * y) by ring.
  assert (G : y ^ 5 * (/ alpha_s * c * x ^ 3) = c / alpha_s * (y * y) * ((x * y) * (x * y) * (x * y))) by (unfold Rdiv; ring).
  rewrite E in G. assert (I := pos_INR T). assert (Z : 0 < y ^ 5) by (apply pow_lt, P).
  assert (H : y ^ 5 * INR T <= c / alpha_s * (y * y)) by (apply Rle_trans with (y ^ 5 * (/ alpha_s * c * x ^ 3)); [ apply Rmult_le_compat_l; lra | lra ]).
  assert (K : c / alpha_s * (y * y) <= x * (y * y)) by (apply Rmult_le_compat_r; lra).
  replace (x * (y * y)) with (x * y * y) in K by ring. rewrite E in K.
  repeat split; try lra; [ rewrite F; nra | apply Rmult_le_pos; lra ].
Qed.

Lemma square_of_steps : forall c alpha_s x T, 0 < c -> 0 < alpha_s -> 1 <= x -> steps c alpha_s x <= INR T ->
  (c / alpha_s) ^ 2 * x <= eta x * INR T ^ 2.
Proof.
  intros c alpha_s x T C A X L. assert (P : 0 < / x) by (apply Rinv_0_lt_compat; lra). assert (E : x * / x = 1) by (apply Rinv_r; lra).
  unfold eta, steps in *. set (y := / x) in *.
  assert (Z : 0 <= / alpha_s * c * x ^ 3) by (assert (0 < / alpha_s) by (apply Rinv_0_lt_compat; assumption); repeat apply Rmult_le_pos; try lra; apply pow_le; lra).
  assert (S : (/ alpha_s * c * x ^ 3) ^ 2 <= INR T ^ 2) by (apply pow_incr; lra).
  apply Rle_trans with (y ^ 5 * (/ alpha_s * c * x ^ 3) ^ 2); [ | apply Rmult_le_compat_l; [ apply pow_le; lra | exact S ] ].
  right. replace (y ^ 5 * (/ alpha_s * c * x ^ 3) ^ 2) with ((c / alpha_s) ^ 2 * x * ((x * y) ^ 5)) by (unfold Rdiv; ring).
  rewrite E. ring.
Qed.

Section bounds.
Variables (d m_a m_b m : nat) (o v k q c alpha_s x : R) (w : nat -> weights) (T : nat).
Hypothesis not_negative : 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q.
Hypothesis (c_positive : 0 < c) (alpha_positive : 0 < alpha_s) (large : 1 + c / alpha_s <= x).
Hypothesis (few : INR T <= steps c alpha_s x) (made : trained d m_a m_b m o v k q (eta x) w).

Lemma norms_at : forall t, (t <= T)%nat -> inside d m_a m_b m (w t) (longest o v 1) (longest o v 1) (longest_K o v k q 1) (longest_K o v k q 1).
Proof.
  intros t L. destruct (short_time c alpha_s x T c_positive alpha_positive large few) as (_ & _ & B & _ & S).
  destruct made as (slope & kappa & sizes & batches & R & M & I).
  apply (bounded_run d m_a m_b m slope R (eta x) kappa sizes batches w o v k q M not_negative I T 1); [ lra | exact L ].
Qed.

Lemma moves_at : forall t, (t <= T)%nat ->
  at_most m m_a (less (WO (w t)) (WO (w 0%nat))) (/ x * longest o v 1) /\
  at_most m_a d (less (WV (w t)) (WV (w 0%nat))) (/ x * longest o v 1) /\
  at_most m_b d (less (WK (w t)) (WK (w 0%nat))) (/ x * (longest o v 1 * longest o v 1 * longest_K o v k q 1)) /\
  at_most m_b d (less (WQ (w t)) (WQ (w 0%nat))) (/ x * (longest o v 1 * longest o v 1 * longest_K o v k q 1)).
Proof.
  intros t L. destruct (short_time c alpha_s x T c_positive alpha_positive large few) as (_ & _ & B & _ & S).
  destruct made as (slope & kappa & sizes & batches & R & M & I).
  destruct (bounded_run d m_a m_b m slope R (eta x) kappa sizes batches w o v k q M not_negative I T 1 ltac:(lra) t L) as (_ & H1 & H2 & H3 & H4).
  destruct (longest_not_negative o v k q not_negative 1) as (N1 & N2).
  assert (N3 : 0 <= longest o v 1 * longest o v 1 * longest_K o v k q 1) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption).
  repeat split; (eapply at_most_weaker; [ | first [ exact H1 | exact H2 | exact H3 | exact H4 ] ]); apply Rmult_le_compat_r; lra.
Qed.

(* the key of a pattern mu of length at most 1 that has length 1 at the start *)
Definition length_of_key (d m_b : nat) (mu : nat -> R) (w : nat -> weights) (t : nat) : R := norm m_b (apply d (WK (w t)) mu).

Lemma key_at : forall mu, norm d mu <= 1 -> length_of_key d m_b mu w 0 = 1 ->
  2 * (longest o v 1 * longest o v 1 * longest_K o v k q 1) <= x -> forall t, (t <= T)%nat ->
  / 2 <= length_of_key d m_b mu w t <= longest_K o v k q 1.
Proof.
  intros mu M S0 X t L. destruct (moves_at t L) as (_ & _ & H & _). destruct (norms_at t L) as (_ & _ & N & _).
  destruct (short_time c alpha_s x T c_positive alpha_positive large few) as (x1 & _ & B & _).
  destruct (longest_not_negative o v k q not_negative 1) as (N1 & N2).
  set (f := longest o v 1 * longest o v 1 * longest_K o v k q 1) in *.
  assert (F : 0 <= f) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption).
  destruct (image_moves m_b d (WK (w t)) (WK (w 0%nat)) (/ x * f) mu M ltac:(apply Rmult_le_pos; lra) H) as (_ & G).
  unfold length_of_key in *. rewrite S0 in G.
  assert (E : x * / x = 1) by (apply Rinv_r; lra). assert (Y : / x * f <= / 2).
  { apply Rmult_le_reg_l with x; [ lra | ]. rewrite <- Rmult_assoc, E. lra. }
  split; [ lra | ]. eapply Rle_trans; [ apply N | ]. assert (P := norm_not_negative d mu). nra.
Qed.
End bounds.
