
(* what any query l gives to a choice of tokens, such as S_*, of a sample; rest is the least share of the others among all tokens *)
Definition attended (d m_b : nat) (w : weights) (X : sample) (chosen : nat -> R) (l : nat) : R :=
  total (size X) (fun s => chosen s * attention d m_b w X s l).

(* level and rate: for every power C and constant D, once eta is small and eta t at most b, attention on S_* is not up to 1 - D eta^C *)
Theorem attention_stays_below : forall (d m_a m_b m : nat) (o v k q b C D rest : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q ->
  0 < C -> 0 < D -> 0 < rest ->
  exists small, 0 < small /\ forall h w T X chosen l, 0 < h < small -> trained d m_a m_b m o v k q h w -> h * INR T <= b ->
  admitted d m X -> (l < size X)%nat -> (forall s, 0 <= chosen s <= 1) ->
  rest * total (size X) (count X) <= total (size X) (fun s => (1 - chosen s) * count X s) ->
  attended d m_b (w T) X chosen l < 1 - D * Rpower h C.
Proof.
  intros d m_a m_b m o v k q b C D rest N CC DD RR. set (Y := longest_K o v k q b).
  destruct (longest_not_negative o v k q N b) as (L0 & Y0). fold Y in Y0. set (L := longest o v b) in *.
  set (low := rest * exp (- (2 * (Y * Y)))). assert (low0 : 0 < low) by (apply Rmult_lt_0_compat; [ exact RR | apply exp_pos ]).
  set (r := low / D). assert (r0 : 0 < r) by (apply Rdiv_lt_0_compat; assumption).
  exists (Rpower r (/ C)). split; [ apply exp_pos | ]. intros h w T X chosen l H R HT G Hl CH others.
  destruct R as (slope & kappa & sizes & batches & SL & run_of & I).
  destruct (bounded_run d m_a m_b m slope SL h kappa sizes batches w o v k q run_of N I T b HT T (le_n T)) as ((_ & _ & BK & BQ) & _). fold Y in BK, BQ.
  assert (pow : Rpower h C < r).
  { replace r with (Rpower (Rpower r (/ C)) C).
    - apply Rlt_Rpower_l; [ exact CC | exact H ].
    - rewrite Rpower_mult, Rinv_l by lra. apply Rpower_1, r0. }
  assert (J : D * r = low) by (unfold r; field; lra). assert (F : D * Rpower h C < low) by (rewrite <- J; apply Rmult_lt_compat_l; assumption).
  assert (lg : forall s, (s < size X)%nat -> - (Y * Y) <= logit d m_b (w T) X s l <= Y * Y).
  { intros s Hs. apply within. eapply Rle_trans; [ apply cauchy_schwarz | ].
    apply Rmult_le_compat; try apply norm_not_negative; eapply of_token; eauto. }
  assert (cnt : forall s, (s < size X)%nat -> 0 < count X s) by (destruct G as (_ & _ & Z); intros s Hs; apply Z, Hs).
  assert (M0 := mass_positive d m_b m (w T) X G l).
  assert (tot : 0 < total (size X) (count X)) by (apply total_positive; [ apply G | exact cnt ]).
  assert (Mup : mass d m_b (w T) X l <= exp (Y * Y) * total (size X) (count X)).
  { unfold mass. rewrite <- total_scaled. apply total_at_most. intros s Hs. rewrite Rmult_comm. apply Rmult_le_compat_r; [ apply Rlt_le, cnt, Hs | ].
    apply exp_order, lg, Hs. }
  assert (E : 1 - attended d m_b (w T) X chosen l = / mass d m_b (w T) X l * total (size X) (fun s => (1 - chosen s) * count X s * exp (logit d m_b (w T) X s l))).
  { rewrite <- (attention_sum d m_b m (w T) X G l) at 1. unfold attended. rewrite <- total_scaled.
    transitivity (total (size X) (fun s => attention d m_b (w T) X s l + -1 * (chosen s * attention d m_b (w T) X s l))).
    - rewrite total_plus, total_scaled. ring.
    - apply total_equal. intros s _. unfold attention. field. lra. }
  assert (up : exp (- (Y * Y)) * (rest * total (size X) (count X)) <= total (size X) (fun s => (1 - chosen s) * count X s * exp (logit d m_b (w T) X s l))).
  { apply Rle_trans with (exp (- (Y * Y)) * total (size X) (fun s => (1 - chosen s) * count X s)).
    - apply Rmult_le_compat_l; [ apply Rlt_le, exp_pos | exact others ].
    - rewrite <- total_scaled. apply total_at_most. intros s Hs. rewrite Rmult_comm. apply Rmult_le_compat_l.
      + apply Rmult_le_pos; [ destruct (CH s); lra | apply Rlt_le, cnt, Hs ].
      + apply exp_order, lg, Hs. }
  assert (bound : low <= 1 - attended d m_b (w T) X chosen l).
  { rewrite E. apply Rmult_le_reg_l with (mass d m_b (w T) X l); [ exact M0 | ]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    eapply Rle_trans; [ | exact up ]. apply Rle_trans with (exp (Y * Y) * total (size X) (count X) * low).
    - apply Rmult_le_compat_r; lra.
    - right. unfold low. replace (2 * (Y * Y)) with (Y * Y + Y * Y) by ring. rewrite Ropp_plus_distr, exp_plus.
      replace (exp (Y * Y) * total (size X) (count X) * (rest * (exp (- (Y * Y)) * exp (- (Y * Y))))) with
        ((exp (Y * Y) * exp (- (Y * Y))) * (exp (- (Y * Y)) * (rest * total (size X) (count X)))) by ring.
      rewrite <- exp_plus. replace (Y * Y + - (Y * Y)) with 0 by ring. rewrite exp_0. ring. }
  lra.
Qed.

(* the same up to T of (10) *)
Theorem attention_stays_below_up_to_T : forall (d m_a m_b m : nat) (o v k q c alpha_s C D rest : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q ->
  0 < c -> 0 < alpha_s -> 0 < C -> 0 < D -> 0 < rest ->
  for_small_eta (fun x => forall w T X chosen l, trained d m_a m_b m o v k q (eta x) w -> INR T <= steps c alpha_s x ->
    admitted d m X -> (l < size X)%nat -> (forall s, 0 <= chosen s <= 1) ->
    rest * total (size X) (count X) <= total (size X) (fun s => (1 - chosen s) * count X s) ->
    attended d m_b (w T) X chosen l < 1 - D * Rpower (eta x) C).
Proof.
  intros d m_a m_b m o v k q c alpha_s C D rest N c0 SP CC DD RR.
  destruct (attention_stays_below d m_a m_b m o v k q 1 C D rest N CC DD RR) as (small & S0 & H).
  assert (E : 0 < c / alpha_s) by (apply Rdiv_lt_0_compat; assumption). assert (I := Rinv_0_lt_compat small S0).
  exists (1 + c / alpha_s + / small). intros x Hx w T X chosen l R H2 G Hl CH O. assert (large : 1 + c / alpha_s <= x) by lra.
  destruct (short_time c alpha_s x T c0 SP large H2) as (x1 & e0 & x2 & e1 & e2).
  apply (H (eta x) w T X chosen l); try assumption; [ split; [ exact e0 | ] | lra ].
  apply Rle_lt_trans with (/ x); [ exact e1 | ]. rewrite <- (Rinv_inv small). apply Rinv_lt_contravar; [ apply Rmult_lt_0_compat; lra | lra ].
Qed.
