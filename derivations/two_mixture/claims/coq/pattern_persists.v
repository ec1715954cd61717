(* after T_0.5 the surface b + n_c - 2 n_v is negative, and not only not positive *)
Lemma surface_falls : forall t, T0 < t <= T1 -> b + n_c t - 2 * n_v t < 0.
Proof.
  intros t T. destruct (MVT_gen (fun s => 1 * n_c s + - 2 * n_v s) T0 t (fun s => 1 * orbit_n_c (n_c s) (n_v s) b + - 2 * orbit_n_v (n_c s) (n_v s) b)) as (z & Z & E).
  - intros s S. rewrite Rmin_left, Rmax_right in S by lra. destruct (rates s ltac:(lra)) as [A B].
    apply (is_derive_plus (fun s => 1 * n_c s) (fun s => - 2 * n_v s)); apply is_derive_scal; assumption.
  - intros s S. rewrite Rmin_left, Rmax_right in S by lra. destruct (continuous s ltac:(lra)) as [A B].
    apply (continuity_pt_plus (fun s => 1 * n_c s) (fun s => - 2 * n_v s)); apply continuity_pt_scal; assumption.
  - rewrite Rmin_left, Rmax_right in Z by lra. destruct (rates_after z ltac:(lra)) as (A & B & P). rewrite A, B in E.
    assert (G := g_range (margin z) (Rlt_le _ _ P)). destruct start as [E1 E2]. unfold start_n_c, start_n_v in *. rewrite E1, E2 in E.
    assert (0 < g (margin z) * (t - T0)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(* Corollary D.6: unit_s_k_r_t is H_s(X_{k,r,t}) + b; on (T_0.5, T_1] those of X_{k,-s,-s} in head s are off, and all others are on *)
Theorem pattern_persists : forall t, T0 < t <= T1 -> let at_t (unit : R -> R -> R -> R) := unit (n_c t) (n_v t) b in
  at_t unit_p_1_m_m < 0 /\ at_t unit_p_2_m_m < 0 /\ at_t unit_m_1_p_p < 0 /\ at_t unit_m_2_p_p < 0 /\
  0 < at_t unit_p_1_p_p /\ 0 < at_t unit_p_1_p_m /\ 0 < at_t unit_p_1_m_p /\ 0 < at_t unit_p_2_p_p /\ 0 < at_t unit_p_2_p_m /\ 0 < at_t unit_p_2_m_p /\
  0 < at_t unit_m_1_m_m /\ 0 < at_t unit_m_1_p_m /\ 0 < at_t unit_m_1_m_p /\ 0 < at_t unit_m_2_m_m /\ 0 < at_t unit_m_2_p_m /\ 0 < at_t unit_m_2_m_p.
Proof.
  intros t T at_t. assert (S := surface_falls t T). destruct (not_below_start t ltac:(lra)) as (C & V & _). unfold at_t.
  unfold unit_p_1_m_m, unit_p_2_m_m, unit_m_1_p_p, unit_m_2_p_p, unit_p_1_p_p, unit_p_1_p_m, unit_p_1_m_p, unit_p_2_p_p, unit_p_2_p_m, unit_p_2_m_p,
    unit_m_1_m_m, unit_m_1_p_m, unit_m_1_m_p, unit_m_2_m_m, unit_m_2_p_m, unit_m_2_m_p. repeat split; lra.
Qed.
End flow.
