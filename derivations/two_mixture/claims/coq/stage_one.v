(* The states of stage 1: w_s'c_k and w_s'v_k of both heads, s = p for + and m for -, with all scores zero (Definition 5.1), and the bias b.
   unit_s_k_r_t is H_s(X_{k,r,t}) + b, margin_k_r_t is y f(X_{k,r,t}), rate_s_x the derived rate of w_s'x, gates and all *)
Section stage_one.
Variables w_p_c1 w_p_c2 w_p_v1 w_p_v2 w_m_c1 w_m_c2 w_m_v1 w_m_v2 b : R.
Definition at_state (f : R -> R -> R -> R -> R -> R -> R -> R -> R -> R) : R := f w_p_c1 w_p_c2 w_p_v1 w_p_v2 w_m_c1 w_m_c2 w_m_v1 w_m_v2 b.
(* symmetric states, Lemmas C.2 and C.4: w_+'c_k = w_-'c_k = n_c, w_+'v_k = n_v = - w_-'v_k for both k; n_c and n_v are variables of the
   quotient; orbit_n_c and orbit_n_v are their rates there, at zero scores, as in the file of the quotient *)
Definition symmetric (n_c n_v : R) : Prop :=
  w_p_c1 = n_c /\ w_p_c2 = n_c /\ w_m_c1 = n_c /\ w_m_c2 = n_c /\ w_p_v1 = n_v /\ w_p_v2 = n_v /\ w_m_v1 = - n_v /\ w_m_v2 = - n_v.
(* H_s(X) > -b for both heads and all samples *)
Definition all_units_on : Prop :=
  0 < at_state unit_p_1_p_p /\ 0 < at_state unit_p_1_p_m /\ 0 < at_state unit_p_1_m_p /\ 0 < at_state unit_p_1_m_m /\
  0 < at_state unit_p_2_p_p /\ 0 < at_state unit_p_2_p_m /\ 0 < at_state unit_p_2_m_p /\ 0 < at_state unit_p_2_m_m /\
  0 < at_state unit_m_1_p_p /\ 0 < at_state unit_m_1_p_m /\ 0 < at_state unit_m_1_m_p /\ 0 < at_state unit_m_1_m_m /\
  0 < at_state unit_m_2_p_p /\ 0 < at_state unit_m_2_p_m /\ 0 < at_state unit_m_2_m_p /\ 0 < at_state unit_m_2_m_m.
