From Odesys Require Import sequences.

(* noise is sigma~_p^2; by condition (1) d_h >= N^2/eps^2, by (2) d >= N^2 d_h/eps^2, N >= 8 log(4/delta), M <= N and
   eps <= 1/4; l is log(4N^2M^2/delta) *)
Theorem third_inequality : forall eta noise N M d d_h eps delta : R,
  0 < eta -> 0 < noise -> 1 <= M -> M <= N -> 0 < eps -> eps <= 1 / 4 -> 0 < delta ->
  8 * ln (4 / delta) <= N -> N ^ 2 / eps ^ 2 <= d_h -> N ^ 2 * d_h / eps ^ 2 <= d ->
  left eta noise N M d (ln (4 * N ^ 2 * M ^ 2 / delta)) <= right eta noise N d.
Proof.
  intros eta noise N M d d_h eps delta E HN M1 MN P small D enough first second.
  set (l := ln (4 * N ^ 2 * M ^ 2 / delta)).
  assert (log_at_most : forall x, 0 < x -> ln x <= x).
  { intros x X. assert (A := exp_at_least (ln x)). rewrite exp_ln in A by exact X. lra. }
  assert (L : l <= 5 * N).
  { assert (Q : 0 < 4 / delta) by (unfold Rdiv; pos).
    unfold l. replace (4 * N ^ 2 * M ^ 2 / delta) with (4 / delta * (N * N * (M * M))) by (field; lra).
    rewrite !ln_mult by (try assumption; try lra; repeat apply Rmult_lt_0_compat; lra).
    assert (A := log_at_most N ltac:(lra)). assert (B := log_at_most M ltac:(lra)). lra. }
  assert (inv : 16 <= / eps ^ 2).
  { apply Rmult_le_reg_r with (eps ^ 2); [ apply pow_lt, P | rewrite Rinv_l by (apply pow_nonzero; lra); nra ]. }
  assert (A : 16 * N ^ 2 <= d_h) by (unfold Rdiv in first; assert (0 < N ^ 2) by (apply pow_lt; lra); nra).
  assert (B : 256 * N ^ 4 <= d).
  { unfold Rdiv in second. assert (0 < N ^ 2) by (apply pow_lt; lra).
    assert (N ^ 2 * (16 * N ^ 2) <= N ^ 2 * d_h) by (apply Rmult_le_compat_l; lra).
    assert (16 * (N ^ 2 * d_h) <= N ^ 2 * d_h * / eps ^ 2) by nra.
    replace (256 * N ^ 4) with (16 * (N ^ 2 * (16 * N ^ 2))) by ring. lra. }
  assert (N3 : 1 <= N ^ 3) by (apply pow_R1_Rle; lra).
  assert (K : 16 * N ^ 2 * l <= d).
  { apply Rle_trans with (16 * N ^ 2 * (5 * N)); [ apply Rmult_le_compat_l; [ nra | exact L ] | ].
    replace (16 * N ^ 2 * (5 * N)) with (80 * N ^ 3) by ring. replace (256 * N ^ 4) with (256 * N ^ 3 * N) in B by ring. nra. }
  assert (DP : 0 < d) by (assert (0 < N ^ 4) by (apply pow_lt; lra); lra).
  assert (R0 : 4 * N * sqrt (d * l) <= d).
  { destruct (Rle_lt_dec (d * l) 0) as [Z|Z]; [ rewrite sqrt_neg_0 by exact Z; nra | ].
    assert (Q := sqrt_sqrt (d * l) (Rlt_le _ _ Z)). assert (S := sqrt_pos (d * l)). set (r := sqrt (d * l)) in *.
    assert (H : (4 * N * r) * (4 * N * r) <= d * d).
    { replace ((4 * N * r) * (4 * N * r)) with (16 * N ^ 2 * (r * r)) by ring. rewrite Q.
      replace (16 * N ^ 2 * (d * l)) with (d * (16 * N ^ 2 * l)) by ring. apply Rmult_le_compat_l; lra. }
    destruct (Rle_lt_dec (4 * N * r) d) as [Y|Y]; [ exact Y | nra ]. }
  assert (F : left eta noise N M d l = eta * noise / N * (3 / 2 * d + 2 * N * sqrt (d * l))) by (unfold left; field; lra).
  assert (G : right eta noise N d = eta * noise / N * (2 * d)) by (unfold right; field; lra).
  rewrite F, G. apply Rmult_le_compat_l; [ unfold Rdiv; nonneg | lra ].
Qed.
