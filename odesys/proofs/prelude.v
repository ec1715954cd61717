(* What the files of proofs share: functions that are not in the library, and tactics for signs.
   Nothing is assumed here: there is no Axiom and no Admitted. *)
From Coq Require Import Reals Lra Psatz.
Open Scope R_scope.

Definition sigmoid (x : R) : R := / (1 + exp (- x)).
Definition softplus (x : R) : R := ln (1 + exp x).
Definition step (x : R) : R := if Rlt_dec 0 x then 1 else 0.

Lemma exp_above_one : forall x, 0 < x -> 0 < exp x - 1.
Proof. intros x H. assert (L := exp_increasing 0 x H). rewrite exp_0 in L. lra. Qed.

Lemma sigmoid_opposite : forall x, sigmoid (- x) = 1 - sigmoid x.
Proof.
  intro x. unfold sigmoid. rewrite Ropp_involutive, exp_Ropp.
  assert (P := exp_pos x). field. split; lra.
Qed.

Lemma step_square : forall x, step x * step x = step x.
Proof. intro x. unfold step. destruct (Rlt_dec 0 x); lra. Qed.

Lemma step_not_negative : forall x, 0 <= step x.
Proof. intro x. unfold step. destruct (Rlt_dec 0 x); lra. Qed.

Lemma one_and_rest : forall x, x = 1 + (x - 1).
Proof. intro x. ring. Qed.

Lemma step_on : forall x, 0 < x -> step x = 1.
Proof. intros x H. unfold step. destruct (Rlt_dec 0 x); lra. Qed.

Lemma step_off : forall x, x <= 0 -> step x = 0.
Proof. intros x H. unfold step. destruct (Rlt_dec 0 x); lra. Qed.

Lemma step_scaled : forall k a b, 0 < k -> a = k * b -> step a = step b.
Proof.
  intros k a b K E. unfold step. subst a.
  destruct (Rlt_dec 0 (k * b)) as [P|P], (Rlt_dec 0 b) as [Q|Q]; try reflexivity; exfalso.
  - apply Q. apply Rmult_lt_reg_l with k; lra.
  - apply P. apply Rmult_lt_0_compat; lra.
Qed.

Lemma exp_opposite : forall a b, a = - b -> exp a = / exp b.
Proof. intros a b E. rewrite E. apply exp_Ropp. Qed.

Lemma sqrt_positive_square : forall x, 0 < x -> sqrt x * sqrt x = x.
Proof. intros x H. apply sqrt_sqrt. lra. Qed.

Lemma sqrt_is : forall x y, 0 < y -> y * y = x -> sqrt x = y.
Proof. intros x y P E. subst x. apply sqrt_square. lra. Qed.

Lemma plus_positive : forall a b, 0 < a -> 0 <= b -> 0 < a + b. Proof. intros; lra. Qed.
Lemma positive_plus : forall a b, 0 <= a -> 0 < b -> 0 < a + b. Proof. intros; lra. Qed.
Lemma less_by_gap : forall a b g, g = b - a -> 0 < g -> a < b. Proof. intros; lra. Qed.
Lemma at_most_by_gap : forall a b g, g = b - a -> 0 <= g -> a <= b. Proof. intros; lra. Qed.
Lemma nonzero_positive : forall a, 0 < a -> a <> 0. Proof. intros; lra. Qed.

(* signs that can be read off *)
Ltac nonneg :=
  match goal with
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; nonneg
  | |- 0 <= _ * _ => apply Rmult_le_pos; nonneg
  | |- 0 <= _ ^ _ => apply pow_le; nonneg
  | |- 0 <= / _ => apply Rlt_le, Rinv_0_lt_compat; pos
  | |- 0 <= exp _ => apply Rlt_le, exp_pos
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= _ => first [ assumption | apply Rlt_le; assumption | lra ]
  end
with pos :=
  match goal with
  | |- 0 < _ + _ =>
      first [ apply plus_positive; [ solve [ pos ] | solve [ nonneg ] ]
            | apply positive_plus; [ solve [ nonneg ] | solve [ pos ] ] | lra ]
  | |- 0 < _ * _ => first [ apply Rmult_lt_0_compat; solve [ pos ] | lra ]
  | |- 0 < _ ^ _ => apply pow_lt; pos
  | |- 0 < / _ => apply Rinv_0_lt_compat; pos
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; pos
  | |- 0 < Rpower _ _ => apply exp_pos
  | |- 0 < _ => first [ assumption | lra ]
  end.

(* a condition of ``field`` is a known divisor, or a multiple of it *)
Ltac by_factor :=
  match goal with
  | H : ?d <> 0 |- ?x <> 0 => replace x with d by (field; repeat split; assumption); exact H
  | H : ?d <> 0, K : ?m <> 0 |- ?x <> 0 =>
      replace x with (d * m) by (field; repeat split; assumption);
      apply Rmult_integral_contrapositive_currified; assumption
  end.

Ltac by_multiple :=
  match goal with H : ?d <> 0 |- ?x <> 0 => let E := fresh in intro E; apply H; lra end.

(* or what stands above the fraction bar of a known divisor, but for a number *)
Ltac by_numerator :=
  match goal with
  | H : ?m <> 0 |- ?x <> 0 =>
      let E := fresh in intro E; apply H; field_simplify_eq;
      [ lra | repeat match goal with |- _ /\ _ => split end; first [ assumption | by_multiple | by_factor ] .. ]
  end.

Ltac nonzero :=
  repeat match goal with |- _ /\ _ => split end;
  try assumption;
  try solve [ apply nonzero_positive; pos ];
  try solve [ lra ];
  try solve [ apply not_eq_sym; assumption ];
  try solve [ by_multiple ];
  try solve [ by_factor ];
  try solve [ by_numerator ].
