(* What arguments over steps share: sequences whose steps are bounded, finite sums, steps of sign descent.
   Nothing is assumed here. *)
From Coq Require Import Reals Lra Lia Psatz.
From Odesys Require Import prelude.
Open Scope R_scope.

Lemma within : forall x b, Rabs x <= b -> - b <= x <= b.
Proof. intros x b H; unfold Rabs in H; destruct (Rcase_abs x); lra. Qed.

(* from one step to all of them *)
Lemma steps_at_most : forall (x : nat -> R) (h : R),
  (forall k, x (S k) <= x k + h) -> forall t, x t <= x 0%nat + INR t * h.
Proof. intros x h H t; induction t as [|t E]; [ simpl; lra | rewrite S_INR; specialize (H t); lra ]. Qed.

Lemma steps_at_least : forall (x : nat -> R) (h : R),
  (forall k, x k + h <= x (S k)) -> forall t, x 0%nat + INR t * h <= x t.
Proof. intros x h H t; induction t as [|t E]; [ simpl; lra | rewrite S_INR; specialize (H t); lra ]. Qed.

Lemma steps_equal : forall (x : nat -> R) (h : R),
  (forall k, x (S k) = x k + h) -> forall t, x t = x 0%nat + INR t * h.
Proof. intros x h H t; induction t as [|t E]; [ simpl; ring | rewrite S_INR, H, E; ring ]. Qed.

Lemma steps_within : forall (x : nat -> R) (h : R),
  (forall k, Rabs (x (S k) - x k) <= h) -> forall t, Rabs (x t - x 0%nat) <= INR t * h.
Proof.
  intros x h H t; induction t as [|t E].
  - simpl; rewrite Rminus_diag_eq by reflexivity; rewrite Rabs_R0; lra.
  - rewrite S_INR; replace (x (S t) - x 0%nat) with ((x (S t) - x t) + (x t - x 0%nat)) by ring.
    eapply Rle_trans; [ apply Rabs_triang | specialize (H t); lra ].
Qed.

(* the sign of a number, 0 at 0 *)
Definition sgn (x : R) : R := if Rlt_dec 0 x then 1 else if Rlt_dec x 0 then -1 else 0.

Lemma sgn_size : forall x, Rabs (sgn x) <= 1.
Proof.
  intro x; unfold sgn; destruct (Rlt_dec 0 x); [ | destruct (Rlt_dec x 0) ].
  - rewrite Rabs_R1; lra.
  - rewrite Rabs_left; lra.
  - rewrite Rabs_R0; lra.
Qed.

Lemma sgn_one : forall x, x <> 0 -> Rabs (sgn x) = 1.
Proof.
  intros x N; unfold sgn; destruct (Rlt_dec 0 x); [ apply Rabs_R1 | destruct (Rlt_dec x 0) ].
  - rewrite Rabs_left; lra.
  - exfalso; apply N; lra.
Qed.

Lemma sign_steps_within : forall (x c : nat -> R) (h : R),
  0 <= h -> (forall k, x (S k) = x k + h * sgn (c k)) -> forall t, Rabs (x t - x 0%nat) <= INR t * h.
Proof.
  intros x c h H step. apply steps_within. intro k. rewrite step.
  replace (x k + h * sgn (c k) - x k) with (h * sgn (c k)) by ring.
  rewrite Rabs_mult, (Rabs_right h) by lra. assert (B := sgn_size (c k)). nra.
Qed.

Lemma sgn_positive : forall x, 0 < x -> sgn x = 1.
Proof. intros x H; unfold sgn; destruct (Rlt_dec 0 x); lra. Qed.

Lemma sgn_negative : forall x, x < 0 -> sgn x = -1.
Proof. intros x H; unfold sgn; destruct (Rlt_dec 0 x); [ lra | destruct (Rlt_dec x 0); lra ]. Qed.

Lemma sgn_product : forall x c, x * sgn (x * c) = Rabs x * sgn c.
Proof.
  intros x c; destruct (Rtotal_order x 0) as [N|[Z|P]]; destruct (Rtotal_order c 0) as [M|[W|Q]]; subst;
    rewrite ?Rmult_0_l, ?Rmult_0_r, ?Rabs_R0; try ring.
  - rewrite (sgn_positive (x * c)), (sgn_negative c), Rabs_left by (try nra; assumption); ring.
  - replace (sgn 0) with 0; [ ring | unfold sgn; destruct (Rlt_dec 0 0); [ lra | destruct (Rlt_dec 0 0); lra ] ].
  - rewrite (sgn_negative (x * c)), (sgn_positive c), Rabs_left by (try nra; assumption); ring.
  - rewrite (sgn_negative (x * c)), (sgn_negative c), Rabs_right by (try nra; assumption); ring.
  - replace (sgn 0) with 0; [ ring | unfold sgn; destruct (Rlt_dec 0 0); [ lra | destruct (Rlt_dec 0 0); lra ] ].
  - rewrite (sgn_positive (x * c)), (sgn_positive c), Rabs_right by (try nra; assumption); ring.
Qed.

