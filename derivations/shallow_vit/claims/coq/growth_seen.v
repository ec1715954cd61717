
(* V_j of (191): the coefficient of neuron j in the gradient of the value of a pattern; own n s is 1 for tokens of that pattern and 0 else *)
Definition V_j (d m_a m_b : nat) (slope : weights -> sample -> R) (B : nat) (batch : nat -> sample) (own : nat -> nat -> R) (w : weights) (j : nat) : R :=
  - (/ INR B * total B (fun n => total (size (batch n)) (fun l => coefficient d m_a m_b slope w (batch n) l j *
    total (size (batch n)) (fun s => attention d m_b w (batch n) s l * own n s)))).

(* the right side of (195), at sigma = tau = 0 *)
Definition printed_195 (m : nat) (xi h alpha beta : R) (T : nat) (Q : nat -> R) : R :=
  h * INR m * (beta / 2) * total T (fun b => alpha / sqrt (INR m) * p_n alpha (Q (S b))) *
  (xi / sqrt (INR m) * (h * (INR T + 1) ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T)))) ^ 2.

Lemma V_j_below : forall d m_a m_b m slope B batch own w, (forall w p, 0 <= slope w p <= 1) -> batch_admitted d m B batch ->
  (forall n s, 0 <= own n s <= 1) -> norm m (V_j d m_a m_b slope B batch own w) <= 1.
Proof.
  intros d m_a m_b m slope B batch own w SL (P & G) O.
  assert (IB : 0 < INR B) by (apply lt_0_INR, P). assert (IV : 0 < / INR B) by (apply Rinv_0_lt_compat, IB).
  unfold V_j. rewrite (norm_equal m _ (fun j => - / INR B * total B (fun n => total (size (batch n)) (fun l => coefficient d m_a m_b slope w (batch n) l j *
    total (size (batch n)) (fun s => attention d m_b w (batch n) s l * own n s))))) by (intros; ring).
  rewrite norm_scaled, Rabs_Ropp, (Rabs_right (/ INR B)) by lra.
  apply Rle_trans with (/ INR B * total B (fun _ => 1)); [ | rewrite total_constant; right; field; lra ].
  apply Rmult_le_compat_l; [ lra | ]. eapply Rle_trans; [ apply norm_total | ]. apply total_at_most. intros n Hn. specialize (G n Hn).
  eapply Rle_trans; [ apply norm_total | ]. rewrite <- (share_sum d m (batch n) G). apply total_at_most. intros l Hl.
  rewrite (norm_equal m _ (fun j => total (size (batch n)) (fun s => attention d m_b w (batch n) s l * own n s) * coefficient d m_a m_b slope w (batch n) l j)) by (intros; ring).
  rewrite norm_scaled. assert (C := coefficient_below d m_a m_b m slope SL w (batch n) G l Hl).
  assert (A : Rabs (total (size (batch n)) (fun s => attention d m_b w (batch n) s l * own n s)) <= 1).
  { rewrite Rabs_right.
    - apply mean_below; [ intros; eapply Rlt_le, attention_positive; eauto | eapply attention_sum; eauto | intros; apply O ].
    - apply Rle_ge, total_not_negative. intros s Hs. apply Rmult_le_pos; [ eapply Rlt_le, attention_positive; eauto | apply O ]. }
  rewrite <- (Rmult_1_l (share (batch n) l)). apply Rmult_le_compat; try assumption; [ apply Rabs_pos | apply norm_not_negative ].
Qed.

