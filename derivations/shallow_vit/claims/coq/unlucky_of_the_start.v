Definition axis (j : nat) : nat -> R := fun c => if Nat.eq_dec j c then 1 else 0.
(* a sample with exact features at the start: values are the axes p_kind, and a query has the logit 1 with its own pattern and 0 with others; kinds 0 and 1
   are patterns 1 and 2, which at least half of the tokens have, as with fractions 1/2 and 1/20 *)
Definition first_two (k : nat) : R := if lt_dec k 2 then 1 else 0.
Definition exact_sample (d m_b : nat) (w : weights) (X : sample) (kind : nat -> nat) : Prop :=
  (forall s, (s < size X)%nat -> value d w X s = axis (kind s)) /\
  (forall s l, (s < size X)%nat -> (l < size X)%nat -> logit d m_b w X s l = if Nat.eq_dec (kind s) (kind l) then 1 else 0) /\
  total (size X) (count X) <= 2 * total (size X) (fun s => first_two (kind s) * count X s).
(* at the start: w_i'p_1, w_i'p_2 between -3 xi and -2 xi, other components of w_i between xi/10 and xi/5; M components of w_j between xi and 2 xi,
   and the others at most xi; entries of rows are components along p_1, .., p_M and what is orthogonal to them *)
Definition left_behind (M : nat) (xi : R) (u : nat -> R) : Prop :=
  forall k, (k < M)%nat -> if lt_dec k 2 then -3 * xi <= u k <= -2 * xi else xi / 10 <= u k <= xi / 5.
Definition ahead (m_a M : nat) (xi : R) (u : nat -> R) : Prop :=
  forall k, (k < m_a)%nat -> if lt_dec k M then xi <= u k <= 2 * xi else Rabs (u k) <= xi.

Lemma along_axis : forall e u k, (k < e)%nat -> inner e u (axis k) = u k.
Proof.
  intros e u k K. unfold inner. rewrite (total_single e _ k K).
  - unfold axis. destruct (Nat.eq_dec k k); [ ring | congruence ].
  - intros z _ D. unfold axis. destruct (Nat.eq_dec k z); [ congruence | ring ].
Qed.

Lemma norm_of_axis : forall e k, (k < e)%nat -> norm e (axis k) <= 1.
Proof.
  intros e k K. unfold norm. rewrite (along_axis e (axis k) k K). unfold axis. destruct (Nat.eq_dec k k); [ rewrite sqrt_1; lra | congruence ].
Qed.

(* queries of pattern 1 or 2 give at least half of their attention to these patterns *)
Lemma first_two_have_half : forall d m_b m w X kind l, admitted d m X -> exact_sample d m_b w X kind -> (l < size X)%nat -> (kind l < 2)%nat ->
  / 2 <= total (size X) (fun s => attention d m_b w X s l * first_two (kind s)).
