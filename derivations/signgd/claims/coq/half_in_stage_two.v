(* m neurons: q s is the query of neuron s along a patch (mu or y_i xi_i), k1 s and k2 s its keys along both patches. A
   step moves each of them by at most eta sigma_p s (Eq. (8), (9), Lemma C.4), and all start within beta_xi. Softmax of
   the logits total q k1 and total q k2 stays within closeness of 1/2. *)
Theorem up_to_T_2 : forall (m : nat) (q k1 k2 : nat -> nat -> R) (eta beta n size : R),
  0 < eta -> 0 < beta -> 0 <= n -> 0 < size ->
  (forall s x, (s < m)%nat -> x = q \/ x = k1 \/ x = k2 ->
    Rabs (x s 0%nat) <= beta /\ forall t, Rabs (x s (S t) - x s t) <= eta * size) ->
  forall t, INR t <= T_2 n beta eta size ->
  Rabs (sigmoid (total m (fun s => q s t * k1 s t) - total m (fun s => q s t * k2 s t)) - / 2)
    <= closeness (INR m) n beta.
Proof.
  intros m q k1 k2 eta beta n size E B N HS moves t early.
  set (b := beta * (1 + 50 * sqrt 2 * n)).
  assert (K : forall s x, (s < m)%nat -> x = q \/ x = k1 \/ x = k2 -> Rabs (x s t) <= b).
  { intros s x HM which. destruct (moves s x HM which) as [start step].
    assert (W := within _ _ (steps_within (x s) (eta * size) step t)). apply within in start.
    assert (P : 0 < eta * size) by (apply Rmult_lt_0_compat; assumption).
    assert (A : INR t * (eta * size) <= 50 * sqrt 2 * n * beta).
    { apply Rmult_le_compat_r with (r := eta * size) in early; [ | lra ].
      eapply Rle_trans; [ exact early | right; unfold T_2; field; lra ]. }
    apply Rabs_le; unfold b; lra. }
  replace (closeness (INR m) n beta) with (INR m * b ^ 2) by (unfold closeness, b; ring).
  apply (softmax_near_half m (fun s => q s t) (fun s => k1 s t) (fun s => k2 s t) b).
  intros s HM; repeat split; apply K; auto.
Qed.

Lemma closeness_below : forall m n beta, 1 <= n -> 0 <= m -> closeness m n beta <= 5184 * n ^ 2 * (m * beta ^ 2).
Proof.
  intros m n beta N M. assert (two : sqrt 2 <= 142 / 100) by (rewrite <- (sqrt_pow2 (142 / 100)) by lra; apply sqrt_le_1_alt; lra). assert (t0 := sqrt_pos 2).
  replace (closeness m n beta) with ((1 + 50 * (sqrt 2 * n)) ^ 2 * (m * beta ^ 2)) by (unfold closeness; ring).
  apply Rmult_le_compat_r; [ apply Rmult_le_pos; [ exact M | apply pow2_ge_0 ] | ].
  replace (5184 * n ^ 2) with ((72 * n) ^ 2) by ring. apply pow_incr. assert (0 <= sqrt 2 * n <= 142 / 100 * n) by (split; [ apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra ]). lra.
Qed.

(* m_k beta_xi^2 for beta_xi at most the bound of Lemma C.8, where sigma_0 sigma_p s m_k^(1/2) is at most 1 *)
Lemma logits_below : forall n m delta sigma_0 sigma_p s beta, 0 < s -> 0 <= m -> 0 < sigma_0 -> 0 < sigma_p -> sigma_0 * sigma_p * s * sqrt m <= 1 ->
  0 <= beta <= beta_bound n m delta sigma_0 sigma_p s -> m * beta ^ 2 * s <= 4 * root_of_log n m delta ^ 2.
Proof.
  intros n m delta sigma_0 sigma_p s beta S M G P small [B0 B]. set (q := root_of_log n m delta). set (u := sigma_0 * sigma_p * s * sqrt m) in *.
  assert (u0 : 0 <= u) by (unfold u; repeat apply Rmult_le_pos; try lra; apply sqrt_pos).
  assert (E : beta_bound n m delta sigma_0 sigma_p s = 2 * (q * sigma_0 * sigma_p * sqrt s)) by (unfold beta_bound, q, root_of_log, logarithm; ring). rewrite E in B.
  assert (B2 : beta ^ 2 <= (2 * (q * sigma_0 * sigma_p * sqrt s)) ^ 2) by (apply pow_incr; lra).
  assert (r2 : sqrt s * sqrt s = s) by (apply sqrt_sqrt; lra). assert (m2 : sqrt m * sqrt m = m) by (apply sqrt_sqrt; exact M).
  apply Rle_trans with (m * (2 * (q * sigma_0 * sigma_p * sqrt s)) ^ 2 * s); [ apply Rmult_le_compat_r; [ lra | apply Rmult_le_compat_l; assumption ] | ].
  replace (m * (2 * (q * sigma_0 * sigma_p * sqrt s)) ^ 2 * s) with (4 * q ^ 2 * u ^ 2).
  - rewrite <- (Rmult_1_r (4 * q ^ 2)) at 2. apply Rmult_le_compat_l; [ assert (0 <= q ^ 2) by apply pow2_ge_0; lra | ].
    rewrite <- (pow1 2). apply pow_incr. lra.
  - unfold u. replace ((sigma_0 * sigma_p * s * sqrt m) ^ 2) with (sigma_0 ^ 2 * sigma_p ^ 2 * s ^ 2 * (sqrt m * sqrt m)) by ring.
    replace ((2 * (q * sigma_0 * sigma_p * sqrt s)) ^ 2) with (4 * q ^ 2 * sigma_0 ^ 2 * sigma_p ^ 2 * (sqrt s * sqrt s)) by ring. rewrite r2, m2. ring.
