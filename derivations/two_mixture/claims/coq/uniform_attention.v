(* margin_k_s_r is y f(X_{k,s,r}) with ReLU and the bias b where all scores are zero, so that the attention is uniform; s and r are p for +, m for - *)
Lemma larger_head : forall x y, 0 < step x * x - step y * y -> y < x.
Proof. intros x y. unfold step. destruct (Rlt_dec 0 x), (Rlt_dec 0 y); lra. Qed.

(* Lemma 5.4: no neurons w_+, w_- and no bias *)
Theorem not_separable : ~ exists w_p_c1 w_p_c2 w_p_v1 w_p_v2 w_m_c1 w_m_c2 w_m_v1 w_m_v2 b : R,
  let positive (margin : R -> R -> R -> R -> R -> R -> R -> R -> R -> R) := 0 < margin w_p_c1 w_p_c2 w_p_v1 w_p_v2 w_m_c1 w_m_c2 w_m_v1 w_m_v2 b in
  positive margin_1_p_m /\ positive margin_1_m_p /\ positive margin_2_p_m /\ positive margin_2_m_p.
Proof.
  intros (w_p_c1 & w_p_c2 & w_p_v1 & w_p_v2 & w_m_c1 & w_m_c2 & w_m_v1 & w_m_v2 & b & A & B & C & D).
  unfold margin_1_p_m, margin_1_m_p, margin_2_p_m, margin_2_m_p in *.
  assert (first : forall x y z, 0 < z -> z = step x * x - step y * y -> y < x) by (intros x y z Z ->; apply larger_head; lra).
  assert (A' := first (b + w_p_c1 + w_p_v1 + - w_p_v2) (b + w_m_c1 + w_m_v1 + - w_m_v2) _ A ltac:(ring)).
  assert (B' := first (b + w_m_c1 + - w_m_v1 + w_m_v2) (b + w_p_c1 + - w_p_v1 + w_p_v2) _ B ltac:(ring)).
  assert (C' := first (b + w_p_c2 + - w_p_v1 + w_p_v2) (b + w_m_c2 + - w_m_v1 + w_m_v2) _ C ltac:(ring)).
  assert (D' := first (b + w_m_c2 + w_m_v1 + - w_m_v2) (b + w_p_c2 + w_p_v1 + - w_p_v2) _ D ltac:(ring)). lra.
Qed.
