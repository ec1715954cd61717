(* Rules of differentiation in the form that files of derivations use. Nothing is assumed here. *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Coquelicot.
From Odesys Require Import prelude.
Open Scope R_scope.

(* the derivative of f at x is a *)
Definition derivative (f : R -> R) (x a : R) : Prop := is_derive f x a.

Lemma D_cast : forall (f : R -> R) (x a b : R), derivative f x a -> a = b -> derivative f x b.
Proof. intros f x a b H E. subst. exact H. Qed.

Lemma exp_inverse : forall x, exp x * / exp x = 1.
Proof. intro x. apply Rinv_r. assert (P := exp_pos x). lra. Qed.

Lemma D_none : forall (c x : R), derivative (fun _ : R => c) x 0.
Proof. intros. apply (is_derive_const c x). Qed.

Lemma D_id : forall x : R, derivative (fun x : R => x) x 1.
Proof. intro x. apply (is_derive_id x). Qed.

Lemma D_plus : forall (f g : R -> R) (x a b : R), derivative f x a -> derivative g x b -> derivative (fun x => f x + g x) x (a + b).
Proof. intros. apply (is_derive_plus f g x a b); assumption. Qed.

Lemma D_plus_l : forall (f : R -> R) (c x a : R), derivative f x a -> derivative (fun x => f x + c) x a.
Proof. intros. eapply D_cast; [ apply (D_plus f (fun _ => c)); [ eassumption | apply D_none ] | ring ]. Qed.

Lemma D_plus_r : forall (f : R -> R) (c x a : R), derivative f x a -> derivative (fun x => c + f x) x a.
Proof. intros. eapply D_cast; [ apply (D_plus (fun _ => c) f); [ apply D_none | eassumption ] | ring ]. Qed.

Lemma D_opp : forall (f : R -> R) (x a : R), derivative f x a -> derivative (fun x => - f x) x (- a).
Proof. intros. apply (is_derive_opp f x a); assumption. Qed.

Lemma D_mult : forall (f g : R -> R) (x a b : R),
  derivative f x a -> derivative g x b -> derivative (fun x => f x * g x) x (a * g x + f x * b).
Proof. intros. apply (is_derive_mult f g x a b); [ assumption | assumption | intros; apply Rmult_comm ]. Qed.

Lemma D_mult_l : forall (f : R -> R) (c x a : R), derivative f x a -> derivative (fun x => f x * c) x (a * c).
Proof. intros. eapply D_cast; [ apply (D_mult f (fun _ => c)); [ eassumption | apply D_none ] | ring ]. Qed.

Lemma D_mult_r : forall (f : R -> R) (c x a : R), derivative f x a -> derivative (fun x => c * f x) x (c * a).
Proof. intros. eapply D_cast; [ apply (D_mult (fun _ => c) f); [ apply D_none | eassumption ] | ring ]. Qed.

Lemma D_exp : forall (f : R -> R) (x a : R), derivative f x a -> derivative (fun x => exp (f x)) x (exp (f x) * a).
Proof.
  intros f x a H. eapply D_cast; [ apply (is_derive_comp exp f x (exp (f x)) a); [ apply is_derive_exp | exact H ] | ].
  unfold scal; simpl; unfold mult; simpl; ring.
Qed.

Lemma D_inv : forall (f : R -> R) (x a : R), derivative f x a -> f x <> 0 -> derivative (fun x => / f x) x (- a * / f x * / f x).
Proof.
  intros f x a H N. eapply D_cast; [ apply (is_derive_inv f x a); assumption | ]. field. exact N.
Qed.

Lemma D_inv_exp : forall (f : R -> R) (x a : R), derivative f x a -> derivative (fun x => / exp (f x)) x (- (/ exp (f x)) * a).
Proof.
  intros f x a H. assert (P := exp_pos (f x)).
  eapply D_cast; [ apply (D_inv (fun x => exp (f x))); [ apply D_exp; exact H | lra ] | ]. field. lra.
Qed.

Lemma D_softplus : forall (f : R -> R) (x a : R), derivative f x a -> derivative (fun x => softplus (f x)) x (sigmoid (f x) * a).
Proof.
  intros f x a H. assert (P := exp_pos (f x)). unfold softplus.
  eapply D_cast.
  - apply (is_derive_comp ln (fun x => 1 + exp (f x)) x (/ (1 + exp (f x))) (exp (f x) * a)).
    + apply is_derive_ln. lra.
    + apply D_plus_r. apply D_exp. exact H.
  - unfold scal; simpl; unfold mult; simpl. unfold sigmoid. rewrite exp_Ropp. field. lra.
Qed.

Lemma D_locally : forall (f g : R -> R) (x a : R), locally x (fun y => g y = f y) -> derivative f x a -> derivative g x a.
Proof.
  intros f g x a E H. apply (is_derive_ext_loc f); [ | exact H ].
  revert E. apply filter_imp. intros y K. symmetry. exact K.
Qed.

(* a unit off its kink: the gate counts as a constant *)
Lemma D_gate : forall (f : R -> R) (x a : R), derivative f x a -> f x <> 0 -> derivative (fun x => step (f x) * f x) x (step (f x) * a).
Proof.
  intros f x a H N.
  assert (C : filterlim f (locally x) (locally (f x))).
  { apply (ex_derive_continuous f x). exists a. exact H. }
  destruct (Rlt_dec 0 (f x)) as [P|P].
  - rewrite (step_on _ P). apply (D_locally (fun x => 1 * f x)).
    + assert (L : locally x (fun y => 0 < f y)) by exact (C (fun u => 0 < u) (open_gt 0 (f x) P)).
      revert L. apply filter_imp. intros y Q. now rewrite (step_on _ Q).
    + apply D_mult_r. exact H.
  - assert (Q : f x < 0) by lra. rewrite (step_off (f x)) by lra. rewrite Rmult_0_l.
    apply (D_locally (fun _ => 0)).
    + assert (L : locally x (fun y => f y < 0)) by exact (C (fun u => u < 0) (open_lt 0 (f x) Q)).
      revert L. apply filter_imp. intros y K. rewrite (step_off (f y)) by lra. ring.
    + apply D_none.
Qed.

Lemma D_gate_r : forall (f : R -> R) (x a : R), derivative f x a -> f x <> 0 -> derivative (fun x => f x * step (f x)) x (step (f x) * a).
Proof.
  intros f x a H N. apply (is_derive_ext (fun x => step (f x) * f x)); [ intro; apply Rmult_comm | ].
  apply D_gate; assumption.
Qed.
