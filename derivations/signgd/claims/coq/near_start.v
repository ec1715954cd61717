(* q is a query or key along mu (Eq. (8)); at the start it is at least sigma_0 n s^(-1/3) |mu| in size (Lemma C.12).
   Up to T it stays within share times its start, and with share below 1 it keeps its sign *)
Theorem up_to_T : forall (q c : nat -> R) (T eta mu sigma_0 n s : R),
  0 <= T -> 0 < eta -> 0 < mu -> 0 < sigma_0 -> 0 < n -> 0 < s ->
  (forall k, q (S k) = q k + eta * mu * sgn (c k)) -> least sigma_0 n s * mu <= Rabs (q 0%nat) ->
  forall t, INR t <= T ->
  Rabs (q t - q 0%nat) <= share T eta sigma_0 n s * Rabs (q 0%nat) /\
  (share T eta sigma_0 n s < 1 -> sgn (q t) = sgn (q 0%nat)).
Proof.
  intros q c T eta mu sigma_0 n s HT E M G N S step start t early.
  assert (P : 0 < eta * mu) by (apply Rmult_lt_0_compat; assumption).
  assert (W := sign_steps_within q c (eta * mu) (Rlt_le _ _ P) step t).
  assert (L : 0 < least sigma_0 n s) by (unfold least; pos).
  assert (Q : share T eta sigma_0 n s * least sigma_0 n s = T * eta) by (unfold share, least in *; field; nonzero).
  assert (F : 0 <= share T eta sigma_0 n s) by (apply Rmult_le_reg_r with (least sigma_0 n s); nra).
  assert (B : Rabs (q t - q 0%nat) <= share T eta sigma_0 n s * Rabs (q 0%nat)).
  { apply Rle_trans with (T * eta * mu); [ apply Rle_trans with (INR t * (eta * mu)); [ exact W | nra ] | ].
    rewrite <- Q, Rmult_assoc. apply Rmult_le_compat_l; assumption. }
  split; [ exact B | intro small ].
  assert (Z : 0 < Rabs (q 0%nat)) by nra.
  assert (D := within _ _ B). unfold Rabs in D, Z; destruct (Rcase_abs (q 0%nat)) as [C|C].
  - rewrite !sgn_negative; [ reflexivity | lra | nra ].
  - rewrite !sgn_positive; [ reflexivity | lra | nra ].
Qed.

Lemma plus_of_root : forall C n m_k delta sigma_0 s eta, T_2_plus C n m_k delta sigma_0 s eta = C * root_of_log n m_k delta * / eta * n * / sqrt s * sigma_0.
Proof. intros. unfold T_2_plus, root_of_log, logarithm. ring. Qed.

(* what is left of the share at T_2^+, where the start is at least h times sigma_0 n s^(-1/3) *)
Lemma share_at_T_2_plus : forall C h n m_k delta sigma_0 s eta, 0 < h -> 0 < n -> 0 < sigma_0 -> 0 < s -> 0 < eta ->
  share (T_2_plus C n m_k delta sigma_0 s eta) eta (h * sigma_0) n s * Rpower s (1 / 6) = C / h * root_of_log n m_k delta.
Proof.
  intros C h n m_k delta sigma_0 s eta H N G S E. assert (r0 : 0 < Rpower s (1 / 6)) by apply exp_pos. set (r := Rpower s (1 / 6)) in *.
  assert (third : Rpower s (1 / 3) = r * r) by (unfold r; rewrite <- Rpower_plus; f_equal; field).
  assert (half : sqrt s = r * r * r) by (rewrite <- Rpower_sqrt by exact S; unfold r; rewrite <- !Rpower_plus; f_equal; field).
  rewrite plus_of_root. unfold share. rewrite third, half. field. repeat split; lra.
Qed.

Lemma share_tends_to_zero : forall C h k p epsilon, 0 < C -> 0 < h -> 0 < k -> 0 < epsilon -> exists least_n, forall n d s m_k delta sigma_0 eta, least_n <= n ->
  condition k p n d s m_k delta -> 0 < sigma_0 -> 0 < eta -> 0 < s /\ share (T_2_plus C n m_k delta sigma_0 s eta) eta (h * sigma_0) n s < epsilon.
