(* the term of Lemma 5.4 at the printed T_3, L = log(6N^2M^2/delta), against log(Theta(1/epsilon)): for no c > 0 is it at least c/epsilon *)
Theorem not_of_that_order : forall C c, 0 < C -> 0 < c -> exists least, forall L eps, least <= L -> 0 < eps ->
  term C (time eps L) < c / eps /\ ln (term C (time eps L)) < ln (c / eps).
Proof.
  intros C c PC Pc. exists (2 * C / c). intros L eps HL E.
  assert (P : 0 < 2 * C / c) by (apply Rdiv_lt_0_compat; lra). assert (LC : 2 * C <= c * L).
  { replace (2 * C) with (c * (2 * C / c)) by (field; lra). apply Rmult_le_compat_l; lra. }
  assert (X : 0 < term C (time eps L)) by (unfold term, time; pos).
  assert (Y : term C (time eps L) < c / eps).
  { unfold term, time. apply Rmult_lt_reg_r with (eps * L); [ apply Rmult_lt_0_compat; lra | ].
    match goal with |- ?a < ?b => replace a with C by (field; lra); replace b with (c * L) by (field; lra) end. lra. }
  split; [ exact Y | apply ln_increasing; assumption ].
Qed.
