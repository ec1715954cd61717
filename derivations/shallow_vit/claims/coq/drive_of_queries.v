
(* (136): a neuron i of position l on the values, with the spread of keys along q_1; mu is pattern 1, q_1 its key, and j another token; without
   errors q_1 has length 1 at the start *)
Theorem drive_is_outgrown : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C xi alpha beta : R), (0 < m)%nat ->
  0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C -> 0 < xi -> 0 < alpha < 1 -> 0 <= beta ->
  for_small_eta (fun x => forall w T b Q X mu l i j, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T ->
    admitted d m X -> (l < size X)%nat -> (i < m)%nat -> norm d j <= 1 ->
    norm d mu <= 1 -> length_of_key d m_b mu w 0 = 1 -> Q T = length_of_key d m_b mu w T ->
    total (size X) (fun s => inner m_a (WO (w T) i) (value d (w T) X s) * attention d m_b (w T) X s l *
      inner m_b (apply d (WK (w T)) mu)
        (fun z => key d (w T) X s z - total (size X) (fun r => attention d m_b (w T) X r l * key d (w T) X r z))) *
      inner d (token X l) j <
    C * (p_n alpha (Q T) * bracket m xi (eta x) alpha beta 1 T b Q * rest_n alpha (Q T) * Q T ^ 2)).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C xi alpha beta M N c1 c2 SP CC X A Bt.
  destruct (longest_not_negative o v k q N 1) as (L1 & L2). set (L := longest o v 1) in *. set (K := longest_K o v k q 1) in *.
  assert (A4 : 0 < xi * alpha ^ 4 / 4) by (apply Rdiv_lt_0_compat; [ apply Rmult_lt_0_compat; [ exact X | apply pow_lt, A ] | lra ]).
  set (rest := (1 - alpha) * exp (- (K * K))). assert (rest0 : 0 < rest) by (apply Rmult_lt_0_compat; [ lra | apply exp_pos ]).
  assert (CA : 0 < C * (alpha * (rest * / 4))) by (apply Rmult_lt_0_compat; [ exact CC | apply Rmult_lt_0_compat; lra ]).
  assert (F : 0 < C * (alpha * (rest * / 4)) * (xi * alpha ^ 4 / 4)) by (apply Rmult_lt_0_compat; assumption).
  assert (LK : 0 <= L * L * (K * (K + K))) by (apply Rmult_le_pos; [ apply Rmult_le_pos; assumption | apply Rmult_le_pos; lra ]).
  destruct (square_outgrows (L * L * (K * (K + K))) _ c_1 c_2 alpha_s LK F c1 c2 SP) as (least & beats).
  exists (Rmax least (2 * (L * L * K))). intros x Hx w T b Q Y mu l i j R H G I J JJ MU K0 QT.
  assert (Hx1 := Rmax_l least (2 * (L * L * K))). assert (Hx2 := Rmax_r least (2 * (L * L * K))).
  destruct (beats x ltac:(lra)) as (large & big). specialize (big T H). destruct H as (H1 & H2).
  assert (In := norms_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R T (le_n T)). fold L K in In.
  destruct (short_time c_2 alpha_s x T c2 SP large H2) as (_ & e0 & _).
  assert (key1 := key_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R mu MU K0 ltac:(fold L K; lra) T (le_n T)). fold K in key1. rewrite <- QT in key1.
  destruct In as (I1 & I2 & I3 & _). assert (row := row_below m m_a (WO (w T)) L i L1 I1 J).
  assert (kb : forall s, (s < size Y)%nat -> norm m_b (key d (w T) Y s) <= K) by (intros; eapply of_token; eauto).
  assert (left : Rabs (total (size Y) (fun s => inner m_a (WO (w T) i) (value d (w T) Y s) * attention d m_b (w T) Y s l *
      inner m_b (apply d (WK (w T)) mu)
        (fun z => key d (w T) Y s z - total (size Y) (fun r => attention d m_b (w T) Y r l * key d (w T) Y r z)))) <= L * L * (K * (K + K))).
  { eapply Rle_trans; [ apply total_abs | ].
    apply Rle_trans with (total (size Y) (fun s => attention d m_b (w T) Y s l * (L * L * (K * (K + K))))).
    2:{ rewrite total_times, (attention_sum d m_b m (w T) Y G l). lra. }
    apply total_at_most. intros s S0. assert (a0 := attention_positive d m_b m (w T) Y G s l S0).
    assert (val : norm m_a (value d (w T) Y s) <= L) by (eapply of_token; eauto).
    assert (c1' := cauchy_schwarz m_a (WO (w T) i) (value d (w T) Y s)).
    assert (p1 : norm m_a (WO (w T) i) * norm m_a (value d (w T) Y s) <= L * L) by (apply Rmult_le_compat; try assumption; apply norm_not_negative).
    set (u := fun z => key d (w T) Y s z - total (size Y) (fun r => attention d m_b (w T) Y r l * key d (w T) Y r z)).
    assert (nu : norm m_b u <= K + K).
    { rewrite (norm_equal m_b u (fun z => key d (w T) Y s z + -1 * total (size Y) (fun r => attention d m_b (w T) Y r l * key d (w T) Y r z))) by (intros; unfold u; ring).
      eapply Rle_trans; [ apply norm_triangle | ]. rewrite norm_scaled, (Rabs_left (-1)) by lra.
      assert (Z := attended d m_b m (w T) Y G m_b (key d (w T) Y) l K kb). assert (Z2 := kb s S0). lra. }
    assert (c2' := cauchy_schwarz m_b (apply d (WK (w T)) mu) u).
    assert (p2 : norm m_b (apply d (WK (w T)) mu) * norm m_b u <= K * (K + K)).
    { apply Rmult_le_compat; try apply norm_not_negative; [ | exact nu ]. fold (length_of_key d m_b mu w T). lra. }
    rewrite !Rabs_mult, (Rabs_right (attention d m_b (w T) Y s l)) by lra.
    replace (Rabs (inner m_a (WO (w T) i) (value d (w T) Y s)) * attention d m_b (w T) Y s l * Rabs (inner m_b (apply d (WK (w T)) mu) u)) with
      (attention d m_b (w T) Y s l * (Rabs (inner m_a (WO (w T) i) (value d (w T) Y s)) * Rabs (inner m_b (apply d (WK (w T)) mu) u))) by ring.
    apply Rmult_le_compat_l; [ lra | ]. apply Rmult_le_compat; try apply Rabs_pos; lra. }
  assert (xx : Rabs (inner d (token Y l) j) <= 1).
  { eapply Rle_trans; [ apply cauchy_schwarz | ]. destruct G as (_ & _ & G). destruct (G l I) as (_ & T1 & _).
    rewrite <- (Rmult_1_l 1). apply Rmult_le_compat; try assumption; apply norm_not_negative. }
  apply Rle_lt_trans with (L * L * (K * (K + K))).
  { set (sum := total (size Y) _) in *. assert (Z := Rle_abs (sum * inner d (token Y l) j)). rewrite Rabs_mult in Z.
    rewrite <- (Rmult_1_r (L * L * (K * (K + K)))). eapply Rle_trans; [ exact Z | ]. apply Rmult_le_compat; try assumption; apply Rabs_pos. }
  eapply Rlt_le_trans; [ exact big | ].
  assert (E := bracket_grows m xi (eta x) alpha beta 1 T b Q M X ltac:(lra) ltac:(lra) Bt (Rle_refl 1)). assert (U := p_n_range alpha (Q T) ltac:(lra)).
  assert (V := rest_n_range alpha (Q T) K A ltac:(lra)). fold rest in V.
  set (y := eta x * INR T ^ 2) in *. assert (Y0 : 0 <= y) by (apply Rmult_le_pos; [ lra | apply pow2_ge_0 ]).
  set (B := bracket m xi (eta x) alpha beta 1 T b Q) in *. assert (B1 : 0 <= xi * alpha ^ 4 / 4 * y) by (apply Rmult_le_pos; lra).
  assert (q4 : / 4 <= Q T ^ 2) by (replace (/ 4) with (/ 2 * (/ 2 * 1)) by field; apply Rmult_le_compat; try lra; apply Rmult_le_compat; lra).
  rewrite (Rmult_assoc C), (Rmult_assoc C). apply Rmult_le_compat_l; [ lra | ].
  replace (p_n alpha (Q T) * B * rest_n alpha (Q T) * Q T ^ 2) with (p_n alpha (Q T) * (rest_n alpha (Q T) * Q T ^ 2) * B) by ring.
  assert (r4 : rest * / 4 <= rest_n alpha (Q T) * Q T ^ 2) by (apply Rmult_le_compat; lra).
  rewrite (Rmult_assoc _ (xi * alpha ^ 4 / 4)). apply Rmult_le_compat; try lra; [ apply Rmult_le_pos; lra | ]. apply Rmult_le_compat; lra.
Qed.