Proof.
  intros C' h k p epsilon PC' Ph K E. set (C := C' / h). assert (PC : 0 < C) by (apply Rdiv_lt_0_compat; assumption).
  set (A := C ^ 6 * (4 * INR p) ^ 3 / (epsilon ^ 6 * k)). assert (I := pos_INR p). assert (e6 : 0 < epsilon ^ 6) by (apply pow_lt, E).
  assert (den : 0 < epsilon ^ 6 * k) by (apply Rmult_lt_0_compat; assumption).
  assert (num : 0 <= C ^ 6 * (4 * INR p) ^ 3) by (apply Rmult_le_pos; apply pow_le; lra).
  assert (A0 : 0 <= A) by (apply Rmult_le_pos; [ exact num | apply Rlt_le, Rinv_0_lt_compat, den ]).
  exists ((A + 1) ^ 4). intros n d s m_k delta sigma_0 eta large c G H.
  destruct (powers k p n d s m_k delta K c) as (Z & Z1 & L & S). assert (far := root_above A n A0 large). set (z := sqrt (sqrt n)) in *.
  assert (s0 : 0 < s) by (apply Rlt_le_trans with (k * z ^ 10); [ apply Rmult_lt_0_compat; [ exact K | apply pow_lt; lra ] | exact S ]). split; [ exact s0 | ].
  assert (F := share_at_T_2_plus C' h n m_k delta sigma_0 s eta Ph ltac:(destruct c; lra) G s0 H). fold C in F. set (q := root_of_log n m_k delta) in *.
  assert (q0 : 0 <= q) by apply sqrt_pos. set (x := share (T_2_plus C' n m_k delta sigma_0 s eta) eta (h * sigma_0) n s) in *.
  assert (r0 : 0 < Rpower s (1 / 6)) by apply exp_pos. set (r := Rpower s (1 / 6)) in *.
  assert (sixth : r ^ 6 = s).
  { unfold r. rewrite <- Rpower_pow by apply exp_pos. rewrite Rpower_mult. replace (1 / 6 * INR 6) with 1 by (simpl; field). apply Rpower_1, s0. }
  apply Rnot_le_lt. intro small. assert (up : epsilon * r <= C * q) by (rewrite <- F; apply Rmult_le_compat_r; lra).
  assert (up6 : (epsilon * r) ^ 6 <= (C * q) ^ 6) by (apply pow_incr; split; [ apply Rmult_le_pos; lra | exact up ]).
  assert (q6 : q ^ 6 <= (4 * INR p * z) ^ 3) by (replace (q ^ 6) with ((q ^ 2) ^ 3) by ring; apply pow_incr; split; [ apply pow_le, q0 | exact L ]).
  assert (c6 : 0 < C ^ 6) by (apply pow_lt, PC). assert (z3 : 0 < z ^ 3) by (apply pow_lt; lra).
  assert (bound : epsilon ^ 6 * (k * z ^ 10) <= C ^ 6 * (4 * INR p * z) ^ 3).
  { apply Rle_trans with (epsilon ^ 6 * s); [ apply Rmult_le_compat_l; lra | ]. rewrite <- sixth.
    replace (epsilon ^ 6 * r ^ 6) with ((epsilon * r) ^ 6) by ring. eapply Rle_trans; [ exact up6 | ].
    replace ((C * q) ^ 6) with (C ^ 6 * q ^ 6) by ring. apply Rmult_le_compat_l; lra. }
  assert (seven : epsilon ^ 6 * k * z ^ 7 <= C ^ 6 * (4 * INR p) ^ 3).
  { apply Rmult_le_reg_r with (z ^ 3); [ exact z3 | ]. replace (epsilon ^ 6 * k * z ^ 7 * z ^ 3) with (epsilon ^ 6 * (k * z ^ 10)) by ring.
    replace (C ^ 6 * (4 * INR p) ^ 3 * z ^ 3) with (C ^ 6 * (4 * INR p * z) ^ 3) by ring. exact bound. }
  assert (z7 : z <= z ^ 7) by (rewrite <- (pow_1 z) at 1; apply Rle_pow; [ exact Z1 | lia ]).
  assert (back : epsilon ^ 6 * k * A = C ^ 6 * (4 * INR p) ^ 3) by (unfold A; field; split; lra). nra.
Qed.

(* Lemma E.7 with its o(1): however small epsilon is, from a number of samples on every query and key along mu is within epsilon times its start up to
   T_2^+ = T_2_plus C_1, and keeps its sign, for all sizes that fulfil Condition 3.1; the start is at least h sigma_0 n s^(-1/3) |mu| (Lemma C.12) *)
Theorem near_the_start : forall C_1 h k p epsilon, 0 < C_1 -> 0 < h -> 0 < k -> 0 < epsilon -> exists least_n,
  forall n d s m_k delta sigma_0 eta mu (q c : nat -> R), least_n <= n -> condition k p n d s m_k delta -> 0 < sigma_0 -> 0 < eta -> 0 < mu ->
  (forall t, q (S t) = q t + eta * mu * sgn (c t)) -> h * least sigma_0 n s * mu <= Rabs (q 0%nat) ->
  forall t, INR t <= T_2_plus C_1 n m_k delta sigma_0 s eta ->
  Rabs (q t - q 0%nat) <= epsilon * Rabs (q 0%nat) /\ (epsilon < 1 -> sgn (q t) = sgn (q 0%nat)).
Proof.
  intros C_1 h k p epsilon PC Ph K E. destruct (share_tends_to_zero C_1 h k p epsilon PC Ph K E) as [least_n H]. exists least_n.
  intros n d s m_k delta sigma_0 eta mu q c large con G P M step start t early.
  destruct (H n d s m_k delta sigma_0 eta large con G P) as [s0 small]. assert (N : 0 < n) by (destruct con; lra).
  assert (T0 : 0 <= T_2_plus C_1 n m_k delta sigma_0 s eta) by (eapply Rle_trans; [ apply pos_INR | exact early ]).
  assert (hG : 0 < h * sigma_0) by (apply Rmult_lt_0_compat; assumption).
  assert (start' : least (h * sigma_0) n s * mu <= Rabs (q 0%nat)) by (replace (least (h * sigma_0) n s) with (h * least sigma_0 n s) by (unfold least; ring); exact start).
  destruct (up_to_T q c _ eta mu (h * sigma_0) n s T0 P M hG N s0 step start' t early) as [B sign].
  split; [ eapply Rle_trans; [ exact B | apply Rmult_le_compat_r; [ apply Rabs_pos | lra ] ] | intro; apply sign; lra ].
Qed.

(* T_2 is at most T_2^+ with C_1 = 142, where beta_xi is at most the bound of Lemma C.8 *)
Theorem T_2_is_before : forall n m_k delta sigma_0 sigma_p s eta beta, 0 < n -> 0 < sigma_0 -> 0 < sigma_p -> 0 < s -> 0 < eta ->
  0 <= beta <= beta_bound n m_k delta sigma_0 sigma_p s -> T_2 n beta eta (sigma_p * s) <= T_2_plus 142 n m_k delta sigma_0 s eta.
Proof.
  intros n m_k delta sigma_0 sigma_p s eta beta N G GP S E [B0 B]. assert (r0 : 0 < sqrt s) by (apply sqrt_lt_R0, S).
  assert (r2 : sqrt s * sqrt s = s) by (apply sqrt_sqrt; lra). assert (q0 : 0 <= root_of_log n m_k delta) by apply sqrt_pos.
  assert (B' : beta <= 2 * (root_of_log n m_k delta * sigma_0 * sigma_p * sqrt s)).
  { eapply Rle_trans; [ exact B | ]. right. unfold beta_bound, root_of_log, logarithm. ring. }
  clear B. rewrite plus_of_root. unfold T_2. set (q := root_of_log n m_k delta) in *. set (r := sqrt s) in *. rewrite <- r2.
  assert (two : sqrt 2 <= 142 / 100) by (rewrite <- (sqrt_pow2 (142 / 100)) by lra; apply sqrt_le_1_alt; lra). assert (t0 := sqrt_pos 2).
  apply Rmult_le_reg_r with (eta * sigma_p * (r * r) * / n); [ assert (0 < / n) by (apply Rinv_0_lt_compat, N); repeat apply Rmult_lt_0_compat; assumption | ].
  match goal with |- ?a <= ?b => replace a with (50 * (sqrt 2 * beta)) by (field; repeat split; lra); replace b with (71 * (2 * (q * sigma_0 * sigma_p * r))) by (field; repeat split; lra) end.
  assert (sqrt 2 * beta <= 142 / 100 * (2 * (q * sigma_0 * sigma_p * r))) by (apply Rmult_le_compat; lra). lra.
Qed.
