
(* (56): the part of an output that any choice of neurons, such as lucky ones, has at any choice of positions, on any sample X *)
Theorem part_of_output_is_outgrown : forall (d m_a m_b m : nat) (o v k q c_1 c_2 alpha_s C xi alpha beta : R), (0 < m)%nat ->
  0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c_1 -> 0 < c_2 -> 0 < alpha_s -> 0 < C -> 0 < xi -> 0 < alpha <= 1 -> 0 <= beta ->
  for_small_eta (fun x => forall w T b Q X chosen, trained d m_a m_b m o v k q (eta x) w -> at_T c_1 c_2 alpha_s x T ->
    admitted d m X -> (forall l i, 0 <= chosen l i <= 1) ->
    total (size X) (fun l => share X l * total m (fun i => chosen l i * out X l i * relu (hidden d m_a m_b (w T) X l i))) <
    C * (alpha * INR m / sqrt (INR m) * bracket m xi (eta x) alpha beta (INR m) T b Q)).
Proof.
  intros d m_a m_b m o v k q c_1 c_2 alpha_s C xi alpha beta M N c1 c2 SP CC X A Bt.
  destruct (longest_not_negative o v k q N 1) as (L1 & L2). set (L := longest o v 1) in *. destruct (root_of m M) as (R1 & R2).
  assert (P : 1 <= INR m) by (change 1 with (INR 1); apply le_INR; lia).
  assert (R3 : INR m / sqrt (INR m) = sqrt (INR m)) by (rewrite <- R2 at 1; field; lra).
  assert (A4 : 0 < xi * alpha ^ 4 / 4) by (apply Rdiv_lt_0_compat; [ apply Rmult_lt_0_compat; [ exact X | apply pow_lt, A ] | lra ]).
  assert (CA : 0 < C * (alpha * sqrt (INR m))) by (apply Rmult_lt_0_compat; [ exact CC | apply Rmult_lt_0_compat; [ apply A | exact R1 ] ]).
  assert (F : 0 < C * (alpha * sqrt (INR m)) * (xi * alpha ^ 4 / 4)) by (apply Rmult_lt_0_compat; assumption).
  destruct (square_outgrows (L * L) _ c_1 c_2 alpha_s ltac:(apply Rmult_le_pos; assumption) F c1 c2 SP) as (least & beats).
  exists least. intros x Hx w T b Q Y chosen R H G I. destruct (beats x Hx) as (large & big). specialize (big T H). destruct H as (H1 & H2).
  assert (In := norms_at d m_a m_b m o v k q c_2 alpha_s x w T N c2 SP large H2 R T (le_n T)). fold L in In.
  destruct (short_time c_2 alpha_s x T c2 SP large H2) as (_ & e0 & _).
  assert (left := part_below d m_a m_b m (w T) Y G L L _ _ (conj L1 (conj L1 (conj L2 L2))) In chosen I). apply within in left.
  assert (E := bracket_grows m xi (eta x) alpha beta (INR m) T b Q M X ltac:(lra) A Bt P).
  apply Rle_lt_trans with (L * L); [ apply left | ]. eapply Rlt_le_trans; [ exact big | ].
  unfold Rdiv in R3 |- *. rewrite (Rmult_assoc alpha), R3, !Rmult_assoc. apply Rmult_le_compat_l; [ lra | ]. apply Rmult_le_compat_l; [ lra | ].
  apply Rmult_le_compat_l; [ lra | ]. unfold Rdiv in E. rewrite <- Rmult_assoc. rewrite <- Rmult_assoc. lra.
Qed.
