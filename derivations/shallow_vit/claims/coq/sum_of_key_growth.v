
(* (178): the relative growth K(t) of (49), with q_1 the key of pattern mu, at delta = tau = 0, against T/e^{|q_1(T)|^2} with any constant C *)
Theorem sum_of_growth_is_outgrown : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C : R), (0 < m)%nat ->
  0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C ->
  for_small_eta (fun x => forall w T mu K, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T ->
    norm d mu <= 1 -> length_of_key d m_b mu w 0 = 1 ->
    (forall t, (t < T)%nat -> length_of_key d m_b mu w (S t) ^ 2 = (1 + K t) * length_of_key d m_b mu w t ^ 2) ->
    total T (fun b => K b * length_of_key d m_b mu w b) < C * (INR T / exp (length_of_key d m_b mu w T ^ 2))).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C M N c1 c2 SP CC.
  destruct (longest_not_negative o v k q N 1) as (L1 & L2). set (L := longest o v 1) in *. set (Y := longest_K o v k q 1) in *.
  assert (LLK : 0 <= L * L * Y) by (apply Rmult_le_pos; [ apply Rmult_le_pos | ]; assumption).
  assert (D : 0 < c_2 / alpha_s) by (apply Rdiv_lt_0_compat; assumption).
  set (most := 4 * (L * L * Y * Y)). assert (most0 : 0 <= most) by (assert (0 <= L * L * Y * Y) by (apply Rmult_le_pos; assumption); unfold most; lra).
  set (f := C * / exp (Y * Y)). assert (f0 : 0 < f) by (apply Rmult_lt_0_compat; [ exact CC | apply Rinv_0_lt_compat, exp_pos ]).
  assert (mf : 0 <= most / f) by (apply Rmult_le_pos; [ exact most0 | apply Rlt_le, Rinv_0_lt_compat, f0 ]).
  exists (1 + c_2 / alpha_s + 2 * (L * L * Y) + most / f). intros x Hx w T mu K R (H1 & H2) MU K0 grows.
  assert (large : 1 + c_2 / alpha_s <= x) by lra.
  destruct (short_time c_2 alpha_s x T c2 SP large H2) as (x1 & e0 & x2 & e1 & _).
  assert (keys : forall t, (t <= T)%nat -> / 2 <= length_of_key d m_b mu w t <= Y).
  { intros t Ht. apply (key_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R mu MU K0); [ fold L Y; lra | exact Ht ]. }
  assert (T0 : 0 < INR T).
  { eapply Rlt_le_trans; [ | exact H1 ]. unfold steps. assert (0 < / alpha_s) by (apply Rinv_0_lt_compat, SP).
    apply Rmult_lt_0_compat; [ apply Rmult_lt_0_compat; lra | apply pow_lt; lra ]. }
  assert (each : forall b, (b < T)%nat -> Rabs (K b * length_of_key d m_b mu w b) <= eta x * most).
  { intros b Hb. assert (In := norms_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R b ltac:(lia)). fold L Y in In.
    destruct R as (slope & kappa & sizes & batches & SL & RR & _). destruct RR as (P & KE & G & steps_made).
    destruct (forces_below d m_a m_b m slope SL (sizes b) (batches b) (w b) L L Y Y (G b) (conj L1 (conj L1 (conj L2 L2))) In) as (_ & _ & FK & _).
    assert (mv : at_most m_b d (fun i z => WK (w (S b)) i z - WK (w b) i z) (Rabs kappa * (L * L * Y))).
    { apply at_most_equal with (fun i z => kappa * force_K d m_a m_b m slope (sizes b) (batches b) (w b) i z).
      - intros i z. destruct (steps_made b i z) as (_ & _ & E & _). rewrite E. ring.
      - apply at_most_scaled, FK. }
    rewrite (Rabs_right kappa) in mv by lra.
    assert (ky : 0 <= kappa * (L * L * Y)) by (apply Rmult_le_pos; lra).
    destruct (image_moves m_b d (WK (w (S b))) (WK (w b)) (kappa * (L * L * Y)) mu MU ky mv) as (up & down).
    fold (length_of_key d m_b mu w (S b)) (length_of_key d m_b mu w b) in up, down.
    assert (k1 := keys b ltac:(lia)). assert (k2 := keys (S b) ltac:(lia)). specialize (grows b Hb).
    set (a := length_of_key d m_b mu w b) in *. set (c := length_of_key d m_b mu w (S b)) in *.
    assert (ke : kappa * (L * L * Y) <= eta x * (L * L * Y)) by (apply Rmult_le_compat_r; lra).
    assert (rel : K b * a * a = (c - a) * (c + a)) by (simpl in grows; lra).
    assert (size1 : Rabs (K b * a) * a <= eta x * (L * L * Y) * (2 * Y)).
    { rewrite <- (Rabs_right a) at 2 by lra. rewrite <- Rabs_mult, rel, Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos.
      - apply Rabs_le. lra.
      - rewrite Rabs_right; lra. }
    assert (P1 := Rabs_pos (K b * a)). assert (half : Rabs (K b * a) * / 2 <= Rabs (K b * a) * a) by (apply Rmult_le_compat_l; lra).
    unfold most. lra. }
  assert (sum := within _ _ (total_size T (fun b => K b * length_of_key d m_b mu w b) _ each)).
  apply Rle_lt_trans with (INR T * (eta x * most)); [ apply sum | ].
  assert (kT := keys T (le_n T)). set (a := length_of_key d m_b mu w T) in *.
  assert (ex : / exp (Y * Y) <= / exp (a ^ 2)).
  { apply Rinv_le_contravar; [ apply exp_pos | ]. apply exp_order. simpl. rewrite Rmult_1_r. apply Rmult_le_compat; lra. }
  apply Rlt_le_trans with (INR T * f).
  - apply Rmult_lt_compat_l; [ exact T0 | ]. apply Rle_lt_trans with (/ x * most); [ apply Rmult_le_compat_r; lra | ].
    apply Rmult_lt_reg_l with x; [ lra | ]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    assert (J : f * (most / f) = most) by (field; lra). assert (Z : f * (most / f) < f * x) by (apply Rmult_lt_compat_l; lra). lra.
  - unfold f, Rdiv. replace (INR T * (C * / exp (Y * Y))) with (C * (INR T * / exp (Y * Y))) by ring.
    apply Rmult_le_compat_l; [ lra | ]. apply Rmult_le_compat_l; lra.
Qed.
