(* g of a sample, and the printed sum over k' in {1, 2} and s = s', over 8 *)
Definition g (margin : R) : R := / (1 + exp margin).
Definition printed_sum : R :=
  / 8 * (g (at_state margin_1_p_p) + g (at_state margin_1_m_m) + g (at_state margin_2_p_p) + g (at_state margin_2_m_m)).

Lemma g_of : forall x, g x = sigmoid (- x).
Proof. intro x. unfold g, sigmoid. rewrite Ropp_involutive. reflexivity. Qed.

(* Lemma D.1, of both heads and both groups *)
Theorem classification_neurons : forall n_c n_v, symmetric n_c n_v -> all_units_on ->
  at_state rate_p_v1 = printed_sum /\ at_state rate_p_v2 = printed_sum /\
  at_state rate_m_v1 = - printed_sum /\ at_state rate_m_v2 = - printed_sum /\ orbit_n_v n_c n_v b = printed_sum.
Proof.
  intros n_c n_v (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8) on. unfold all_units_on, printed_sum, at_state in *. rewrite !g_of.
  unfold unit_p_1_p_p, unit_p_1_p_m, unit_p_1_m_p, unit_p_1_m_m, unit_p_2_p_p, unit_p_2_p_m, unit_p_2_m_p, unit_p_2_m_m, unit_m_1_p_p, unit_m_1_p_m,
    unit_m_1_m_p, unit_m_1_m_m, unit_m_2_p_p, unit_m_2_p_m, unit_m_2_m_p, unit_m_2_m_m in on. unfold margin_1_p_p, margin_1_m_m, margin_2_p_p,
    margin_2_m_m, rate_p_v1, rate_p_v2, rate_m_v1, rate_m_v2, orbit_n_v.
  rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8 in *. decompose [and] on; clear on.
  repeat match goal with |- context [step ?x] => rewrite (step_on x) by lra end.
  assert (F : forall x, x = -4 * n_v -> sigmoid x = sigmoid (-4 * n_v)) by (intros x ->; reflexivity).
  assert (Z : forall x, x = 0 -> sigmoid x = sigmoid 0) by (intros x ->; reflexivity).
  generalize dependent (sigmoid (-4 * n_v)). generalize dependent (sigmoid 0). intros zero Z same F.
  repeat match goal with |- context [sigmoid ?x] => first [ rewrite (F x) by ring | rewrite (Z x) by ring ] end.
  repeat split; field.
Qed.
End stage_one.
