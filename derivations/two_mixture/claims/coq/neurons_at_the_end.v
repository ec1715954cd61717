(* Theta(1) at T_1: between bounds that depend on b and T_1 - T_0.5 only *)
Theorem neurons_at_the_end : let tau := T1 - T0 in let least := g (2 * b + 5 / 16 * tau) in 0 < least /\
  / 8 * least * tau <= n_c T1 <= / 16 * tau /\ b / 2 + / 4 * least * tau <= n_v T1 <= b / 2 + / 8 * tau.
Proof.
  intros tau least. assert (end_ : T0 <= T1 <= T1) by lra.
  assert (upper : forall t, T0 <= t <= T1 -> margin t <= 2 * b + 5 / 16 * tau).
  { intros t T. assert (M := moved 1 2 0 (5 / 16) t T). assert (H : forall s, T0 <= s <= t -> 0 <= 1 * orbit_n_c (n_c s) (n_v s) b + 2 * orbit_n_v (n_c s) (n_v s) b <= 5 / 16).
    { intros s S. destruct (rates_after s ltac:(lra)) as (A & B & P). rewrite A, B. assert (G := g_range (margin s) (Rlt_le _ _ P)). lra. }
    specialize (M H). unfold margin, tau. nra. }
  assert (G : forall s, T0 <= s <= T1 -> least <= g (margin s) <= / 2).
  { intros s S. destruct (rates_after s S) as (_ & _ & P). split; [ apply g_falls, upper, S | apply g_range; lra ]. }
  assert (L : 0 < least) by (apply g_range; unfold tau; lra). split; [ exact L | ].
  assert (C := moved 1 0 (/ 8 * least) (/ 16) T1 end_). assert (V := moved 0 1 (/ 4 * least) (/ 8) T1 end_).
  assert (HC : forall s, T0 <= s <= T1 -> / 8 * least <= 1 * orbit_n_c (n_c s) (n_v s) b + 0 * orbit_n_v (n_c s) (n_v s) b <= / 16).
  { intros s S. destruct (rates_after s S) as (A & B & _). rewrite A, B. specialize (G s S). lra. }
  assert (HV : forall s, T0 <= s <= T1 -> / 4 * least <= 0 * orbit_n_c (n_c s) (n_v s) b + 1 * orbit_n_v (n_c s) (n_v s) b <= / 8).
  { intros s S. destruct (rates_after s S) as (A & B & _). rewrite A, B. specialize (G s S). lra. }
  specialize (C HC). specialize (V HV). fold tau in C, V. lra.
Qed.
End flow.
