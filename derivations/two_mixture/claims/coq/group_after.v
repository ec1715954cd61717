(* Lemma D.5, of both heads and both groups *)
Theorem group_neurons_after : forall n_c n_v, symmetric n_c n_v ->
  (off_p -> own_on_p -> at_state rate_p_c1 = / 8 * g (at_state margin_1_p_p) /\ at_state rate_p_c2 = / 8 * g (at_state margin_2_p_p) /\
    orbit_n_c n_c n_v b = / 8 * g (at_state margin_1_p_p)) /\
  (off_m -> own_on_m -> at_state rate_m_c1 = / 8 * g (at_state margin_1_m_m) /\ at_state rate_m_c2 = / 8 * g (at_state margin_2_m_m)).
Proof.
  intros n_c n_v S. split; intros off on.
  - destruct (off_by_numbers n_c n_v S (or_introl (conj off on))) as [below above]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_p_p, margin_2_p_p, rate_p_c1, rate_p_c2, orbit_n_c. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
  - destruct (off_by_numbers n_c n_v S (or_intror (conj off on))) as [below above]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_m_m, margin_2_m_m, rate_m_c1, rate_m_c2. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
Qed.

(* n_c does not fall where n_v is not negative, so that both stay at or above their start 0 *)
Theorem group_rate_is_not_negative : forall n_c n_v, 0 <= n_v -> 0 <= orbit_n_c n_c n_v b.
Proof.
  intros n_c n_v V. unfold orbit_n_c. repeat match goal with |- context [sigmoid ?x] => let P := fresh in assert (P : 0 < sigmoid x) by (unfold sigmoid; apply Rinv_0_lt_compat;
    match goal with |- context [exp ?t] => assert (0 < exp t) by apply exp_pos end; lra); generalize dependent (sigmoid x); intros end.
  unfold step. repeat match goal with |- context [Rlt_dec ?x ?y] => destruct (Rlt_dec x y) end; try lra.
Qed.
End stage_one.