Qed.

(* Lemma 4.3 (2) with its o(1): however small epsilon is, from a number of samples on the softmax is within epsilon of 1/2 up to T_2, for all sizes that
   fulfil Condition 3.1, with its bound on sigma_0 *)
Theorem softmax_stays_at_half : forall k p epsilon, 0 < k -> 0 < epsilon -> exists least_n,
  forall n d s delta sigma_0 sigma_p eta beta (m : nat) (q k1 k2 : nat -> nat -> R), least_n <= n -> condition k p n d s (INR m) delta ->
  0 < sigma_0 -> 0 < sigma_p -> 0 < eta -> sigma_0 * sigma_p * s * sqrt (INR m) <= 1 -> 0 < beta <= beta_bound n (INR m) delta sigma_0 sigma_p s ->
  (forall j x, (j < m)%nat -> x = q \/ x = k1 \/ x = k2 ->
    Rabs (x j 0%nat) <= beta /\ forall t, Rabs (x j (S t) - x j t) <= eta * (sigma_p * s)) ->
  forall t, INR t <= T_2 n beta eta (sigma_p * s) ->
  Rabs (sigmoid (total m (fun j => q j t * k1 j t) - total m (fun j => q j t * k2 j t)) - / 2) <= epsilon.
Proof.
  intros k p epsilon K E. assert (I := pos_INR p). set (A := 82944 * INR p / (epsilon * k)). assert (den : 0 < epsilon * k) by (apply Rmult_lt_0_compat; assumption).
  assert (A0 : 0 <= A) by (apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat, den ]).
  exists ((A + 1) ^ 4). intros n d s delta sigma_0 sigma_p eta beta m q k1 k2 large c G P H small [B0 B] moves t early.
  destruct (powers k p n d s (INR m) delta K c) as (Z & Z1 & L & S). assert (far := root_above A n A0 large). set (z := sqrt (sqrt n)) in *.
  assert (z10 : 0 < z ^ 10) by (apply pow_lt; lra).
  assert (s0 : 0 < s) by (apply Rlt_le_trans with (k * z ^ 10); [ apply Rmult_lt_0_compat; assumption | exact S ]).
  assert (N : 1 <= n) by (destruct c; assumption). assert (M := pos_INR m).
  eapply Rle_trans; [ apply (up_to_T_2 m q k1 k2 eta beta n (sigma_p * s) H B0 ltac:(lra) ltac:(apply Rmult_lt_0_compat; assumption) moves t early) | ].
  eapply Rle_trans; [ apply closeness_below; assumption | ].
  assert (F := logits_below n (INR m) delta sigma_0 sigma_p s beta s0 M G P small (conj (Rlt_le _ _ B0) B)). set (x := INR m * beta ^ 2) in *.
  assert (x0 : 0 <= x) by (apply Rmult_le_pos; [ exact M | apply pow2_ge_0 ]).
  assert (D : x * (k * z ^ 10) <= 16 * INR p * z) by (apply Rle_trans with (x * s); [ apply Rmult_le_compat_l; assumption | lra ]).
  assert (back : epsilon * k * A = 82944 * INR p) by (unfold A; field; split; lra).
  assert (zA : 82944 * INR p <= epsilon * k * z) by nra.
  apply Rmult_le_reg_r with (k * z ^ 2); [ apply Rmult_lt_0_compat; [ exact K | apply pow_lt; lra ] | ]. rewrite Z.
  replace (5184 * (z ^ 4) ^ 2 * x * (k * z ^ 2)) with (5184 * (x * (k * z ^ 10))) by ring.
  apply Rle_trans with (82944 * INR p * z); [ lra | ]. replace (epsilon * (k * z ^ 2)) with (epsilon * k * z * z) by ring. apply Rmult_le_compat_r; lra.
Qed.
