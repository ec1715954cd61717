From Odesys Require Import sequences.

(* clock v = v + e^v grows at a constant rate along the late law (stated above), so that the time at which the loss of a
   class is loss v is (clock v - k)/c; the loss tends to 0 as v grows. Loss times time tends to 1/c. *)
Lemma near_one : forall k v, 0 < v -> Rabs (loss v * (clock v - k) - 1) <= (5 + Rabs k) / v.
Proof.
  intros k v V. assert (E := exp_pos v). assert (F := exp_pos (- v)).
  assert (O : exp v * exp (- v) = 1) by (rewrite exp_Ropp; field; lra).
  assert (half : exp (v / 2) * exp (v / 2) = exp v) by (rewrite <- exp_plus; f_equal; field).
  assert (G := exp_at_least (v / 2)). assert (big : v * v / 4 <= exp v) by nra.
  assert (A : exp (- v) <= / v).
  { apply Rmult_le_reg_r with (exp v * v); [ nra | ]. replace (exp (- v) * (exp v * v)) with ((exp v * exp (- v)) * v) by ring.
    rewrite O. replace (/ v * (exp v * v)) with (exp v) by (field; lra). assert (H := exp_at_least v). lra. }
  assert (B : v * exp (- v) <= 4 / v).
  { apply Rmult_le_reg_r with (exp v * v); [ nra | ]. replace (v * exp (- v) * (exp v * v)) with ((exp v * exp (- v)) * (v * v)) by ring.
    rewrite O. replace (4 / v * (exp v * v)) with (4 * exp v) by (field; lra). nra. }
  assert (L : exp (- v) - exp (- v) * exp (- v) <= loss v <= exp (- v)).
  { unfold loss. rewrite <- ?exp_Ropp. split.
    - assert (X := exp_at_least (- ln (1 + exp (- v)))). rewrite (exp_Ropp (ln _)), exp_ln in X by lra.
      assert (Y : / (1 + exp (- v)) <= 1 - exp (- v) + exp (- v) * exp (- v)).
      { apply Rmult_le_reg_r with (1 + exp (- v)); [ lra | rewrite Rinv_l by lra; nra ]. }
      lra.
    - assert (X := exp_at_least (ln (1 + exp (- v)))). rewrite exp_ln in X by lra. lra. }
  replace (clock v) with (v + exp v) by (unfold clock; ring).
  set (y := exp (- v)) in *. set (u := loss v) in *.
  assert (U : 0 <= u) by (destruct L; assert (y <= 1); [ unfold y; rewrite <- exp_0; apply Rlt_le, exp_increasing; lra | nra ]).
  assert (P1 : Rabs (u * exp v - 1) <= / v).
  { apply Rabs_le. split; nra. }
  assert (P2 : Rabs (u * v) <= 4 / v) by (rewrite Rabs_right; [ nra | apply Rle_ge, Rmult_le_pos; lra ]).
  assert (P3 : Rabs (u * k) <= Rabs k / v).
  { rewrite Rabs_mult, (Rabs_right u) by lra. unfold Rdiv. rewrite Rmult_comm. apply Rmult_le_compat_l; [ apply Rabs_pos | lra ]. }
  replace (u * (v + exp v - k) - 1) with ((u * exp v - 1) + (u * v + - (u * k))) by ring.
  eapply Rle_trans; [ apply Rabs_triang | ].
  assert (T := Rabs_triang (u * v) (- (u * k))). rewrite Rabs_Ropp in T.
  replace ((5 + Rabs k) / v) with (/ v + (4 / v + Rabs k / v)) by (field; lra). lra.
Qed.

Lemma limit_is_one : forall k eps, 0 < eps -> exists V, 0 < V /\ forall v, V < v -> Rabs (loss v * (clock v - k) - 1) < eps.
Proof.
  intros k eps E. assert (K := Rabs_pos k). exists ((5 + Rabs k) / eps).
  assert (P : 0 < (5 + Rabs k) / eps) by (unfold Rdiv; apply Rmult_lt_0_compat; [ lra | apply Rinv_0_lt_compat, E ]).
  split; [ exact P | ]. intros v H. assert (V : 0 < v) by lra. eapply Rle_lt_trans; [ apply near_one; lra | ].
  apply Rmult_lt_reg_r with v; [ lra | ]. apply Rmult_lt_compat_l with (r := eps) in H; [ | exact E ].
  replace (eps * ((5 + Rabs k) / eps)) with (5 + Rabs k) in H by (field; lra).
  replace ((5 + Rabs k) / v * v) with (5 + Rabs k) by (field; lra). exact H.
Qed.

Theorem loss_times_time : forall k c eps, 0 < c -> 0 < eps ->
  exists V, forall v time, V < v -> c * time = clock v - k -> Rabs (loss v * time - 1 / c) < eps.
Proof.
  intros k c eps C E. destruct (limit_is_one k (eps * c) ltac:(apply Rmult_lt_0_compat; assumption)) as [V [_ H]].
  exists V. intros v time L T. specialize (H v L). rewrite <- T in H.
  replace (loss v * (c * time) - 1) with (c * (loss v * time - 1 / c)) in H by (field; lra).
  rewrite Rabs_mult, (Rabs_right c) in H by lra. nra.
Qed.

(* two classes with shares p and 1 - p of the samples *)
Theorem both_classes : forall k1 k2 c p eps, 0 < c -> 0 < p < 1 -> 0 < eps ->
  exists V, forall v1 v2 time, V < v1 -> V < v2 -> p * c * time = clock v1 - k1 -> (1 - p) * c * time = clock v2 - k2 ->
  Rabs ((p * loss v1 + (1 - p) * loss v2) * time - 2 / c) < eps.
Proof.
  intros k1 k2 c p eps C P E. assert (Q : 0 < eps * c / 2) by nra.
  destruct (limit_is_one k1 _ Q) as [V1 [_ H1]]. destruct (limit_is_one k2 _ Q) as [V2 [_ H2]].
  exists (Rmax V1 V2). intros v1 v2 time L1 L2 T1 T2.
  assert (A := H1 v1 (Rle_lt_trans _ _ _ (Rmax_l V1 V2) L1)). assert (B := H2 v2 (Rle_lt_trans _ _ _ (Rmax_r V1 V2) L2)).
  rewrite <- T1 in A. rewrite <- T2 in B.
  assert (D := Rabs_triang (loss v1 * (p * c * time) - 1) (loss v2 * ((1 - p) * c * time) - 1)).
  replace (loss v1 * (p * c * time) - 1 + (loss v2 * ((1 - p) * c * time) - 1))
    with (c * ((p * loss v1 + (1 - p) * loss v2) * time - 2 / c)) in D by (field; lra).
  rewrite Rabs_mult, (Rabs_right c) in D by lra. nra.
Qed.
