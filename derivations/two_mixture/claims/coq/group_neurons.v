(* Lemma D.2 and the second half of Lemma 5.2 *)
Theorem group_neurons : forall n_c n_v, symmetric n_c n_v -> all_units_on ->
  at_state rate_p_c1 = 0 /\ at_state rate_p_c2 = 0 /\ at_state rate_m_c1 = 0 /\ at_state rate_m_c2 = 0 /\ orbit_n_c n_c n_v b = 0.
Proof.
  intros n_c n_v (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8) on. unfold all_units_on, at_state in *.
  unfold unit_p_1_p_p, unit_p_1_p_m, unit_p_1_m_p, unit_p_1_m_m, unit_p_2_p_p, unit_p_2_p_m, unit_p_2_m_p, unit_p_2_m_m, unit_m_1_p_p, unit_m_1_p_m,
    unit_m_1_m_p, unit_m_1_m_m, unit_m_2_p_p, unit_m_2_p_m, unit_m_2_m_p, unit_m_2_m_m in on. unfold rate_p_c1, rate_p_c2, rate_m_c1, rate_m_c2,
    orbit_n_c.
  rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8 in *. decompose [and] on; clear on.
  repeat match goal with |- context [step ?x] => rewrite (step_on x) by lra end.
  assert (F : forall x, x = -4 * n_v -> sigmoid x = sigmoid (-4 * n_v)) by (intros x ->; reflexivity).
  assert (Z : forall x, x = 0 -> sigmoid x = sigmoid 0) by (intros x ->; reflexivity).
  generalize dependent (sigmoid (-4 * n_v)). generalize dependent (sigmoid 0). intros zero Z same F.
  repeat match goal with |- context [sigmoid ?x] => first [ rewrite (F x) by ring | rewrite (Z x) by ring ] end.
  repeat split; field.
Qed.
End stage_one.
