(* (35), (39): a neuron whose components along all features p_1, .., p_M are between xi and 2 xi at the start is lucky in every sample, for W and for U, as every query
   activates it; at every t up to T of (10) its components along nuisance features are above C/sqrt B times those along p_1 and p_2, for B > 9 C^2.
   Features may be any vectors of length at most 1. That some neuron of a Gaussian start has such components is not in this file *)
Theorem nuisance_components_stay : forall (d m_a m_b m M : nat) (o v k q c alpha_s C xi : R), 0 <= o /\ 0 <= v /\ 0 <= k /\ 0 <= q -> 0 < c -> 0 < alpha_s -> 0 < C -> 0 < xi ->
  for_small_eta (fun x => forall w T t i (p : nat -> nat -> R) B, trained d m_a m_b m o v k q (eta x) w -> INR T <= steps c alpha_s x -> (t <= T)%nat -> (i < m)%nat ->
    9 * C ^ 2 < INR B -> (forall j, (j < M)%nat -> norm m_a (p j) <= 1 /\ xi <= inner m_a (WO (w 0%nat) i) (p j) <= 2 * xi) ->
    (forall X kind l, admitted d m X -> (l < size X)%nat -> (forall s, (s < size X)%nat -> (kind s < M)%nat /\ value d (w 0%nat) X s = p (kind s)) ->
      0 < hidden d m_a m_b (w 0%nat) X l i) /\
    forall own other, (own < M)%nat -> (other < M)%nat ->
      over_root_of_batch C (INR B) (inner m_a (WO (w t) i) (p own)) < inner m_a (WO (w t) i) (p other)).
Proof.
  intros d m_a m_b m M o v k q c alpha_s C xi N c0 A CC XI. destruct (longest_not_negative o v k q N 1) as (L0 & _). set (L := longest o v 1) in *.
  assert (E : 0 < c / alpha_s) by (apply Rdiv_lt_0_compat; assumption). assert (F : 0 <= 8 * L / xi) by (apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat, XI ]).
  exists (1 + c / alpha_s + 8 * L / xi). intros x Hx w T t i p B R few lt I BC box. split.
  - intros X kind l G Ll V. rewrite (hidden_of_features d m_a m_b (w 0%nat) X p kind l i (fun s S => proj2 (V s S))).
    apply Rlt_le_trans with (total (size X) (fun s => attention d m_b (w 0%nat) X s l * xi)).
    + rewrite total_times, (attention_sum d m_b m (w 0%nat) X G l). lra.
    + apply total_at_most. intros s S. apply Rmult_le_compat_l; [ apply Rlt_le, (attention_positive d m_b m (w 0%nat) X G s l S) | ].
      apply box. apply (V s S).
  - assert (mv : forall j, (j < M)%nat -> 7 / 8 * xi <= inner m_a (WO (w t) i) (p j) <= 17 / 8 * xi).
    { intros j J. destruct (box j J) as (P & S). assert (H := within _ _ (component_moves d m_a m_b m o v k q c alpha_s x w T t i (p j) N c0 A ltac:(lra) few R lt I P)).
      fold L in H. assert (x0 : 0 < x) by lra. assert (small : / x * L <= / 8 * xi).
      { apply Rmult_le_reg_l with x; [ exact x0 | ]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
        apply Rle_trans with (8 * L / xi * (/ 8 * xi)); [ right; field; lra | apply Rmult_le_compat_r; lra ]. } lra. }
    intros own other J K. destruct (mv own J) as (a0 & a1). destruct (mv other K) as (b0 & b1). assert (BP : 0 < INR B) by (assert (0 <= C ^ 2) by apply pow2_ge_0; lra).
    assert (RB : 3 * C < sqrt (INR B)).
    { rewrite <- (sqrt_square (3 * C)) by lra. apply sqrt_lt_1; [ apply Rmult_le_pos; lra | lra | ]. replace (3 * C * (3 * C)) with (9 * C ^ 2) by ring. exact BC. }
    replace (over_root_of_batch C (INR B) (inner m_a (WO (w t) i) (p own))) with (C / sqrt (INR B) * inner m_a (WO (w t) i) (p own)) by (unfold over_root_of_batch; field; lra).
    apply Rle_lt_trans with (/ 3 * inner m_a (WO (w t) i) (p own)); [ | lra ]. apply Rmult_le_compat_r; [ lra | ].
    apply Rmult_le_reg_r with (3 * sqrt (INR B)); [ lra | ]. replace (C / sqrt (INR B) * (3 * sqrt (INR B))) with (3 * C) by (field; lra). lra.
Qed.
