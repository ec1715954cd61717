(* Lemma 5.4 says that |mu' W_V w_O| is at least the logarithm of inside, a time T after the end T_2 of stage 2; v is its value there, mu and w are the
   lengths of mu and w_O. time is the printed T_3, with a constant k for its Theta and L = log(6N^2M^2/delta). Whatever the constants and c > 0 are, for
   large L and small epsilon this is below log(c/epsilon), so that Lemma 5.4 does not give the printed log(Theta(1/epsilon)) *)
Theorem not_of_that_order : forall C k c, 0 < C -> 0 < k -> 0 < c -> exists least, forall eta mu w v eps L T_2, 0 < eta -> 0 < mu -> 0 < w ->
  0 < eps <= c / (2 * exp v) -> least <= L -> 0 <= T_2 <= time k eta eps mu w L ->
  let bound := ln (inside C eta mu w v (time k eta eps mu w L - T_2)) in bound < ln (c / eps).
Proof.
  intros C k c PC Pk Pc. exists (2 * C * k / c + 1). intros eta mu w v eps L T_2 E M W [e small] HL [T0 T3] bound.
  assert (P : 0 < 2 * C * k / c) by (apply Rdiv_lt_0_compat; [ nra | lra ]). assert (V := exp_pos v).
  assert (unit : 0 < C * eta * mu ^ 2 * w ^ 2) by pos.
  apply ln_increasing.
  - unfold inside. assert (0 <= C * eta * mu ^ 2 * w ^ 2 * (time k eta eps mu w L - T_2)) by (apply Rmult_le_pos; lra). lra.
  - assert (half : exp v <= c / (2 * eps)).
    { apply Rmult_le_reg_r with (2 * eps); [ lra | ]. replace (c / (2 * eps) * (2 * eps)) with c by (field; lra).
      apply Rmult_le_compat_r with (r := 2 * exp v) in small; [ | lra ]. replace (c / (2 * exp v) * (2 * exp v)) with c in small by (field; lra). lra. }
    assert (term : C * eta * mu ^ 2 * w ^ 2 * time k eta eps mu w L = C * k / (eps * L)) by (unfold time; field; repeat split; lra).
    assert (other : C * k / (eps * L) < c / (2 * eps)).
    { apply Rmult_lt_reg_r with (2 * eps * L); [ apply Rmult_lt_0_compat; lra | ].
      replace (C * k / (eps * L) * (2 * eps * L)) with (2 * C * k / c * c) by (field; lra).
      replace (c / (2 * eps) * (2 * eps * L)) with (L * c) by (field; lra). apply Rmult_lt_compat_r; lra. }
    assert (less : C * eta * mu ^ 2 * w ^ 2 * (time k eta eps mu w L - T_2) <= C * k / (eps * L)) by (rewrite <- term; nra).
    replace (c / eps) with (c / (2 * eps) + c / (2 * eps)) by (field; lra). unfold inside. lra.
Qed.
