(* Theorem D.8: margin_k_r_t is y f(X_{k,r,t}) with its gates; at T_1, as at every time from T_0.5 on, it is at least 2b on the consistent samples and 0 on the
   conflicting ones *)
Theorem margins_at_the_end : forall t, T0 <= t <= T1 -> let at_t (y_f : R -> R -> R -> R) := y_f (n_c t) (n_v t) b in
  2 * b <= at_t margin_1_p_p /\ 2 * b <= at_t margin_1_m_m /\ 2 * b <= at_t margin_2_p_p /\ 2 * b <= at_t margin_2_m_m /\
  at_t margin_1_p_m = 0 /\ at_t margin_1_m_p = 0 /\ at_t margin_2_p_m = 0 /\ at_t margin_2_m_p = 0.
Proof.
  intros t T at_t. destruct (not_below_start t T) as (C & V & S). unfold at_t.
  unfold margin_1_p_p, margin_1_m_m, margin_2_p_p, margin_2_m_m, margin_1_p_m, margin_1_m_p, margin_2_p_m, margin_2_m_p.
  repeat match goal with |- context [step ?x] => first [ rewrite (step_on x) by lra | rewrite (step_off x) by lra ] end. repeat split; lra.
Qed.
End flow.