(* (195): any neuron i, any choice of neurons j, such as lucky ones, and any batches *)
Theorem growth_seen_is_outgrown : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C xi alpha beta : R), (0 < m)%nat ->
  0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C -> 0 < xi -> 0 < alpha <= 1 -> 0 < beta ->
  for_small_eta (fun x => forall w T Q slope sizes batches own chosen i, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T ->
    (forall w p, 0 <= slope w p <= 1) -> (forall b, batch_admitted d m (sizes b) (batches b)) ->
    (forall b n s, 0 <= own b n s <= 1) -> (forall j, 0 <= chosen j <= 1) -> (i < m)%nat ->
    - (eta x * total T (fun b => inner m_a (WO (w b) i)
        (fun z => total m (fun j => chosen j * V_j d m_a m_b slope (sizes b) (batches b) (own b) (w b) j * WO (w b) j z)))) <
    C * printed_195 m xi (eta x) alpha beta T Q).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C xi alpha beta M N c1 c2 SP CC X A Bt.
  destruct (longest_not_negative o v k q N 1) as (L1 & L2). set (L := longest o v 1) in *.
  destruct (root_of m M) as (R1 & R2). assert (R3 : INR m / sqrt (INR m) = sqrt (INR m)) by (rewrite <- R2 at 1; field; lra).
  assert (LL : 0 <= L * L) by (apply Rmult_le_pos; assumption).
  set (g := C * (sqrt (INR m) * (beta / 2) * (alpha * alpha))).
  assert (g0 : 0 < g) by (unfold g; repeat apply Rmult_lt_0_compat; lra).
  set (r := xi * alpha ^ 3 / 4). assert (r0 : 0 < r) by (apply Rdiv_lt_0_compat; [ apply Rmult_lt_0_compat; [ exact X | apply pow_lt, A ] | lra ]).
  assert (D0 : 0 <= L * L / g + 1) by (assert (0 <= L * L / g) by (apply Rmult_le_pos; [ exact LL | apply Rlt_le, Rinv_0_lt_compat, g0 ]); lra).
  destruct (square_outgrows (L * L / g + 1) r c_1 c_2 alpha_s D0 r0 c1 c2 SP) as (least & beats).
  exists least. intros x Hx w T Q slope sizes batches own chosen i R H SL BA O CH I.
  destruct (beats x Hx) as (large & big). specialize (big T H). destruct H as (H1 & H2).
  destruct (short_time c_2 alpha_s x T c2 SP large H2) as (x1 & e0 & _).
  set (y := eta x * INR T ^ 2) in *. assert (Y0 : 0 <= y) by (apply Rmult_le_pos; [ lra | apply pow2_ge_0 ]).
  assert (T0 : 0 < INR T).
  { eapply Rlt_le_trans; [ | exact H1 ]. unfold steps. assert (0 < / alpha_s) by (apply Rinv_0_lt_compat, SP).
    apply Rmult_lt_0_compat; [ apply Rmult_lt_0_compat; lra | apply pow_lt; lra ]. }
  assert (left : Rabs (total T (fun b => inner m_a (WO (w b) i)
        (fun z => total m (fun j => chosen j * V_j d m_a m_b slope (sizes b) (batches b) (own b) (w b) j * WO (w b) j z)))) <= INR T * (L * L)).
  { apply total_size. intros b Hb.
    destruct (norms_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R b ltac:(lia)) as (I1 & _). fold L in I1.
    assert (row := row_below m m_a (WO (w b)) L i L1 I1 I).
    assert (tr := transposed m m_a (WO (w b)) L (fun j => chosen j * V_j d m_a m_b slope (sizes b) (batches b) (own b) (w b) j) L1 I1).
    assert (vb : norm m (fun j => chosen j * V_j d m_a m_b slope (sizes b) (batches b) (own b) (w b) j) <= 1).
    { eapply Rle_trans; [ | apply (V_j_below d m_a m_b m slope (sizes b) (batches b) (own b) (w b) SL (BA b) (O b)) ].
      apply norm_below. intros j _. rewrite Rabs_mult, (Rabs_right (chosen j)) by (destruct (CH j); lra).
      assert (P := Rabs_pos (V_j d m_a m_b slope (sizes b) (batches b) (own b) (w b) j)). destruct (CH j) as (_ & ch).
      rewrite <- (Rmult_1_l (Rabs (V_j d m_a m_b slope (sizes b) (batches b) (own b) (w b) j))) at 2. apply Rmult_le_compat_r; assumption. }
    eapply Rle_trans; [ apply cauchy_schwarz | ]. apply Rmult_le_compat; try apply norm_not_negative; [ exact row | ].
    eapply Rle_trans; [ exact tr | ]. rewrite <- (Rmult_1_r L) at 2. apply Rmult_le_compat_l; assumption. }
  apply within in left.
  assert (lhs : - (eta x * total T (fun b => inner m_a (WO (w b) i)
        (fun z => total m (fun j => chosen j * V_j d m_a m_b slope (sizes b) (batches b) (own b) (w b) j * WO (w b) j z)))) <= eta x * INR T * (L * L)).
  { rewrite Ropp_mult_distr_r, Rmult_assoc. apply Rmult_le_compat_l; lra. }
  eapply Rle_lt_trans; [ exact lhs | ].
  assert (U := p_n_range alpha (Q T) A).
  assert (sq : r * y <= xi / sqrt (INR m) * (eta x * (INR T + 1) ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T)))).
  { replace (xi / sqrt (INR m) * (eta x * (INR T + 1) ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T)))) with
      (xi * alpha ^ 2 / 4 * (eta x * (INR T + 1) ^ 2) * p_n alpha (Q T)) by (replace (alpha * INR m / sqrt (INR m)) with (alpha * sqrt (INR m)) by (rewrite <- R3 at 1; field; lra); field; lra).
    unfold r, y. replace (xi * alpha ^ 3 / 4 * (eta x * INR T ^ 2)) with (xi * alpha ^ 2 / 4 * (eta x * INR T ^ 2) * alpha) by field.
    assert (a2 : 0 <= alpha ^ 2) by apply pow2_ge_0. assert (xa : 0 <= xi * alpha ^ 2 / 4) by (apply Rmult_le_pos; [ apply Rmult_le_pos; lra | lra ]).
    assert (t2 : INR T ^ 2 <= (INR T + 1) ^ 2) by (apply pow_incr; lra).
    apply Rmult_le_compat; try lra; [ apply Rmult_le_pos; assumption | apply Rmult_le_compat_l; [ exact xa | apply Rmult_le_compat_l; lra ] ]. }
  assert (ry : L * L / g + 1 < r * y) by exact big.
  assert (one : 1 <= r * y) by (assert (0 <= L * L / g) by (apply Rmult_le_pos; [ exact LL | apply Rlt_le, Rinv_0_lt_compat, g0 ]); lra).
  assert (sq2 : L * L / g < (xi / sqrt (INR m) * (eta x * (INR T + 1) ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T)))) ^ 2).
  { set (s := xi / sqrt (INR m) * _ * _) in *. assert (s * 1 <= s * s) by (apply Rmult_le_compat_l; lra). simpl. lra. }
  assert (sum : INR T * (alpha / sqrt (INR m) * alpha) <= total T (fun b => alpha / sqrt (INR m) * p_n alpha (Q (S b)))).
  { rewrite <- total_constant. apply total_at_most. intros b _. apply Rmult_le_compat_l; [ apply Rlt_le, Rdiv_lt_0_compat; lra | apply p_n_range, A ]. }
  unfold printed_195. set (s2 := (xi / sqrt (INR m) * (eta x * (INR T + 1) ^ 2 * alpha) * (/ 4 * (alpha * INR m / sqrt (INR m) * p_n alpha (Q T)))) ^ 2) in *.
  assert (Pm : 0 < INR m) by (apply lt_0_INR, M).
  apply Rlt_le_trans with (C * (eta x * INR m * (beta / 2) * (INR T * (alpha / sqrt (INR m) * alpha)) * s2)).
  - replace (C * (eta x * INR m * (beta / 2) * (INR T * (alpha / sqrt (INR m) * alpha)) * s2)) with (eta x * INR T * (g * s2)).
    + apply Rmult_lt_compat_l; [ apply Rmult_lt_0_compat; lra | ]. assert (J : g * (L * L / g) = L * L) by (field; lra).
      rewrite <- J. apply Rmult_lt_compat_l; assumption.
    + assert (E : INR m * (alpha / sqrt (INR m)) = alpha * sqrt (INR m)) by (transitivity (alpha * (INR m / sqrt (INR m))); [ unfold Rdiv; ring | rewrite R3; reflexivity ]).
      transitivity (eta x * INR T * (C * (beta / 2) * alpha * s2 * (alpha * sqrt (INR m)))); [ unfold g; ring | rewrite <- E; ring ].
  - assert (s20 : 0 <= s2) by apply pow2_ge_0. apply Rmult_le_compat_l; [ lra | ]. apply Rmult_le_compat_r; [ exact s20 | ].
    apply Rmult_le_compat_l; [ apply Rmult_le_pos; [ apply Rmult_le_pos; lra | lra ] | exact sum ].
Qed.
