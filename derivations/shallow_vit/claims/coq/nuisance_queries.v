
(* (156) at delta = tau = 0, with E for the exponent, which is not negative where K > 0 *)
Definition p_n' (alpha E : R) : R := alpha * exp E / (alpha * exp E + (1 - alpha)).

(* (155): the step of the query of a token z along q_1, over any batch; mu is pattern 1 and q_1 its key, of length 1 at the start *)
Theorem step_of_a_query_is_outgrown : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C xi alpha beta : R), (0 < m)%nat ->
  0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C -> 0 < xi -> 0 < alpha < 1 -> 0 <= beta ->
  for_small_eta (fun x => forall w T b Q slope B batch mu z E, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T ->
    (forall w p, 0 <= slope w p <= 1) -> batch_admitted d m B batch -> norm d z <= 1 -> 0 <= E ->
    norm d mu <= 1 -> length_of_key d m_b mu w 0 = 1 -> Q T = length_of_key d m_b mu w T ->
    eta x * inner m_b (apply d (force_Q d m_a m_b m slope B batch (w T)) z) (apply d (WK (w T)) mu) <
    C * (eta x * (alpha * INR m / sqrt (INR m)) * p_n' alpha E * bracket m xi (eta x) alpha beta 1 T b Q * rest_n alpha (Q T) * Q T ^ 2)).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C xi alpha beta M N c1 c2 SP CC X A Bt.
  destruct (longest_not_negative o v k q N 1) as (L1 & L2). set (L := longest o v 1) in *. set (K := longest_K o v k q 1) in *.
  destruct (root_of m M) as (R1 & R2). assert (R3 : INR m / sqrt (INR m) = sqrt (INR m)) by (rewrite <- R2 at 1; field; lra).
  assert (A4 : 0 < xi * alpha ^ 4 / 4) by (apply Rdiv_lt_0_compat; [ apply Rmult_lt_0_compat; [ exact X | apply pow_lt, A ] | lra ]).
  set (rest := (1 - alpha) * exp (- (K * K))). assert (rest0 : 0 < rest) by (apply Rmult_lt_0_compat; [ lra | apply exp_pos ]).
  set (s := alpha * sqrt (INR m)). assert (s0 : 0 < s) by (apply Rmult_lt_0_compat; [ lra | exact R1 ]).
  assert (CA : 0 < C * (s * alpha * (rest * / 4))).
  { apply Rmult_lt_0_compat; [ exact CC | ]. apply Rmult_lt_0_compat; [ apply Rmult_lt_0_compat; lra | lra ]. }
  assert (F : 0 < C * (s * alpha * (rest * / 4)) * (xi * alpha ^ 4 / 4)) by (apply Rmult_lt_0_compat; assumption).
  assert (LLK : 0 <= L * L * K) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption).
  assert (LK : 0 <= L * L * K * K) by (apply Rmult_le_pos; assumption).
  destruct (square_outgrows (L * L * K * K) _ c_1 c_2 alpha_s LK F c1 c2 SP) as (least & beats).
  exists (Rmax least (2 * (L * L * K))). intros x Hx w T b Q slope B batch mu z E R H SL G ZZ EE MU K0 QT.
  assert (Hx1 := Rmax_l least (2 * (L * L * K))). assert (Hx2 := Rmax_r least (2 * (L * L * K))).
  destruct (beats x ltac:(lra)) as (large & big). specialize (big T H). destruct H as (H1 & H2).
  assert (In := norms_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R T (le_n T)). fold L K in In.
  destruct (short_time c_2 alpha_s x T c2 SP large H2) as (_ & e0 & _).
  assert (key1 := key_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R mu MU K0 ltac:(fold L K; lra) T (le_n T)). fold K in key1. rewrite <- QT in key1.
  destruct (forces_below d m_a m_b m slope SL B batch (w T) L L K K G (conj L1 (conj L1 (conj L2 L2))) In) as (_ & _ & _ & FQ).
  specialize (FQ z).
  assert (fz : norm m_b (apply d (force_Q d m_a m_b m slope B batch (w T)) z) <= L * L * K).
  { eapply Rle_trans; [ exact FQ | ]. rewrite <- (Rmult_1_r (L * L * K)) at 2. apply Rmult_le_compat_l; assumption. }
  assert (CS := within _ _ (cauchy_schwarz m_b (apply d (force_Q d m_a m_b m slope B batch (w T)) z) (apply d (WK (w T)) mu))).
  assert (prod : norm m_b (apply d (force_Q d m_a m_b m slope B batch (w T)) z) * norm m_b (apply d (WK (w T)) mu) <= L * L * K * K).
  { apply Rmult_le_compat; try apply norm_not_negative; [ exact fz | ]. fold (length_of_key d m_b mu w T). lra. }
  assert (left : inner m_b (apply d (force_Q d m_a m_b m slope B batch (w T)) z) (apply d (WK (w T)) mu) <
    C * (s * alpha * (rest * / 4)) * (xi * alpha ^ 4 / 4) * (eta x * INR T ^ 2)) by lra.
  assert (BG := bracket_grows m xi (eta x) alpha beta 1 T b Q M X ltac:(lra) ltac:(lra) Bt (Rle_refl 1)).
  assert (U : alpha <= p_n' alpha E).
  { assert (e1 : 1 <= exp E) by (assert (Z := exp_at_least E); lra). unfold p_n'. assert (D : 0 < alpha * exp E + (1 - alpha)) by nra.
    apply Rmult_le_reg_r with (alpha * exp E + (1 - alpha)); [ exact D | ].
    replace (alpha * exp E / (alpha * exp E + (1 - alpha)) * (alpha * exp E + (1 - alpha))) with (alpha * exp E) by (field; lra).
    assert (0 <= alpha * (1 - alpha) * (exp E - 1)) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; lra). lra. }
  assert (V := rest_n_range alpha (Q T) K A ltac:(lra)). fold rest in V.
  set (y := eta x * INR T ^ 2) in *. assert (Y0 : 0 <= y) by (apply Rmult_le_pos; [ lra | apply pow2_ge_0 ]).
  set (Br := bracket m xi (eta x) alpha beta 1 T b Q) in *. assert (B1 : 0 <= xi * alpha ^ 4 / 4 * y) by (apply Rmult_le_pos; lra).
  assert (q4 : / 4 <= Q T ^ 2) by (replace (/ 4) with (/ 2 * (/ 2 * 1)) by field; apply Rmult_le_compat; try lra; apply Rmult_le_compat; lra).
  assert (r4 : rest * / 4 <= rest_n alpha (Q T) * Q T ^ 2) by (apply Rmult_le_compat; lra).
  assert (right : C * (s * alpha * (rest * / 4)) * (xi * alpha ^ 4 / 4) * y <= C * (s * p_n' alpha E * (rest_n alpha (Q T) * Q T ^ 2)) * Br).
  { rewrite (Rmult_assoc (C * _)). apply Rmult_le_compat; try lra. apply Rmult_le_compat_l; [ lra | ].
    apply Rmult_le_compat; try lra; [ apply Rmult_le_pos; lra | apply Rmult_le_compat_l; lra ]. }
  replace (alpha * INR m / sqrt (INR m)) with s by (unfold s, Rdiv; rewrite Rmult_assoc; unfold Rdiv in R3; rewrite R3; reflexivity).
  replace (C * (eta x * s * p_n' alpha E * Br * rest_n alpha (Q T) * Q T ^ 2)) with
    (eta x * (C * (s * p_n' alpha E * (rest_n alpha (Q T) * Q T ^ 2)) * Br)) by ring.
  apply Rmult_lt_compat_l; [ exact e0 | lra ].
Qed.
