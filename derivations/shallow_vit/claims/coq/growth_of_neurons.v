
(* any neuron i of w(T), any feature p of length at most 1: neither its product with p nor its length reaches the right side, whatever
   the hidden constant C *)
Theorem neurons_stay_short : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C xi alpha : R), (0 < m)%nat ->
  0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C -> 0 < xi -> 0 < alpha <= 1 ->
  for_small_eta (fun x => forall w T i p Q, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T ->
    (i < m)%nat -> norm m_a p <= 1 ->
    inner m_a (WO (w T) i) p < C * printed_34 m xi (eta x) alpha T Q /\
    norm m_a (WO (w T) i) ^ 2 < (C * printed_34 m xi (eta x) alpha T Q) ^ 2).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C xi alpha M N c1 c2 SP CC X A.
  destruct (longest_not_negative o v k q N 1) as (L1 & _). set (L := longest o v 1) in *.
  assert (F : 0 < C * (xi * alpha ^ 3 / 4)).
  { apply Rmult_lt_0_compat; [ exact CC | ]. apply Rdiv_lt_0_compat; [ apply Rmult_lt_0_compat; [ exact X | apply pow_lt, A ] | lra ]. }
  destruct (square_outgrows L (C * (xi * alpha ^ 3 / 4)) c_1 c_2 alpha_s L1 F c1 c2 SP) as (least & beats).
  exists least. intros x Hx w T i p Q R H I P. destruct (beats x Hx) as (large & big). specialize (big T H). destruct H as (H1 & H2).
  destruct (norms_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R T (le_n T)) as (WOb & _). fold L in WOb.
  assert (row := row_below m m_a (WO (w T)) L i L1 WOb I). destruct (short_time c_2 alpha_s x T c2 SP large H2) as (_ & e0 & _).
  assert (bound : L < C * printed_34 m xi (eta x) alpha T Q).
  { destruct (root_of m M) as (R1 & R2). assert (Pm : 0 < INR m) by (apply lt_0_INR, M). assert (U := p_n_range alpha (Q T) A).
    assert (E : printed_34 m xi (eta x) alpha T Q = xi * alpha ^ 2 / 4 * (eta x * INR T ^ 2) * p_n alpha (Q T) + xi).
    { unfold printed_34. rewrite <- R2 at 2. field. lra. }
    rewrite E. set (y := eta x * INR T ^ 2) in *. assert (Y : 0 <= y) by (apply Rmult_le_pos; [ lra | apply pow2_ge_0 ]).
    assert (V : xi * alpha ^ 3 / 4 * y <= xi * alpha ^ 2 / 4 * y * p_n alpha (Q T)).
    { replace (xi * alpha ^ 3 / 4 * y) with (xi * alpha ^ 2 / 4 * y * alpha) by field. apply Rmult_le_compat_l; [ | lra ].
      apply Rmult_le_pos; [ | exact Y ]. assert (0 <= alpha ^ 2) by apply pow2_ge_0. nra. }
    assert (C * (xi * alpha ^ 3 / 4 * y) <= C * (xi * alpha ^ 2 / 4 * y * p_n alpha (Q T) + xi)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (0 <= norm m_a (WO (w T) i)) by apply norm_not_negative. split.
  - assert (CS := within _ _ (cauchy_schwarz m_a (WO (w T) i) p)).
    assert (norm m_a (WO (w T) i) * norm m_a p <= L).
    { apply Rle_trans with (norm m_a (WO (w T) i) * 1); [ apply Rmult_le_compat_l; assumption | lra ]. }
    lra.
  - simpl. rewrite !Rmult_1_r. apply Rle_lt_trans with (L * L); [ apply Rmult_le_compat; assumption | apply Rmult_le_0_lt_compat; assumption ].
Qed.
