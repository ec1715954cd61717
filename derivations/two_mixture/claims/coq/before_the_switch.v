From Coquelicot Require Import Coquelicot.

(* stage 1 on the symmetric states from its start, n_c = n_v = 0, as long as the units of X_{k,-s,-s} in head s are on: before T they are, at T they may go
   off. Rates are the derived ones with their gates; T_half is the printed T_0.5 = Theta(1), a number of b alone *)
Section before.
Variables (n_c n_v : R -> R) (b T : R).
Hypotheses (bias : 0 < b) (some : 0 < T).
Hypothesis continuous : forall t, 0 <= t <= T -> continuity_pt n_c t /\ continuity_pt n_v t.
Hypothesis rates : forall t, 0 < t < T -> is_derive n_c t (orbit_n_c (n_c t) (n_v t) b) /\ is_derive n_v t (orbit_n_v (n_c t) (n_v t) b).
Hypothesis start : n_c 0 = 0 /\ n_v 0 = 0.
Hypothesis on : forall t, 0 <= t < T -> 0 < b + n_c t - 2 * n_v t.

Lemma sigmoid_above : forall x, 0 < sigmoid x.
Proof. intro x. unfold sigmoid. assert (P := exp_pos (- x)). apply Rinv_0_lt_compat. lra. Qed.

Lemma n_v_not_negative : forall t, 0 <= t <= T -> 0 <= n_v t.
Proof.
  intros t [t0 t1]. destruct (MVT_gen n_v 0 t (fun s => orbit_n_v (n_c s) (n_v s) b)) as (z & _ & E).
  - intros s S. rewrite Rmin_left, Rmax_right in S by lra. apply rates. lra.
  - intros s S. rewrite Rmin_left, Rmax_right in S by lra. apply continuous. lra.
  - assert (P : 0 <= orbit_n_v (n_c z) (n_v z) b).
    { unfold orbit_n_v, step. repeat match goal with |- context [Rlt_dec ?x ?y] => destruct (Rlt_dec x y) end;
        match goal with |- context [sigmoid ?x] => assert (Q := sigmoid_above x); generalize dependent (sigmoid x); intros end; lra. }
    destruct start as [_ S]. rewrite S in E. nra.
Qed.

Lemma rates_before : forall t, 0 < t < T -> orbit_n_c (n_c t) (n_v t) b = 0 /\ orbit_n_v (n_c t) (n_v t) b = / 2 * / (1 + exp (4 * n_v t)).
Proof.
  intros t S. assert (V := n_v_not_negative t ltac:(lra)). assert (U := on t ltac:(lra)). unfold orbit_n_c, orbit_n_v.
  rewrite !(step_on (b + n_c t + 2 * n_v t)) by lra. rewrite !(step_on (b + n_c t + -2 * n_v t)) by lra.
  assert (Q : forall x, x = - (4 * n_v t) -> sigmoid x = / (1 + exp (4 * n_v t))) by (intros x ->; unfold sigmoid; rewrite Ropp_involutive; reflexivity).
  rewrite !(Q (- (1 * (b + n_c t + 2 * n_v t)) + (b + n_c t + -2 * n_v t) * 1)) by ring. split; field; assert (P := exp_pos (4 * n_v t)); lra.
Qed.

Lemma solved : forall t, 0 <= t <= T -> n_c t = 0 /\ 4 * n_v t + exp (4 * n_v t) = 1 + 2 * t.
Proof.
  intros t [t0 t1]. destruct start as [C0 V0]. split.
  - destruct (MVT_gen n_c 0 t (fun _ => 0)) as (z & _ & E); [ | | lra ].
    + intros s S. rewrite Rmin_left, Rmax_right in S by lra. destruct (rates_before s ltac:(lra)) as [A _]. rewrite <- A. apply rates. lra.
    + intros s S. rewrite Rmin_left, Rmax_right in S by lra. apply continuous. lra.
  - destruct (MVT_gen (fun s => 4 * n_v s + exp (4 * n_v s)) 0 t (fun _ => 2)) as (z & _ & E).
    + intros s S. rewrite Rmin_left, Rmax_right in S by lra. destruct (rates s ltac:(lra)) as [_ D]. destruct (rates_before s ltac:(lra)) as [_ A]. rewrite A in D.
      assert (P := exp_pos (4 * n_v s)). auto_derive.
      * repeat split; exists (/ 2 * / (1 + exp (4 * n_v s))); exact D.
      * match goal with |- context [Derive ?h s] => replace (Derive h s) with (/ 2 * / (1 + exp (4 * n_v s))) by (symmetry; apply is_derive_unique, D) end. field. lra.
    + intros s S. rewrite Rmin_left, Rmax_right in S by lra. destruct (continuous s ltac:(lra)) as [_ B].
      apply (continuity_pt_plus (fun s => 4 * n_v s) (fun s => exp (4 * n_v s))); [ apply continuity_pt_scal, B | ].
      apply (continuity_pt_comp (fun s => 4 * n_v s) exp); [ apply continuity_pt_scal, B | apply derivable_continuous_pt, derivable_pt_exp ].
    + rewrite V0, Rmult_0_r, exp_0 in E. lra.
Qed.

Lemma same_sum : forall x y, x + exp x = y + exp y -> x = y.
Proof.
  intros x y H. destruct (Rtotal_order x y) as [L|[L|L]]; [ assert (E := exp_increasing _ _ L); lra | exact L | assert (E := exp_increasing _ _ L); lra ].
Qed.

(* Corollary D.3: the units go off at T_half, and not before; there n_c = 0 and n_v = b/2 *)
Theorem crossing_at_T_half : 0 < T_half b /\ T <= T_half b /\ (b + n_c T - 2 * n_v T = 0 <-> T = T_half b) /\ (T = T_half b -> n_c T = 0 /\ n_v T = b / 2).
Proof.
  assert (E := exp_increasing 0 (2 * b) ltac:(lra)). rewrite exp_0 in E.
  assert (P : 0 < T_half b) by (unfold T_half; lra). assert (H : 1 + 2 * T_half b = 2 * b + exp (2 * b)) by (unfold T_half; lra).
  assert (L : T <= T_half b).
  { apply Rnot_lt_le. intro L. destruct (solved (T_half b) ltac:(lra)) as [C V]. assert (U := on (T_half b) ltac:(lra)). rewrite C in U.
    assert (X := exp_increasing (4 * n_v (T_half b)) (2 * b) ltac:(lra)). lra. }
  destruct (solved T ltac:(lra)) as [C V]. rewrite C. split; [ exact P | split; [ exact L | split ] ].
  - split; intro S.
    + replace (4 * n_v T) with (2 * b) in V by lra. lra.
    + assert (W : 4 * n_v T = 2 * b) by (apply same_sum; lra). lra.
  - intro S. assert (W : 4 * n_v T = 2 * b) by (apply same_sum; lra). split; [ reflexivity | lra ].
Qed.
End before.
