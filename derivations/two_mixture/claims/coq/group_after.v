(* Lemma D.5, of both heads and both groups *)
Theorem group_neurons_after : forall n_c n_v, symmetric n_c n_v -> conflicting_on ->
  (off_p -> at_state rate_p_c1 = / 8 * g (at_state margin_1_p_p) /\ at_state rate_p_c2 = / 8 * g (at_state margin_2_p_p) /\
    orbit_n_c n_c n_v b = / 8 * g (at_state margin_1_p_p)) /\
  (off_m -> at_state rate_m_c1 = / 8 * g (at_state margin_1_m_m) /\ at_state rate_m_c2 = / 8 * g (at_state margin_2_m_m)).
Proof.
  intros n_c n_v S on. split; intro off.
  - destruct (units_follow n_c n_v S on (or_introl off)) as [above below]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_p_p, margin_2_p_p, rate_p_c1, rate_p_c2, orbit_n_c. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
  - destruct (units_follow n_c n_v S on (or_intror off)) as [above below]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_m_m, margin_2_m_m, rate_m_c1, rate_m_c2. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
Qed.
End stage_one.
