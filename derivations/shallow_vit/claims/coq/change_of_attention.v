(* odds of own tokens against all others together, off by a factor f between 1/(1 + R) and 1 + R; a step makes them grow by 1 + E_1, a mean of e to what the
   gaps of logits to single tokens grow by *)
Theorem change_and_printed_bounds : forall b c w K E_1 R f, 0 < b -> 0 < c -> 0 < w -> 0 < K -> 0 < R -> K / 2 <= E_1 -> / (1 + R) <= f <= 1 + R ->
  printed_own b c w K E_1 <= 2 * (1 + R) * change_own b c (w * f) E_1 /\
  2 * (1 + R) * change_other b c (w * f) E_1 <= printed_other b c w K E_1.
Proof.
  intros b c w K E R f B C W P Q H F. assert (I : 0 < / (1 + R)) by (apply Rinv_0_lt_compat; lra). assert (E0 : 0 < E) by lra. assert (f0 : 0 < f) by lra.
  assert (cw : 0 < c * w) by (apply Rmult_lt_0_compat; lra). assert (cwf : 0 < c * w * f) by (apply Rmult_lt_0_compat; lra).
  assert (cwE : 0 < c * w * E) by (apply Rmult_lt_0_compat; lra). assert (cwfE : 0 < c * w * f * E) by (apply Rmult_lt_0_compat; lra).
  set (U := c * w * f * (1 + E) + b). set (V := c * w * f + b). set (X := c * w * (1 + E) + b).
  assert (U0 : 0 < U) by (unfold U; lra). assert (V0 : 0 < V) by (unfold V; lra). assert (X0 : 0 < X) by (unfold X; lra).
  assert (key : U * V <= (1 + R) * f * (X * X)).
  { assert (one : (1 + R) * / (1 + R) = 1) by (field; lra). assert (g1 : 1 <= (1 + R) * f) by (apply Rle_trans with ((1 + R) * / (1 + R)); [ lra | apply Rmult_le_compat_l; lra ]).
    destruct (Rle_lt_dec f 1) as [le|gt].
    - assert (u : U <= X) by (unfold U, X; assert (c * w * f * (1 + E) <= c * w * 1 * (1 + E)) by (apply Rmult_le_compat_r; [ lra | apply Rmult_le_compat_l; lra ]); lra).
      assert (v : V <= X) by (unfold V, X; assert (c * w * f <= c * w * 1) by (apply Rmult_le_compat_l; lra); lra).
      apply Rle_trans with (1 * (X * X)); [ rewrite Rmult_1_l; apply Rmult_le_compat; lra | apply Rmult_le_compat_r; [ apply Rmult_le_pos; lra | exact g1 ] ].
    - assert (bf : b * 1 <= b * f) by (apply Rmult_le_compat_l; lra).
      assert (u : U <= f * X) by (unfold U, X; lra).
      assert (v : V <= f * X) by (unfold V, X; assert (0 < f * (c * w * E)) by (apply Rmult_lt_0_compat; lra); lra).
      apply Rle_trans with (f * X * (f * X)); [ apply Rmult_le_compat; lra | ].
      replace (f * X * (f * X)) with (f * (f * (X * X))) by ring. rewrite Rmult_assoc. apply Rmult_le_compat_r; [ | lra ].
      apply Rmult_le_pos; [ lra | apply Rmult_le_pos; lra ]. }
  assert (UV : 0 < U * V) by (apply Rmult_lt_0_compat; assumption). assert (XX : 0 < X * X) by (apply Rmult_lt_0_compat; assumption).
  assert (main : w * K / (X * X) <= 2 * (1 + R) * (w * f * E / (U * V))).
  { apply Rmult_le_reg_r with (U * V * (X * X)); [ apply Rmult_lt_0_compat; assumption | ].
    replace (w * K / (X * X) * (U * V * (X * X))) with (w * (K * (U * V))) by (field; lra).
    replace (2 * (1 + R) * (w * f * E / (U * V)) * (U * V * (X * X))) with (w * (2 * E * ((1 + R) * f * (X * X)))) by (field; lra).
    apply Rmult_le_compat_l; [ lra | ]. apply Rmult_le_compat; lra. }
  split.
  - replace (printed_own b c w K E) with (b * (w * K / (X * X))) by (unfold printed_own, X; field; fold X; lra).
    replace (change_own b c (w * f) E) with (b * (w * f * E / (U * V))) by (unfold change_own, U, V; field; unfold U, V in *; lra).
    replace (2 * (1 + R) * (b * (w * f * E / (U * V)))) with (b * (2 * (1 + R) * (w * f * E / (U * V)))) by ring. apply Rmult_le_compat_l; lra.
  - replace (printed_other b c w K E) with (- (c * (w * K / (X * X)))) by (unfold printed_other, X; field; fold X; lra).
    replace (change_other b c (w * f) E) with (- (c * (w * f * E / (U * V)))) by (unfold change_other, U, V; field; unfold U, V in *; lra).
    assert (c * (w * K / (X * X)) <= c * (2 * (1 + R) * (w * f * E / (U * V)))) by (apply Rmult_le_compat_l; lra). lra.
Qed.
