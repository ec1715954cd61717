From Coquelicot Require Import Coquelicot.

(* stage 1 from T0 = T_0.5 to T1 on the symmetric states: n_c is w_+'c_k and n_v is w_+'v_k. They are continuous and move by the derived rates with their
   gates; at T0, where the units of X_{k,-,-} go off, they are start_n_c and start_n_v. T0 itself has one rate from the left and one from the right *)
Section flow.
Variables (n_c n_v : R -> R) (b T0 T1 : R).
Hypotheses (bias : 0 < b) (later : T0 < T1).
Hypothesis continuous : forall t, T0 <= t <= T1 -> continuity_pt n_c t /\ continuity_pt n_v t.
Hypothesis rates : forall t, T0 < t < T1 -> is_derive n_c t (orbit_n_c (n_c t) (n_v t) b) /\ is_derive n_v t (orbit_n_v (n_c t) (n_v t) b).
Hypothesis start : n_c T0 = start_n_c b /\ n_v T0 = start_n_v b.

Lemma sigmoid_range : forall x, 0 < sigmoid x <= 1.
Proof.
  intro x. unfold sigmoid. assert (P := exp_pos (- x)). split; [ apply Rinv_0_lt_compat; lra | ]. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
Qed.

Ltac by_gates := unfold orbit_n_c, orbit_n_v, step; repeat match goal with |- context [Rlt_dec ?x ?y] => destruct (Rlt_dec x y) end;
  repeat match goal with |- context [sigmoid ?x] => let P := fresh in assert (P := sigmoid_range x); generalize dependent (sigmoid x); intros end; lra.

(* a linear form of both whose rate is within low and high moves by no less and no more *)
Lemma moved : forall p q low high t, T0 <= t <= T1 ->
  (forall s, T0 <= s <= t -> low <= p * orbit_n_c (n_c s) (n_v s) b + q * orbit_n_v (n_c s) (n_v s) b <= high) ->
  low * (t - T0) <= p * n_c t + q * (n_v t - b / 2) <= high * (t - T0).
Proof.
  intros p q low high t [t0 t1] bounds. set (rate := fun s => p * orbit_n_c (n_c s) (n_v s) b + q * orbit_n_v (n_c s) (n_v s) b).
  destruct (MVT_gen (fun s => p * n_c s + q * n_v s) T0 t rate) as (z & Z & E).
  - intros s S. rewrite Rmin_left, Rmax_right in S by lra. destruct (rates s ltac:(lra)) as [A B].
    apply (is_derive_plus (fun s => p * n_c s) (fun s => q * n_v s)); apply is_derive_scal; assumption.
  - intros s S. rewrite Rmin_left, Rmax_right in S by lra. destruct (continuous s ltac:(lra)) as [A B].
    apply (continuity_pt_plus (fun s => p * n_c s) (fun s => q * n_v s)); apply continuity_pt_scal; assumption.
  - rewrite Rmin_left, Rmax_right in Z by lra. destruct start as [E1 E2]. unfold start_n_c, start_n_v in *. rewrite E1, E2 in E.
    replace (p * n_c t + q * (n_v t - b / 2)) with (rate z * (t - T0)) by lra. assert (B := bounds z Z). fold (rate z) in B.
    split; apply Rmult_le_compat_r; lra.
Qed.

(* neither falls, and the units of X_{k,-,-} stay off *)
Lemma not_below_start : forall t, T0 <= t <= T1 -> 0 <= n_c t /\ b / 2 <= n_v t /\ b + n_c t - 2 * n_v t <= 0.
Proof.
  assert (V : forall t, T0 <= t <= T1 -> b / 2 <= n_v t).
  { intros t T. assert (M := moved 0 1 0 (1 * 2) t T). assert (forall s, T0 <= s <= t -> 0 <= 0 * orbit_n_c (n_c s) (n_v s) b + 1 * orbit_n_v (n_c s) (n_v s) b <= 1 * 2).
    { intros s S. by_gates. } specialize (M H). nra. }
  intros t T. assert (C := moved 1 0 0 1 t T). assert (S := moved 1 (- 2) (- 2) 0 t T).
  assert (HC : forall s, T0 <= s <= t -> 0 <= 1 * orbit_n_c (n_c s) (n_v s) b + 0 * orbit_n_v (n_c s) (n_v s) b <= 1).
  { intros s R. assert (W := V s ltac:(lra)). by_gates. }
  assert (HS : forall s, T0 <= s <= t -> - 2 <= 1 * orbit_n_c (n_c s) (n_v s) b + - 2 * orbit_n_v (n_c s) (n_v s) b <= 0).
  { intros s R. assert (W := V s ltac:(lra)). by_gates. }
  specialize (C HC). specialize (S HS). specialize (V t T). repeat split; nra.
Qed.

Definition g (margin : R) : R := / (1 + exp margin).
Definition margin (t : R) : R := b + n_c t + 2 * n_v t.

Lemma rates_after : forall t, T0 <= t <= T1 -> orbit_n_c (n_c t) (n_v t) b = / 8 * g (margin t) /\ orbit_n_v (n_c t) (n_v t) b = / 4 * g (margin t) /\ 0 < margin t.
Proof.
  intros t T. destruct (not_below_start t T) as (C & V & S). assert (same : g (margin t) = sigmoid (- (b + n_c t + 2 * n_v t))).
  { unfold g, margin, sigmoid. rewrite Ropp_involutive. reflexivity. }
  rewrite same. unfold orbit_n_c, orbit_n_v. rewrite !(step_on (b + n_c t + 2 * n_v t)) by lra. rewrite !(step_off (b + n_c t + -2 * n_v t)) by lra.
  assert (Q : forall x, x = - (b + n_c t + 2 * n_v t) -> sigmoid x = sigmoid (- (b + n_c t + 2 * n_v t))) by (intros x ->; reflexivity).
  rewrite !(Q (- (1 * (b + n_c t + 2 * n_v t)) + (b + n_c t + -2 * n_v t) * 0)) by ring. unfold margin. repeat split; [ field | field | lra ].
Qed.

Lemma g_falls : forall x y, x <= y -> g y <= g x.
Proof.
  intros x y H. unfold g. assert (P := exp_pos x). apply Rinv_le_contravar; [ lra | ]. destruct H as [H|H]; [ assert (Q := exp_increasing x y H); lra | subst; lra ].
Qed.

Lemma g_range : forall x, 0 <= x -> 0 < g x <= / 2.
Proof.
  intros x H. unfold g. assert (P := exp_pos x). split; [ apply Rinv_0_lt_compat; lra | ]. apply Rinv_le_contravar; [ lra | ].
  assert (E := exp_ineq1_le x). lra.
Qed.
