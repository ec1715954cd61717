
(* (64), (65): for every power C and constant D, once eta is small and eta T at most b, neither 1 - p_n(T) nor phi_n(T) (|S| - |S_1|) is
   down to D eta^C; q_1 is the key of a pattern mu *)
Theorem attention_stays_away : forall (d m_a m_b m : nat) (o v k q b C D alpha : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q ->
  0 < C -> 0 < D -> 0 < alpha < 1 ->
  exists small, 0 < small /\ forall h w T mu, 0 < h < small -> trained d m_a m_b m o v k q h w -> h * INR T <= b -> norm d mu <= 1 ->
  D * Rpower h C < 1 - p_n alpha (length_of_key d m_b mu w T) /\ D * Rpower h C < rest_n alpha (length_of_key d m_b mu w T).
Proof.
  intros d m_a m_b m o v k q b C D alpha N CC DD A. set (Y := longest_K o v k q b).
  destruct (longest_not_negative o v k q N b) as (_ & Y0). fold Y in Y0.
  set (rest := (1 - alpha) * exp (- (Y * Y))). assert (R0 : 0 < rest) by (apply Rmult_lt_0_compat; [ lra | apply exp_pos ]).
  set (r := rest / D). assert (r0 : 0 < r) by (apply Rdiv_lt_0_compat; assumption).
  exists (Rpower r (/ C)). split; [ apply exp_pos | ]. intros h w T mu H R HT MU.
  destruct R as (slope & kappa & sizes & batches & SL & RR & I).
  destruct (bounded_run d m_a m_b m slope SL h kappa sizes batches w o v k q RR N I T b HT T (le_n T)) as ((_ & _ & B & _) & _). fold Y in B.
  assert (L : length_of_key d m_b mu w T <= Y).
  { eapply Rle_trans; [ apply B | ]. rewrite <- (Rmult_1_r Y) at 2. apply Rmult_le_compat_l; assumption. }
  assert (P : 0 <= length_of_key d m_b mu w T) by apply norm_not_negative.
  destruct (rest_n_range alpha (length_of_key d m_b mu w T) Y A (conj P L)) as (_ & low). fold rest in low.
  assert (pow : Rpower h C < r).
  { replace r with (Rpower (Rpower r (/ C)) C).
    - apply Rlt_Rpower_l; [ exact CC | exact H ].
    - rewrite Rpower_mult, Rinv_l by lra. apply Rpower_1, r0. }
  assert (J : D * r = rest) by (unfold r; field; lra).
  assert (F : D * Rpower h C < rest) by (rewrite <- J; apply Rmult_lt_compat_l; assumption).
  rewrite rest_of by lra. lra.
Qed.

(* the same at T of (10) *)
Theorem attention_stays_away_at_T : forall (d m_a m_b m : nat) (o v k q c alpha_s C D alpha : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q ->
  0 < c -> 0 < alpha_s -> 0 < C -> 0 < D -> 0 < alpha < 1 ->
  for_small_eta (fun x => forall w T mu, trained d m_a m_b m o v k q (eta x) w -> INR T <= steps c alpha_s x -> norm d mu <= 1 ->
    D * Rpower (eta x) C < 1 - p_n alpha (length_of_key d m_b mu w T) /\ D * Rpower (eta x) C < rest_n alpha (length_of_key d m_b mu w T)).
Proof.
  intros d m_a m_b m o v k q c alpha_s C D alpha N c0 SP CC DD A.
  destruct (attention_stays_away d m_a m_b m o v k q 1 C D alpha N CC DD A) as (small & S0 & H).
  assert (E : 0 < c / alpha_s) by (apply Rdiv_lt_0_compat; assumption). assert (I := Rinv_0_lt_compat small S0).
  exists (1 + c / alpha_s + / small). intros x Hx w T mu R H2 MU. assert (large : 1 + c / alpha_s <= x) by lra.
  destruct (short_time c alpha_s x T c0 SP large H2) as (x1 & e0 & x2 & e1 & e2).
  apply (H (eta x) w T mu); [ split; [ exact e0 | ] | exact R | lra | exact MU ].
  apply Rle_lt_trans with (/ x); [ exact e1 | ]. rewrite <- (Rinv_inv small). apply Rinv_lt_contravar; [ apply Rmult_lt_0_compat; lra | lra ].
Qed.