(* finite sums: total n f = f 0 + ... + f (n - 1) *)
Fixpoint total (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => total k f + f k end.

Lemma total_equal : forall n f g, (forall k, (k < n)%nat -> f k = g k) -> total n f = total n g.
Proof.
  induction n as [|n E]; intros f g H; [ reflexivity | simpl ].
  rewrite (E f g), (H n); [ reflexivity | lia | intros k K; apply H; lia ].
Qed.

Lemma total_plus : forall n f g, total n (fun k => f k + g k) = total n f + total n g.
Proof. induction n as [|n E]; intros f g; simpl; [ ring | rewrite E; ring ]. Qed.

Lemma total_scaled : forall n f c, total n (fun k => c * f k) = c * total n f.
Proof. induction n as [|n E]; intros f c; simpl; [ ring | rewrite E; ring ]. Qed.

Lemma total_at_most : forall n f g, (forall k, (k < n)%nat -> f k <= g k) -> total n f <= total n g.
Proof.
  induction n as [|n E]; intros f g H; simpl; [ lra | ].
  apply Rplus_le_compat; [ apply E; intros k K; apply H; lia | apply H; lia ].
Qed.

Lemma total_constant : forall n c, total n (fun _ => c) = INR n * c.
Proof. induction n as [|n E]; intro c; [ simpl; ring | rewrite S_INR; simpl; rewrite E; ring ]. Qed.

Lemma total_size : forall n f b, (forall k, (k < n)%nat -> Rabs (f k) <= b) -> Rabs (total n f) <= INR n * b.
Proof.
  induction n as [|n E]; intros f b H; [ simpl; rewrite Rabs_R0; lra | rewrite S_INR; simpl ].
  eapply Rle_trans; [ apply Rabs_triang | ].
  assert (A : Rabs (total n f) <= INR n * b) by (apply E; intros k K; apply H; lia).
  assert (B : Rabs (f n) <= b) by (apply H; lia). lra.
Qed.

(* vectors with d entries *)
Definition inner (d : nat) (w x : nat -> R) : R := total d (fun k => w k * x k).
Definition norm1 (d : nat) (x : nat -> R) : R := total d (fun k => Rabs (x k)).

(* a step of sign descent whose argument is c times x: the inner product with x moves by eta |x|_1 *)
Lemma sign_step : forall d w w' x eta c,
  (forall k, (k < d)%nat -> w' k = w k + eta * sgn (x k * c)) ->
  inner d w' x = inner d w x + eta * norm1 d x * sgn c.
Proof.
  intros d w w' x eta c H. unfold inner, norm1.
  rewrite (total_equal d _ (fun k => w k * x k + eta * sgn c * Rabs (x k))).
  - rewrite total_plus, total_scaled; ring.
  - intros k K. rewrite (H k K). replace ((w k + eta * sgn (x k * c)) * x k)
      with (w k * x k + eta * (x k * sgn (x k * c))) by ring.
    rewrite sgn_product; ring.
Qed.

(* softmax over two keys is near 1/2 where the logit is small *)
Lemma exp_at_least : forall x, 1 + x <= exp x.
Proof. intro x; destruct (Req_dec x 0) as [E|N]; [ subst; rewrite exp_0; lra | apply Rlt_le, exp_ineq1; assumption ]. Qed.

Lemma sigmoid_near_half : forall z, Rabs (sigmoid z - / 2) <= Rabs z / 2.
Proof.
  assert (P : forall z, 0 <= z -> 0 <= sigmoid z - / 2 <= z / 2).
  { intros z Z. unfold sigmoid. assert (L := exp_at_least (- z)). assert (Q := exp_pos (- z)).
    assert (M : exp (- z) <= 1).
    { destruct Z as [Z|Z]; [ | subst; rewrite Ropp_0, exp_0; lra ].
      rewrite <- exp_0. apply Rlt_le, exp_increasing; lra. }
    assert (E : / (1 + exp (- z)) - / 2 = (1 - exp (- z)) * / (2 * (1 + exp (- z)))) by (field; lra).
    rewrite E; split; [ apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat; lra ] | ].
    apply Rmult_le_reg_r with (2 * (1 + exp (- z))); [ lra | ].
    rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. nra. }
  intro z; destruct (Rle_lt_dec 0 z) as [Z|Z].
  - destruct (P z Z); rewrite !Rabs_right; lra.
  - destruct (P (- z)) as [A B]; [ lra | ]. rewrite sigmoid_opposite in A, B.
    rewrite (Rabs_left z) by lra. rewrite Rabs_left1; lra.
Qed.

(* logits are sums over m neurons of products; with all factors at most b in size, softmax is within m b^2 of 1/2 *)
Lemma softmax_near_half : forall (m : nat) (q k1 k2 : nat -> R) (b : R),
  (forall s, (s < m)%nat -> Rabs (q s) <= b /\ Rabs (k1 s) <= b /\ Rabs (k2 s) <= b) ->
  Rabs (sigmoid (total m (fun s => q s * k1 s) - total m (fun s => q s * k2 s)) - / 2) <= INR m * b ^ 2.
Proof.
  intros m q k1 k2 b H. eapply Rle_trans; [ apply sigmoid_near_half | ].
  assert (T : forall k, (forall s, (s < m)%nat -> Rabs (k s) <= b) -> Rabs (total m (fun s => q s * k s)) <= INR m * b ^ 2).
  { intros k K. apply total_size. intros s M. destruct (H s M) as [A _]. specialize (K s M).
    rewrite Rabs_mult. simpl. rewrite Rmult_1_r. apply Rmult_le_compat; try apply Rabs_pos; assumption. }
  assert (A := T k1 (fun s M => proj1 (proj2 (H s M)))). assert (B := T k2 (fun s M => proj2 (proj2 (H s M)))).
  assert (D := Rabs_triang (total m (fun s => q s * k1 s)) (- total m (fun s => q s * k2 s))).
  rewrite Rabs_Ropp in D. unfold Rminus at 1. lra.
Qed.