Proof.
  intros d m_b m w X kind l G (_ & LG & H) L K. assert (M := mass_positive d m_b m w X G l). assert (one := attention_sum d m_b m w X G l).
  set (P := total (size X) (fun s => attention d m_b w X s l * first_two (kind s))).
  assert (rest : 1 - P = total (size X) (fun s => attention d m_b w X s l * (1 - first_two (kind s)))).
  { replace (1 - P) with (total (size X) (fun s => attention d m_b w X s l) - P) by (rewrite one; reflexivity). unfold P. rewrite <- total_minus. apply total_equal. intros; ring. }
  assert (C : forall s, (s < size X)%nat -> 0 < count X s) by (intros s S; apply G, S).
  assert (up : 1 - P <= / mass d m_b w X l * total (size X) (fun s => first_two (kind s) * count X s)).
  { rewrite rest. apply Rle_trans with (/ mass d m_b w X l * total (size X) (fun s => (1 - first_two (kind s)) * count X s)).
    - right. rewrite <- total_scaled. apply total_equal. intros s S. unfold attention. rewrite (LG s l S L). unfold first_two.
      destruct (lt_dec (kind s) 2); [ unfold Rdiv; ring | ]. destruct (Nat.eq_dec (kind s) (kind l)); [ lia | ]. rewrite exp_0. unfold Rdiv. ring.
    - apply Rmult_le_compat_l; [ apply Rlt_le, Rinv_0_lt_compat, M | ].
      rewrite (total_equal (size X) (fun s => (1 - first_two (kind s)) * count X s) (fun s => count X s - first_two (kind s) * count X s)) by (intros; ring).
      rewrite total_minus. lra. }
  assert (low : / mass d m_b w X l * total (size X) (fun s => first_two (kind s) * count X s) <= P).
  { unfold P. rewrite <- total_scaled. apply total_at_most. intros s S. unfold attention. rewrite (LG s l S L). specialize (C s S).
    assert (e1 : 1 <= exp 1) by (assert (Z := exp_at_least 1); lra). assert (I : 0 < / mass d m_b w X l) by apply Rinv_0_lt_compat, M.
    assert (one' : 1 <= exp (if Nat.eq_dec (kind s) (kind l) then 1 else 0)) by (destruct (Nat.eq_dec (kind s) (kind l)); [ exact e1 | rewrite exp_0; lra ]).
    set (ex := exp (if Nat.eq_dec (kind s) (kind l) then 1 else 0)) in *.
    assert (f0 : 0 <= first_two (kind s)) by (unfold first_two; destruct (lt_dec (kind s) 2); lra).
    replace (/ mass d m_b w X l * (first_two (kind s) * count X s)) with (/ mass d m_b w X l * first_two (kind s) * count X s * 1) by ring.
    replace (count X s * ex / mass d m_b w X l * first_two (kind s)) with (/ mass d m_b w X l * first_two (kind s) * count X s * ex) by (unfold Rdiv; ring).
    apply Rmult_le_compat_l; [ | exact one' ]. apply Rmult_le_pos; [ apply Rmult_le_pos | ]; lra. }
  lra.
Qed.

Lemma threes : forall n M, total n (fun k => if lt_dec k M then 3 else 0) <= 3 * INR M.
Proof.
  assert (E : forall n M, total n (fun k => if lt_dec k M then 3 else 0) = 3 * INR (min n M)).
  { induction n as [|n E]; intro M; [ simpl; ring | ]. simpl total. rewrite E. destruct (lt_dec n M).
    - rewrite (Nat.min_l n M), (Nat.min_l (S n) M), S_INR by lia. ring.
    - rewrite (Nat.min_r n M), (Nat.min_r (S n) M) by lia. ring. }
  intros n M. rewrite E. apply Rmult_le_compat_l; [ lra | apply le_INR; lia ].
Qed.

(* (42), (44): w_i is unlucky, no query of pattern 1 or 2 activates it; w_j is lucky, as all queries do. At every t up to T of (10) a nuisance component of w_i is above
   C/sqrt B times the least of w_j'p_1 and w_j'p_2 for B > (33 C)^2, and |w_i|^2 above C/B times |w_j|^2 for B > C (M + m_a); k, in U, is any neuron, such as j.
   That some neurons of a Gaussian start are like these is not in this file *)
Theorem unlucky_neurons_stay : forall (d m_a m_b m M : nat) (o v k_ q c alpha_s C xi : R), (2 < M <= m_a)%nat -> 0 <= o /\ 0 <= v /\ 0 <= k_ /\ 0 <= q -> 0 < c -> 0 < alpha_s ->
  0 < C -> 0 < xi ->
  for_small_eta (fun x => forall w T t i j k B, trained d m_a m_b m o v k_ q (eta x) w -> INR T <= steps c alpha_s x -> (t <= T)%nat -> (i < m)%nat -> (j < m)%nat ->
    left_behind M xi (WO (w 0%nat) i) -> ahead m_a M xi (WO (w 0%nat) j) ->
    (forall X kind l, admitted d m X -> exact_sample d m_b (w 0%nat) X kind -> (forall s, (s < size X)%nat -> (kind s < M)%nat) -> (l < size X)%nat ->
      ((kind l < 2)%nat -> hidden d m_a m_b (w 0%nat) X l i < 0) /\ 0 < hidden d m_a m_b (w 0%nat) X l j) /\
    ((33 * C) ^ 2 < INR B -> forall other, (1 < other < M)%nat ->
      over_root_of_batch C (INR B) (Rmin (inner m_a (WO (w t) j) (axis 0)) (inner m_a (WO (w t) k) (axis 1))) < inner m_a (WO (w t) i) (axis other)) /\
    (C * (INR M + INR m_a) < INR B -> over_batch C (INR B) (Rmin (norm m_a (WO (w t) j) ^ 2) (norm m_a (WO (w t) k) ^ 2)) < norm m_a (WO (w t) i) ^ 2)).
Proof.
  intros d m_a m_b m M o v k_ q c alpha_s C xi MM N c0 A CC XI. destruct (longest_not_negative o v k_ q N 1) as (L0 & _). set (L := longest o v 1) in *.
  assert (E : 0 < c / alpha_s) by (apply Rdiv_lt_0_compat; assumption). assert (F : 0 <= 200 * L / xi) by (apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat, XI ]).
  exists (1 + c / alpha_s + 200 * L / xi). intros x Hx w T t i j k B R few lt I J Bi Bj. assert (x0 : 0 < x) by lra.
  assert (small : / x * L <= / 200 * xi).
  { apply Rmult_le_reg_l with x; [ exact x0 | ]. rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    apply Rle_trans with (200 * L / xi * (/ 200 * xi)); [ right; field; lra | apply Rmult_le_compat_r; lra ]. }
  assert (mv : forall r e, (r < m)%nat -> (e < m_a)%nat -> Rabs (inner m_a (WO (w t) r) (axis e) - WO (w 0%nat) r e) <= / 200 * xi).
  { intros r e Rr Ee. rewrite <- (along_axis m_a (WO (w 0%nat) r) e Ee). eapply Rle_trans; [ | exact small ].
    apply (component_moves d m_a m_b m o v k_ q c alpha_s x w T t r (axis e) N c0 A ltac:(lra) few R lt Rr (norm_of_axis m_a e Ee)). }
  split; [ | split ].
  - intros X kind l G EX KD Ll. assert (EX' := EX). destruct EX' as (V & _ & _).
    assert (att : forall s, (s < size X)%nat -> 0 <= attention d m_b (w 0%nat) X s l) by (intros s S; apply Rlt_le, (attention_positive d m_b m (w 0%nat) X G s l S)).
    assert (one := attention_sum d m_b m (w 0%nat) X G l). split.
    + intro K2. rewrite (hidden_of_features d m_a m_b (w 0%nat) X axis kind l i V). assert (half := first_two_have_half d m_b m (w 0%nat) X kind l G EX Ll K2).
      apply Rle_lt_trans with (total (size X) (fun s => attention d m_b (w 0%nat) X s l * first_two (kind s) * (- 11 / 5 * xi) + attention d m_b (w 0%nat) X s l * (xi / 5))).
      * apply total_at_most. intros s S. specialize (KD s S). rewrite (along_axis m_a (WO (w 0%nat) i) (kind s)) by lia. specialize (Bi (kind s) KD). unfold first_two.
        destruct (lt_dec (kind s) 2).
        -- rewrite Rmult_1_r, <- Rmult_plus_distr_l. apply Rmult_le_compat_l; [ apply att, S | lra ].
        -- rewrite Rmult_0_r, Rmult_0_l, Rplus_0_l. apply Rmult_le_compat_l; [ apply att, S | lra ].
      * rewrite total_plus, !total_times, one. set (P := total (size X) (fun s => attention d m_b (w 0%nat) X s l * first_two (kind s))) in *. assert (xi * / 2 <= xi * P) by (apply Rmult_le_compat_l; lra). lra.
    + rewrite (hidden_of_features d m_a m_b (w 0%nat) X axis kind l j V). apply Rlt_le_trans with (total (size X) (fun s => attention d m_b (w 0%nat) X s l * xi)).
      * rewrite total_times, one. lra.
      * apply total_at_most. intros s S. specialize (KD s S). rewrite (along_axis m_a (WO (w 0%nat) j) (kind s)) by lia. specialize (Bj (kind s) ltac:(lia)).
        destruct (lt_dec (kind s) M); [ | lia ]. apply Rmult_le_compat_l; [ apply att, S | lra ].
  - intros BC other O. assert (BP : 0 < INR B) by (assert (0 <= (33 * C) ^ 2) by apply pow2_ge_0; lra).
    assert (RB : 33 * C < sqrt (INR B)) by (rewrite <- (sqrt_pow2 (33 * C)) by lra; apply sqrt_lt_1; [ apply pow2_ge_0 | lra | exact BC ]).
    assert (H1 := within _ _ (mv i other I ltac:(lia))). assert (H2 := within _ _ (mv j 0%nat J ltac:(lia))).
    assert (B1 := Bi other ltac:(lia)). destruct (lt_dec other 2) as [Z|_]; [ lia | ]. assert (B2 := Bj 0%nat ltac:(lia)). destruct (lt_dec 0 M) as [_|Z]; [ | lia ].
    set (least := Rmin _ _). assert (le : least <= 3 * xi) by (eapply Rle_trans; [ apply Rmin_l | lra ]).
    assert (E1 : over_root_of_batch C (INR B) least = C / sqrt (INR B) * least) by (unfold over_root_of_batch; field; lra). rewrite E1.
    apply Rle_lt_trans with (/ 33 * (3 * xi)); [ | lra ]. assert (P : 0 < C / sqrt (INR B)) by (apply Rdiv_lt_0_compat; lra).
    apply Rle_trans with (C / sqrt (INR B) * (3 * xi)); [ apply Rmult_le_compat_l; lra | ]. apply Rmult_le_compat_r; [ lra | ].
    apply Rmult_le_reg_r with (33 * sqrt (INR B)); [ lra | ]. replace (C / sqrt (INR B) * (33 * sqrt (INR B))) with (33 * C) by (field; lra). lra.
  - intro BC. assert (M0 : 2 < INR M) by (apply (lt_INR 2); lia). assert (MA : INR M <= INR m_a) by (apply le_INR; lia).
    destruct (moves_at d m_a m_b m o v k_ q c alpha_s x w T N c0 A ltac:(lra) few R t lt) as (H & _). fold L in H.
    assert (P0 : 0 <= / x * L) by (apply Rmult_le_pos; [ apply Rlt_le, Rinv_0_lt_compat, x0 | exact L0 ]).
    assert (rows : forall r, (r < m)%nat -> norm m_a (less (WO (w t)) (WO (w 0%nat)) r) <= / 200 * xi) by (intros r Rr; eapply Rle_trans; [ apply (row_below m m_a _ _ r P0 H Rr) | exact small ]).
    assert (low : 199 / 100 * xi <= norm m_a (WO (w t) i)).
    { assert (Z := entry_below m_a (WO (w t) i) 0 ltac:(lia)). assert (W := within _ _ (mv i 0%nat I ltac:(lia))). rewrite along_axis in W by lia.
      assert (B1 := Bi 0%nat ltac:(lia)). destruct (lt_dec 0 2) as [_|X]; [ | lia ]. assert (Y := Rle_abs (- WO (w t) i 0)). rewrite Rabs_Ropp in Y. lra. }
    set (S := 3 * INR M + INR m_a). assert (S1 : 1 <= S) by (unfold S; lra).
    assert (start : norm m_a (WO (w 0%nat) j) <= sqrt S * xi).
    { rewrite <- (sqrt_square xi) by lra. rewrite <- sqrt_mult_alt by lra. apply sqrt_le_1_alt. unfold inner.
      apply Rle_trans with (total m_a (fun e => ((if lt_dec e M then 3 else 0) + 1) * (xi * xi))).
      - apply total_at_most. intros e Ee. assert (B2 := Bj e Ee). destruct (lt_dec e M).
        + replace ((3 + 1) * (xi * xi)) with (2 * xi * (2 * xi)) by ring. apply Rmult_le_compat; lra.
        + replace ((0 + 1) * (xi * xi)) with (xi * xi) by ring. apply within in B2. rewrite <- (Rabs_right (WO (w 0%nat) j e * WO (w 0%nat) j e)) by (apply Rle_ge, Rle_0_sqr).
          rewrite Rabs_mult. apply Rmult_le_compat; try apply Rabs_pos; apply Rabs_le; lra.
      - rewrite total_times, total_plus, total_constant. assert (Z := threes m_a M). apply Rmult_le_compat_r; [ apply Rmult_le_pos; lra | unfold S; lra ]. }
    assert (end_ : norm m_a (WO (w t) j) <= (sqrt S + / 200) * xi).
    { rewrite (norm_equal m_a (WO (w t) j) (fun e => less (WO (w t)) (WO (w 0%nat)) j e + WO (w 0%nat) j e)) by (intros; unfold less; ring).
      eapply Rle_trans; [ apply norm_triangle | ]. assert (Z := rows j J). lra. }
    set (r := sqrt S) in *. assert (r2 : r * r = S) by (apply sqrt_sqrt; lra). assert (r1 : 1 <= r) by (unfold r; rewrite <- sqrt_1; apply sqrt_le_1_alt; exact S1).
    assert (BP : 0 < INR B) by (assert (0 <= C * (INR M + INR m_a)) by (apply Rmult_le_pos; lra); lra).
    assert (sq : norm m_a (WO (w t) j) ^ 2 <= 39 / 10 * (INR M + INR m_a) * (xi * xi)).
    { apply Rle_trans with (((r + / 200) * xi) ^ 2); [ apply pow_incr; split; [ apply norm_not_negative | exact end_ ] | ].
      replace (((r + / 200) * xi) ^ 2) with ((r * r + / 100 * r + / 40000) * (xi * xi)) by field. apply Rmult_le_compat_r; [ apply Rmult_le_pos; lra | ].
      assert (r <= r * r) by (rewrite <- (Rmult_1_l r) at 1; apply Rmult_le_compat_r; lra). rewrite r2 in *. unfold S in *. lra. }
    set (least := Rmin _ _). assert (le : least <= 39 / 10 * (INR M + INR m_a) * (xi * xi)) by (eapply Rle_trans; [ apply Rmin_l | exact sq ]).
    apply Rlt_le_trans with ((199 / 100 * xi) ^ 2); [ | apply pow_incr; lra ].
    assert (E1 : over_batch C (INR B) least = C / INR B * least) by (unfold over_batch; field; lra). rewrite E1. assert (P : 0 < C / INR B) by (apply Rdiv_lt_0_compat; lra).
    apply Rle_lt_trans with (C / INR B * (39 / 10 * (INR M + INR m_a) * (xi * xi))); [ apply Rmult_le_compat_l; lra | ].
    apply Rlt_trans with (39 / 10 * (xi * xi) * 1).
    + replace (C / INR B * (39 / 10 * (INR M + INR m_a) * (xi * xi))) with (39 / 10 * (xi * xi) * (C * (INR M + INR m_a) / INR B)) by (field; lra).
      apply Rmult_lt_compat_l; [ apply Rmult_lt_0_compat; [ lra | apply Rmult_lt_0_compat; lra ] | ]. apply Rmult_lt_reg_r with (INR B); [ lra | ].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
    + replace ((199 / 100 * xi) ^ 2) with (39601 / 10000 * (xi * xi)) by field. assert (0 < xi * xi) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
