(* a nuisance query has one logit s_1, s_2 for each discriminative pattern in all samples; other has the nuisance tokens, e^logit each. In a sample with
   y = 1 pattern 1 has the fraction alpha_*, in one with y = -1 pattern 2 *)
Lemma share_of_the_weaker : forall alpha_s alpha_c a b c, 0 < alpha_s -> 0 < alpha_c -> 0 < a -> a <= b -> 0 <= c ->
  share alpha_s alpha_c a b c <= alpha_s / (alpha_s + alpha_c).
Proof.
  intros alpha_s alpha_c a b c A B a0 ab c0. assert (P : 0 < alpha_s * a) by (apply Rmult_lt_0_compat; lra).
  assert (Q : alpha_c * a <= alpha_c * b) by (apply Rmult_le_compat_l; lra). assert (Q0 : 0 < alpha_c * a) by (apply Rmult_lt_0_compat; lra).
  replace (alpha_s / (alpha_s + alpha_c)) with (alpha_s * a * / (alpha_s * a + alpha_c * a)) by (field; split; [ lra | nra ]).
  replace (share alpha_s alpha_c a b c) with (alpha_s * a * / (alpha_s * a + alpha_c * b + c)) by (unfold share; field; lra).
  apply Rmult_le_compat_l; [ lra | ]. apply Rinv_le_contravar; lra.
Qed.

(* what holds instead: the ceiling, for any weights *)
Theorem ceiling_of_one_class : forall alpha_s alpha_c s_1 s_2 other other', 0 < alpha_s -> 0 < alpha_c -> 0 <= other -> 0 <= other' ->
  Rmin (share alpha_s alpha_c (exp s_1) (exp s_2) other) (share alpha_s alpha_c (exp s_2) (exp s_1) other') <= alpha_s / (alpha_s + alpha_c).
Proof.
  intros alpha_s alpha_c s_1 s_2 other other' A B O O'. destruct (Rle_lt_dec s_1 s_2) as [[l|e]|lt].
  - eapply Rle_trans; [ apply Rmin_l | ]. apply share_of_the_weaker; try assumption; [ apply exp_pos | apply Rlt_le, exp_increasing, l ].
  - eapply Rle_trans; [ apply Rmin_l | ]. apply share_of_the_weaker; try assumption; [ apply exp_pos | rewrite e; lra ].
  - eapply Rle_trans; [ apply Rmin_r | ]. apply share_of_the_weaker; try assumption; [ apply exp_pos | apply Rlt_le, exp_increasing, lt ].
Qed.

(* hence attention on S_* is not up to 1 - D eta^C in both classes *)
Theorem not_in_both_classes : forall alpha_s alpha_c C D, 0 < alpha_s -> 0 < alpha_c -> 0 < C -> 0 < D ->
  exists small, 0 < small /\ forall h s_1 s_2 other other', 0 < h < small -> 0 <= other -> 0 <= other' ->
  Rmin (share alpha_s alpha_c (exp s_1) (exp s_2) other) (share alpha_s alpha_c (exp s_2) (exp s_1) other') < 1 - D * Rpower h C.
Proof.
  intros alpha_s alpha_c C D A B CC DD. set (rest := alpha_c / (alpha_s + alpha_c)). assert (R0 : 0 < rest) by (apply Rdiv_lt_0_compat; lra).
  set (r := rest / D). assert (r0 : 0 < r) by (apply Rdiv_lt_0_compat; assumption).
  exists (Rpower r (/ C)). split; [ apply exp_pos | ]. intros h s_1 s_2 other other' H O O'.
  assert (pow : Rpower h C < r).
  { replace r with (Rpower (Rpower r (/ C)) C).
    - apply Rlt_Rpower_l; [ exact CC | exact H ].
    - rewrite Rpower_mult, Rinv_l by lra. apply Rpower_1, r0. }
  assert (J : D * r = rest) by (unfold r; field; lra). assert (F : D * Rpower h C < rest) by (rewrite <- J; apply Rmult_lt_compat_l; assumption).
  assert (top := ceiling_of_one_class alpha_s alpha_c s_1 s_2 other other' A B O O').
  assert (E : alpha_s / (alpha_s + alpha_c) = 1 - rest) by (unfold rest; field; lra). lra.
Qed.
