From Odesys Require Import sequences.

(* F(t) at T is the premise on V_+; x is eta |mu|^2 |w_O|^2, T_2 = c_2/x, and epsilon is at most C_19/(2 c_2) *)
Theorem value_at_T : forall (V V_2 x eps C_17 C_19 c_2 : R),
  0 < x -> 0 < eps -> 0 < C_17 -> 0 < C_19 -> 0 < c_2 -> 2 * c_2 * eps <= C_19 ->
  ln (exp V_2 + C_17 * x * (T x eps C_19 - c_2 / x)) <= V ->
  ln (exp V_2 + C_20 C_17 C_19 / eps) <= V /\ ln (C_20 C_17 C_19 / eps) <= V.
Proof.
  intros V V_2 x eps C_17 C_19 c_2 X E A B C small H. assert (P := exp_pos V_2).
  assert (F : C_17 * x * (T x eps C_19 - c_2 / x) = C_17 * (C_19 / eps - c_2)) by (unfold T; field; lra).
  assert (G : C_20 C_17 C_19 / eps <= C_17 * (C_19 / eps - c_2)).
  { apply Rmult_le_reg_r with eps; [ exact E | ]. unfold C_20.
    replace (C_17 * (C_19 / eps - c_2) * eps) with (C_17 * (C_19 - c_2 * eps)) by (field; lra).
    match goal with |- ?l <= _ => replace l with (C_17 * C_19 / 2) by (field; lra) end. nra. }
  assert (Q : 0 < C_20 C_17 C_19 / eps) by (unfold C_20, Rdiv; pos).
  assert (mono : forall a b, 0 < a -> a <= b -> ln a <= ln b).
  { intros a b HA [L|L]; [ apply Rlt_le, ln_increasing; assumption | subst; lra ]. }
  rewrite F in H. split; (eapply Rle_trans; [ apply mono | exact H ]); lra.
Qed.

Theorem loss_is_small : forall f eps : R, 0 < eps -> ln (/ eps) <= f ->
  softplus (- f) <= exp (- f) /\ exp (- f) <= exp (- ln (/ eps)) /\ exp (- ln (/ eps)) <= eps.
Proof.
  intros f eps E H. assert (P := exp_pos (- f)). repeat split.
  - unfold softplus. rewrite <- (ln_exp (exp (- f))) at 2. assert (L := exp_at_least (exp (- f))).
    destruct L as [L|L]; [ apply Rlt_le, ln_increasing; lra | rewrite <- L; lra ].
  - destruct H as [H|H]; [ apply Rlt_le, exp_increasing; lra | rewrite H; lra ].
  - rewrite exp_Ropp, exp_ln by (apply Rinv_0_lt_compat, E). rewrite Rinv_inv. lra.
Qed.
