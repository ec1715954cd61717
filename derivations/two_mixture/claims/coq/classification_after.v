(* Lemma D.4, of both heads and both groups; the printed sums are over k' in {1, 2} *)
Theorem classification_neurons_after : forall n_c n_v, symmetric n_c n_v -> conflicting_on ->
  (off_p -> let sum := / 8 * (g (at_state margin_1_p_p) + g (at_state margin_2_p_p)) in
    at_state rate_p_v1 = sum /\ at_state rate_p_v2 = sum /\ orbit_n_v n_c n_v b = sum) /\
  (off_m -> let sum := / 8 * (g (at_state margin_1_m_m) + g (at_state margin_2_m_m)) in
    at_state rate_m_v1 = - sum /\ at_state rate_m_v2 = - sum).
Proof.
  intros n_c n_v S on. split; intro off; cbv zeta.
  - destruct (units_follow n_c n_v S on (or_introl off)) as [above below]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_p_p, margin_2_p_p, rate_p_v1, rate_p_v2, orbit_n_v. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
  - destruct (units_follow n_c n_v S on (or_intror off)) as [above below]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_m_m, margin_2_m_m, rate_m_v1, rate_m_v2. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
Qed.
End stage_one.
