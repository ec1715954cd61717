
(* (133): a neuron i on the value of a token s, times the attention of l on s; many is |S_1| *)
Theorem neuron_on_a_value_is_outgrown : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C xi alpha beta many : R), (0 < m)%nat ->
  0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C -> 0 < xi -> 0 < alpha <= 1 -> 0 <= beta -> 0 < many ->
  for_small_eta (fun x => forall w T b Q X s l i, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T ->
    admitted d m X -> (s < size X)%nat -> (i < m)%nat ->
    inner m_a (WO (w T) i) (value d (w T) X s) * attention d m_b (w T) X s l <
    C * (p_n alpha (Q T) / many * bracket m xi (eta x) alpha beta 1 T b Q)).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C xi alpha beta many M N c1 c2 SP CC X A Bt Mn.
  destruct (longest_not_negative o v k q N 1) as (L1 & L2). set (L := longest o v 1) in *.
  assert (A4 : 0 < xi * alpha ^ 4 / 4) by (apply Rdiv_lt_0_compat; [ apply Rmult_lt_0_compat; [ exact X | apply pow_lt, A ] | lra ]).
  assert (CA : 0 < C * (alpha / many)) by (apply Rmult_lt_0_compat; [ exact CC | apply Rdiv_lt_0_compat; [ apply A | exact Mn ] ]).
  assert (F : 0 < C * (alpha / many) * (xi * alpha ^ 4 / 4)) by (apply Rmult_lt_0_compat; assumption).
  destruct (square_outgrows (L * L) _ c_1 c_2 alpha_s ltac:(apply Rmult_le_pos; assumption) F c1 c2 SP) as (least & beats).
  exists least. intros x Hx w T b Q Y s l i R H G I J. destruct (beats x Hx) as (large & big). specialize (big T H). destruct H as (H1 & H2).
  assert (In := norms_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R T (le_n T)). fold L in In.
  destruct (short_time c_2 alpha_s x T c2 SP large H2) as (_ & e0 & _). destruct In as (I1 & I2 & _).
  assert (row := row_below m m_a (WO (w T)) L i L1 I1 J). assert (val : norm m_a (value d (w T) Y s) <= L) by (eapply of_token; eauto).
  assert (CS := within _ _ (cauchy_schwarz m_a (WO (w T) i) (value d (w T) Y s))).
  assert (prod : norm m_a (WO (w T) i) * norm m_a (value d (w T) Y s) <= L * L) by (apply Rmult_le_compat; try assumption; apply norm_not_negative).
  assert (a0 := attention_positive d m_b m (w T) Y G s l I).
  assert (a1 := attention_below d m_b m (w T) Y G s l I).
  assert (E := bracket_grows m xi (eta x) alpha beta 1 T b Q M X ltac:(lra) A Bt (Rle_refl 1)). assert (U := p_n_range alpha (Q T) A).
  set (y := eta x * INR T ^ 2) in *. assert (Y0 : 0 <= y) by (apply Rmult_le_pos; [ lra | apply pow2_ge_0 ]).
  assert (B0 : 0 <= bracket m xi (eta x) alpha beta 1 T b Q) by (assert (0 <= xi * alpha ^ 4 / 4 * y) by (apply Rmult_le_pos; lra); lra).
  apply Rle_lt_trans with (L * L).
  - assert (0 <= L * L) by (apply Rmult_le_pos; assumption). nra.
  - eapply Rlt_le_trans; [ exact big | ]. rewrite !Rmult_assoc. apply Rmult_le_compat_l; [ lra | ].
    apply Rmult_le_compat; try lra; [ apply Rlt_le, Rdiv_lt_0_compat; lra | apply Rmult_le_pos; lra | ].
    unfold Rdiv. apply Rmult_le_compat_r; [ apply Rlt_le, Rinv_0_lt_compat, Mn | lra ].
Qed.
