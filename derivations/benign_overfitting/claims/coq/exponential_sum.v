From Odesys Require Import sequences.

(* R is d_h^(1/2), L is log(6N^2M^2/delta), and |x_0| <= 1/2 stands for o(1) *)
Theorem logarithm_of_the_sum : forall x_0 x_1 R0 L : R,
  2 <= L -> 4 * L <= R0 -> - (1 / 2) <= x_0 <= 1 / 2 -> exp x_1 - exp x_0 <= R0 / L ^ 2 ->
  x_1 <= ln (printed x_0 R0 L) /\ ln (printed x_0 R0 L) <= ln R0.
Proof.
  intros x_0 x_1 R0 L HL HR HX H.
  assert (A : exp x_0 <= x_0 + 2).
  { assert (B := exp_at_least (- x_0)). assert (P := exp_pos x_0). rewrite exp_Ropp in B.
    assert (C : exp x_0 * (1 - x_0) <= 1).
    { apply Rmult_le_compat_l with (r := exp x_0) in B; [ | lra ]. rewrite Rinv_r in B by lra. lra. }
    nra. }
  assert (Q : 4 <= R0 / L) by (apply Rmult_le_reg_r with L; [ lra | unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; lra ]).
  assert (S : R0 / L ^ 2 <= R0 / L / 2).
  { apply Rmult_le_reg_r with (2 * L ^ 2); [ nra | ].
    replace (R0 / L ^ 2 * (2 * L ^ 2)) with (2 * R0) by (field; lra).
    replace (R0 / L / 2 * (2 * L ^ 2)) with (R0 * L) by (field; lra). nra. }
  assert (T : R0 / L <= R0 / 2).
  { apply Rmult_le_reg_r with (2 * L); [ lra | ].
    replace (R0 / L * (2 * L)) with (2 * R0) by (field; lra). replace (R0 / 2 * (2 * L)) with (R0 * L) by field. nra. }
  assert (F : printed x_0 R0 L = x_0 + R0 / L) by (unfold printed; field; lra).
  rewrite F. assert (E := exp_pos x_1). split.
  - rewrite <- (ln_exp x_1). assert (G : exp x_1 <= x_0 + R0 / L) by lra.
    destruct G as [G|G]; [ apply Rlt_le, ln_increasing; lra | rewrite <- G; lra ].
  - assert (G : x_0 + R0 / L <= R0) by lra. destruct G as [G|G]; [ apply Rlt_le, ln_increasing; lra | rewrite G; lra ].
Qed.
