From Coquelicot Require Import Coquelicot.
From Odesys Require Import sequences.

(* loss over slope of the logistic loss, with the margin u *)
Lemma ratio_form : forall u, ratio u = ln (1 + exp (- u)) * (1 + exp u).
Proof.
  intro u. unfold ratio, softplus, sigmoid. rewrite ?Ropp_involutive. field.
  assert (P := exp_pos u). lra.
Qed.

Lemma log_bounds : forall y, 0 < y -> y - y * y <= ln (1 + y) <= y.
Proof.
  intros y Y. split.
  - assert (A := exp_at_least (- ln (1 + y))). rewrite exp_Ropp, exp_ln in A by lra.
    assert (B : / (1 + y) <= 1 - y + y * y).
    { apply Rmult_le_reg_r with (1 + y); [ lra | rewrite Rinv_l by lra; nra ]. }
    lra.
  - assert (A := exp_at_least (ln (1 + y))). rewrite exp_ln in A by lra. lra.
Qed.

(* the derivative, which the engine has, is the derivative *)
Theorem slope_is_the_derivative : forall u, is_derive ratio u (slope u).
Proof.
  intro u. assert (P := exp_pos u). assert (Q := exp_pos (- u)).
  apply is_derive_ext with (fun v => ln (1 + exp (- v)) * (1 + exp v)); [ intro v; symmetry; apply ratio_form | ].
  auto_derive; [ lra | ]. unfold slope. rewrite exp_Ropp in *. field; lra.
Qed.

Theorem slope_is_at_most_zero : forall u, slope u <= 0.
Proof.
  intro u. assert (P := exp_pos u). assert (Q := exp_pos (- u)). unfold slope. rewrite <- ?exp_Ropp.
  destruct (log_bounds (exp (- u)) Q) as [_ B]. assert (E : exp u * exp (- u) = 1) by (rewrite exp_Ropp; field; lra). nra.
Qed.

Theorem value_at_zero : ratio 0 = 2 * ln 2.
Proof. rewrite ratio_form, Ropp_0, exp_0. replace (1 + 1) with 2 by ring. ring. Qed.

(* the limit at infinity is 1 *)
Theorem limit_is_one : is_lim ratio p_infty 1.
Proof.
  apply (is_lim_le_le_loc (fun u => 1 - exp (- u)) (fun u => 1 + exp (- u))).
  - exists 0. intros u U. assert (Q := exp_pos (- u)). destruct (log_bounds (exp (- u)) Q) as [A B].
    assert (P := exp_pos u). assert (E : exp u * exp (- u) = 1) by (rewrite exp_Ropp; field; lra).
    assert (F : exp (- u) < 1) by (rewrite <- exp_0; apply exp_increasing; lra).
    rewrite ratio_form. split; nra.
  - replace (Finite 1) with (Rbar_minus 1 0) by (simpl; f_equal; ring). apply is_lim_minus'.
    + apply is_lim_const.
    + apply (is_lim_comp exp Ropp p_infty 0 m_infty); [ apply is_lim_exp_m | apply (is_lim_opp (fun x => x) p_infty p_infty), is_lim_id | ].
      exists 0. intros; discriminate.
  - replace (Finite 1) with (Rbar_plus 1 0) by (simpl; f_equal; ring). apply is_lim_plus'.
    + apply is_lim_const.
    + apply (is_lim_comp exp Ropp p_infty 0 m_infty); [ apply is_lim_exp_m | apply (is_lim_opp (fun x => x) p_infty p_infty), is_lim_id | ].
      exists 0. intros; discriminate.
Qed.

(* so that the loss is between its slope and 2 ln 2 times it *)
Theorem between : forall u, 0 < u -> 1 <= ratio u <= 2 * ln 2.
Proof.
  intros u U. split.
  - rewrite ratio_form. assert (Q := exp_pos (- u)). assert (P := exp_pos u).
    assert (E : exp u * exp (- u) = 1) by (rewrite exp_Ropp; field; lra).
    assert (A := exp_at_least (- ln (1 + exp (- u)))). rewrite (exp_Ropp (ln _)), exp_ln in A by lra.
    assert (B : / (1 + exp (- u)) * (1 + exp u) = exp u).
    { apply Rmult_eq_reg_r with (1 + exp (- u)); [ | lra ].
      replace (/ (1 + exp (- u)) * (1 + exp u) * (1 + exp (- u))) with (1 + exp u) by (field; lra). lra. }
    nra.
  - rewrite <- value_at_zero.
    destruct (MVT_gen ratio 0 u slope) as [c [_ H]].
    + intros; apply slope_is_the_derivative.
    + intros. apply derivable_continuous_pt. exists (slope x). apply is_derive_Reals, slope_is_the_derivative.
    + assert (N := slope_is_at_most_zero c). rewrite Rminus_0_r in H. nra.
Qed.
