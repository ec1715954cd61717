(* Lemma D.4, of both heads and both groups; the printed sums are over k' in {1, 2} *)
Theorem classification_neurons_after : forall n_c n_v, symmetric n_c n_v ->
  (off_p -> own_on_p -> let sum := / 8 * (g (at_state margin_1_p_p) + g (at_state margin_2_p_p)) in
    at_state rate_p_v1 = sum /\ at_state rate_p_v2 = sum /\ orbit_n_v n_c n_v b = sum) /\
  (off_m -> own_on_m -> let sum := / 8 * (g (at_state margin_1_m_m) + g (at_state margin_2_m_m)) in
    at_state rate_m_v1 = - sum /\ at_state rate_m_v2 = - sum).
Proof.
  intros n_c n_v S. split; intros off on; cbv zeta.
  - destruct (off_by_numbers n_c n_v S (or_introl (conj off on))) as [below above]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_p_p, margin_2_p_p, rate_p_v1, rate_p_v2, orbit_n_v. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
  - destruct (off_by_numbers n_c n_v S (or_intror (conj off on))) as [below above]. clear on off.
    destruct S as (E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8). unfold at_state. rewrite !g_of.
    unfold margin_1_m_m, margin_2_m_m, rate_m_v1, rate_m_v2. rewrite ?E1, ?E2, ?E3, ?E4, ?E5, ?E6, ?E7, ?E8. at_symmetric n_c n_v.
Qed.

(* n_v does not fall, so that it stays at or above its start 0 *)
Theorem classification_rate_is_not_negative : forall n_c n_v, 0 <= orbit_n_v n_c n_v b.
Proof.
  intros n_c n_v. unfold orbit_n_v. repeat match goal with |- context [sigmoid ?x] => let P := fresh in assert (P : 0 < sigmoid x) by (unfold sigmoid; apply Rinv_0_lt_compat;
    match goal with |- context [exp ?t] => assert (0 < exp t) by apply exp_pos end; lra); generalize dependent (sigmoid x); intros end.
  unfold step. repeat match goal with |- context [Rlt_dec ?x ?y] => destruct (Rlt_dec x y) end; nra.
Qed.
End stage_one.
