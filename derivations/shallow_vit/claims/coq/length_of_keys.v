
(* (63): the squared length of q_1, the key of a pattern mu, is below C log T for every C, once T is large and eta T at most b *)
Theorem keys_are_bounded : forall (d m_a m_b m : nat) (o v k q b C : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < C ->
  exists many, forall h w T mu, trained d m_a m_b m o v k q h w -> h * INR T <= b -> many <= INR T -> norm d mu <= 1 ->
  length_of_key d m_b mu w T ^ 2 < C * ln (INR T).
Proof.
  intros d m_a m_b m o v k q b C N CC. set (Y := longest_K o v k q b).
  destruct (longest_not_negative o v k q N b) as (_ & Y0). fold Y in Y0.
  exists (exp (Y * Y / C + 1)). intros h w T mu R HT many MU. destruct R as (slope & kappa & sizes & batches & SL & RR & I).
  destruct (bounded_run d m_a m_b m slope SL h kappa sizes batches w o v k q RR N I T b HT T (le_n T)) as ((_ & _ & B & _) & _). fold Y in B.
  assert (A : length_of_key d m_b mu w T <= Y).
  { eapply Rle_trans; [ apply B | ]. rewrite <- (Rmult_1_r Y) at 2. apply Rmult_le_compat_l; assumption. }
  assert (P : 0 <= length_of_key d m_b mu w T) by apply norm_not_negative.
  assert (S2 : length_of_key d m_b mu w T ^ 2 <= Y * Y) by (simpl; rewrite Rmult_1_r; apply Rmult_le_compat; assumption).
  assert (E : Y * Y / C + 1 <= ln (INR T)).
  { rewrite <- (ln_exp (Y * Y / C + 1)). destruct many as [lt|eq]; [ apply Rlt_le, ln_increasing; [ apply exp_pos | exact lt ] | rewrite eq; lra ]. }
  assert (J : C * (Y * Y / C) = Y * Y) by (field; lra). assert (F : C * (Y * Y / C + 1) <= C * ln (INR T)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* the same at T of (10) *)
Theorem keys_are_bounded_at_T : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q ->
  0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C ->
  for_small_eta (fun x => forall w T mu, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T -> norm d mu <= 1 ->
    length_of_key d m_b mu w T ^ 2 < C * ln (INR T)).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C N c1 c2 SP CC.
  destruct (keys_are_bounded d m_a m_b m o v k q 1 C N CC) as (many & H).
  assert (D : 0 < c_2 / alpha_s) by (apply Rdiv_lt_0_compat; assumption). assert (G : 0 < c_1 / alpha_s) by (apply Rdiv_lt_0_compat; assumption).
  exists (1 + c_2 / alpha_s + Rabs many / (c_1 / alpha_s)). intros x Hx w T mu R (H1 & H2) MU.
  assert (Z : 0 <= Rabs many / (c_1 / alpha_s)) by (apply Rmult_le_pos; [ apply Rabs_pos | apply Rlt_le, Rinv_0_lt_compat, G ]).
  assert (large : 1 + c_2 / alpha_s <= x) by lra. destruct (short_time c_2 alpha_s x T c2 SP large H2) as (x1 & e0 & x2 & _ & e2).
  apply (H (eta x) w T mu R); [ lra | | exact MU ]. eapply Rle_trans; [ apply Rle_abs | ]. eapply Rle_trans; [ | exact H1 ].
  assert (J : c_1 / alpha_s * (Rabs many / (c_1 / alpha_s)) = Rabs many) by (field; lra).
  assert (K : c_1 / alpha_s * (Rabs many / (c_1 / alpha_s)) <= c_1 / alpha_s * x) by (apply Rmult_le_compat_l; lra).
  assert (x3 : x <= x ^ 3) by (simpl; rewrite Rmult_1_r; assert (1 * 1 <= x * x) by (apply Rmult_le_compat; lra); assert (x * 1 <= x * (x * x)) by (apply Rmult_le_compat_l; lra); lra).
  unfold steps. replace (/ alpha_s * c_1 * x ^ 3) with (c_1 / alpha_s * x ^ 3) by (unfold Rdiv; ring).
  apply Rle_trans with (c_1 / alpha_s * x); [ lra | apply Rmult_le_compat_l; lra ].
Qed.
