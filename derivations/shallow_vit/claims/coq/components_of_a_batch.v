From Coq Require Import Lia Psatz.
From Odesys Require Import sequences lengths matrices attention outputs.

(* a batch of samples in which each token is one of M patterns mu 0, mu 1, ..; kind n s is the pattern of position s of sample n, and pattern 1
   of the text is mu 0. Counts are those of attention.v: as many tokens as a position stands for *)
Definition orthonormal (d M : nat) (mu : nat -> nat -> R) : Prop :=
  forall i j, (i < M)%nat -> (j < M)%nat -> inner d (mu i) (mu j) = if Nat.eq_dec i j then 1 else 0.
Definition orthogonal (e M : nat) (u : nat -> nat -> R) : Prop := forall i j, (i < M)%nat -> (j < M)%nat ->
  0 < inner e (u i) (u i) /\ (i <> j -> inner e (u i) (u j) = 0).
Definition of_patterns (M : nat) (mu : nat -> nat -> R) (p : sample) (kind : nat -> nat) : Prop :=
  forall s, (s < size p)%nat -> token p s = mu (kind s) /\ 0 < count p s /\ (kind s < M)%nat.
Definition on (a b : nat) (x : R) : R := if Nat.eq_dec a b then x else 0.
(* |S_j| and |S| of a sample, and the quotient |S_j|/(|S| - |S_1|) of the text *)
Definition tokens (p : sample) (kind : nat -> nat) (j : nat) : R := total (size p) (fun s => on (kind s) j (count p s)).
Definition all_tokens (p : sample) : R := total (size p) (count p).
Definition portion (p : sample) (kind : nat -> nat) (j : nat) : R := tokens p kind j / (all_tokens p - tokens p kind 0%nat).
(* mean over a batch *)
Definition mean (B : nat) (f : nat -> R) : R := / INR B * total B f.
(* coefficient of a vector along one of orthogonal ones *)
Definition along (e : nat) (u v : nat -> R) : R := inner e v u / inner e u u.

Section forces.
Variables (d m_a m_b m M : nat) (slope : weights -> sample -> R) (B : nat) (batch : nat -> sample) (kind : nat -> nat -> nat) (mu : nat -> nat -> R).
Variable w : weights.

(* key and query of a pattern *)
Definition key_of (j : nat) : nat -> R := apply d (WK w) (mu j).
Definition query_of (j : nat) : nat -> R := apply d (WQ w) (mu j).
(* a step of size eta adds eta times this to the query and to the key of pattern 1 *)
Definition query_moves : nat -> R := apply d (force_Q d m_a m_b m slope B batch w) (mu 0%nat).
Definition key_moves : nat -> R := apply d (force_K d m_a m_b m slope B batch w) (mu 0%nat).
(* coefficients of the step over eta: K(t) and gamma_j' of (141), (146) along keys, Q(t) and gamma_j of (162), (164) along queries *)
Definition K_t : R := along m_b (key_of 0) query_moves.
Definition gamma' (j : nat) : R := along m_b (key_of j) query_moves.
Definition Q_t : R := along m_b (query_of 0) key_moves.
Definition gamma (j : nat) : R := along m_b (query_of j) key_moves.

(* G_jk of one sample: what queries of pattern k pull on keys of pattern j *)
Definition G (n j k : nat) : R := total (size (batch n)) (fun l => on (kind n l) k
  (total (size (batch n)) (fun s => on (kind n s) j (pull d m_a m_b m slope w (batch n) s l)))).

Hypothesis patterns : forall n, (n < B)%nat -> of_patterns M mu (batch n) (kind n).
Hypothesis normal : orthonormal d M mu.
Hypothesis some : (0 < M)%nat.

Lemma on_scaled : forall a b x y, on a b (x * y) = on a b x * y.
Proof. intros. unfold on. destruct (Nat.eq_dec a b); ring. Qed.

Lemma inner_total : forall e N (f : nat -> nat -> R) u, inner e (fun z => total N (fun n => f n z)) u = total N (fun n => inner e (f n) u).
Proof.
  intros e N f u. unfold inner. rewrite <- total_swap. apply total_equal. intros z _. rewrite <- total_times. reflexivity.
Qed.

Lemma inner_scaled : forall e c v u, inner e (fun z => c * v z) u = c * inner e v u.
Proof. intros. unfold inner. rewrite <- total_scaled. apply total_equal. intros; ring. Qed.

Lemma inner_equal : forall e v v' u u', (forall z, (z < e)%nat -> v z = v' z) -> (forall z, (z < e)%nat -> u z = u' z) -> inner e v u = inner e v' u'.
Proof. intros e v v' u u' H K. unfold inner. apply total_equal. intros z Z. rewrite (H z Z), (K z Z). reflexivity. Qed.

Lemma query_step : forall z, query_moves z = mean B (fun n => total (size (batch n)) (fun l => on (kind n l) 0
  (total (size (batch n)) (fun s => pull d m_a m_b m slope w (batch n) s l * key_of (kind n s) z)))).
Proof.
  intro z. unfold query_moves, apply, force_Q, mean.
  rewrite (inner_scaled d (/ INR B) (fun c => total B (fun n => total (size (batch n)) (fun l =>
    total (size (batch n)) (fun s => pull d m_a m_b m slope w (batch n) s l * key d w (batch n) s z) * token (batch n) l c)))).
  f_equal. rewrite inner_total. apply total_equal. intros n N. rewrite inner_total. apply total_equal. intros l L.
  rewrite inner_scaled. destruct (patterns n N l L) as (T & _ & R). rewrite T, (normal (kind n l) 0%nat R some). unfold on.
  destruct (Nat.eq_dec (kind n l) 0); [ rewrite Rmult_1_r | ring ]. apply total_equal. intros s S1.
  unfold key, key_of. destruct (patterns n N s S1) as [T' _]. rewrite T'. reflexivity.
Qed.

Lemma key_step : forall z, key_moves z = mean B (fun n => total (size (batch n)) (fun l => query_of (kind n l) z *
  total (size (batch n)) (fun s => on (kind n s) 0 (pull d m_a m_b m slope w (batch n) s l)))).
Proof.
  intro z. unfold key_moves, apply, force_K, mean.
  rewrite (inner_scaled d (/ INR B) (fun c => total B (fun n => total (size (batch n)) (fun l => query d w (batch n) l z *
    total (size (batch n)) (fun s => pull d m_a m_b m slope w (batch n) s l * token (batch n) s c))))).
  f_equal. rewrite inner_total. apply total_equal. intros n N. rewrite inner_total. apply total_equal. intros l L.
  rewrite inner_scaled. unfold query, query_of. destruct (patterns n N l L) as [T _]. rewrite T. f_equal.
  rewrite inner_total. apply total_equal. intros s S1. rewrite inner_scaled. destruct (patterns n N s S1) as (T' & _ & R').
  rewrite T', (normal (kind n s) 0%nat R' some). unfold on. destruct (Nat.eq_dec (kind n s) 0); ring.
Qed.

Lemma along_mean : forall e u (f : nat -> nat -> R), along e u (fun z => mean B (fun n => f n z)) = mean B (fun n => along e u (f n)).
Proof.
  intros e u f. unfold along, mean. rewrite inner_scaled, inner_total. unfold Rdiv. rewrite Rmult_assoc. f_equal. symmetry. apply total_times.
Qed.

Lemma along_one : forall e (u : nat -> nat -> R) i j, orthogonal e M u -> (i < M)%nat -> (j < M)%nat -> along e (u j) (u i) = if Nat.eq_dec i j then 1 else 0.
Proof.
  intros e u i j O I J. destruct (O i j I J) as [P Z]. unfold along. destruct (Nat.eq_dec i j) as [->|D]; [ field; lra | ].
  rewrite (Z D). unfold Rdiv. ring.
Qed.

Lemma along_total : forall e u N (f : nat -> nat -> R), along e u (fun z => total N (fun n => f n z)) = total N (fun n => along e u (f n)).
Proof. intros. unfold along, Rdiv. rewrite inner_total. symmetry. apply total_times. Qed.

Lemma along_scaled : forall e u c v, along e u (fun z => c * v z) = c * along e u v.
Proof. intros. unfold along, Rdiv. rewrite inner_scaled. ring. Qed.

Lemma along_equal : forall e u v v', (forall z, v z = v' z) -> along e u v = along e u v'.
Proof. intros e u v v' H. unfold along. rewrite (inner_equal e v v' u u) by (intros; auto). reflexivity. Qed.

(* along orthogonal keys the query of pattern 1 moves by the mean of G_j1 over samples, along orthogonal queries its key by that of G_1j *)
Lemma along_keys : orthogonal m_b M key_of -> forall j, (j < M)%nat -> gamma' j = mean B (fun n => G n j 0).
Proof.
  intros O j J. unfold gamma'. rewrite (along_equal _ _ _ _ query_step), along_mean. unfold mean, G. f_equal. apply total_equal. intros n N.
  rewrite along_total. apply total_equal. intros l L. unfold on at 1 2. destruct (Nat.eq_dec (kind n l) 0).
  - rewrite along_total. apply total_equal. intros s S1. rewrite along_scaled, along_one by (try assumption; apply (patterns n N s S1)). unfold on.
    destruct (Nat.eq_dec (kind n s) j); ring.
  - rewrite (along_equal _ _ _ (fun z => 0 * 0)) by (intros; ring). rewrite (along_scaled m_b _ 0 (fun _ => 0)). ring.
Qed.

Lemma along_queries : orthogonal m_b M query_of -> forall j, (j < M)%nat -> gamma j = mean B (fun n => G n 0 j).
Proof.
  intros O j J. unfold gamma. rewrite (along_equal _ _ _ _ key_step), along_mean. unfold mean, G. f_equal. apply total_equal. intros n N.
  rewrite along_total. apply total_equal. intros l L.
  rewrite (along_equal _ _ _ (fun z => total (size (batch n)) (fun s => on (kind n s) 0 (pull d m_a m_b m slope w (batch n) s l)) * query_of (kind n l) z))
    by (intros; ring).
  rewrite along_scaled, along_one by (try assumption; apply (patterns n N l L)). unfold on at 2. destruct (Nat.eq_dec (kind n l) j); ring.
Qed.
End forces.

(* the constants, as fractions *)
Lemma query_bound_is : forall a c, 0 < a -> c < 1 -> query_bound a c = (a + c * (2 - a)) / (a * (1 - c)).
Proof. intros. unfold query_bound. field. lra. Qed.
Lemma key_bound_is : forall a c x, 0 < a -> c < 1 -> 0 < x -> key_bound a c x = (1 + c) / (1 - c) * (1 + x) ^ 2 / (a * x).
Proof. intros. unfold key_bound. field. lra. Qed.
Lemma query_bound_not_negative : forall a c, 0 < a <= 1 -> 0 <= c < 1 -> 0 <= query_bound a c.
Proof.
  intros a c A C. rewrite query_bound_is by lra. apply Rmult_le_pos; [ | apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; lra ].
  assert (0 <= c * (2 - a)) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma key_bound_not_negative : forall a c x, 0 < a -> 0 <= c < 1 -> 0 < x -> 0 <= key_bound a c x.
Proof.
  intros a c x A C X. rewrite key_bound_is by lra.
  apply Rmult_le_pos; [ apply Rmult_le_pos; [ apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat; lra ] | apply pow2_ge_0 ] | ].
  apply Rlt_le, Rinv_0_lt_compat, Rmult_lt_0_compat; lra.
Qed.

(* sums over positions by kind *)
Lemma on_total : forall N (kind : nat -> nat) k c f, total N (fun s => on (kind s) k (c * f s)) = c * total N (fun s => on (kind s) k (f s)).
Proof. intros. rewrite <- total_scaled. apply total_equal. intros s _. unfold on. destruct (Nat.eq_dec (kind s) k); ring. Qed.

Lemma on_below : forall a b x, 0 <= x -> 0 <= on a b x <= x.
Proof. intros. unfold on. destruct (Nat.eq_dec a b); lra. Qed.

Lemma on_abs : forall N (kind : nat -> nat) k f, Rabs (total N (fun s => on (kind s) k (f s))) <= total N (fun s => on (kind s) k (Rabs (f s))).
Proof.
  intros. eapply Rle_trans; [ apply total_abs | ]. right. apply total_equal. intros s _. unfold on.
  destruct (Nat.eq_dec (kind s) k); [ reflexivity | apply Rabs_R0 ].
Qed.

Lemma on_at_most : forall N (kind : nat -> nat) k f g, (forall s, (s < N)%nat -> kind s = k -> f s <= g s) ->
  total N (fun s => on (kind s) k (f s)) <= total N (fun s => on (kind s) k (g s)).
Proof. intros N kind k f g H. apply total_at_most. intros s L. unfold on. destruct (Nat.eq_dec (kind s) k); [ apply H; assumption | lra ]. Qed.

Lemma on_equal : forall N (kind : nat -> nat) k f g, (forall s, (s < N)%nat -> kind s = k -> f s = g s) ->
  total N (fun s => on (kind s) k (f s)) = total N (fun s => on (kind s) k (g s)).
Proof. intros N kind k f g H. apply total_equal. intros s L. unfold on. destruct (Nat.eq_dec (kind s) k); [ apply H; assumption | reflexivity ]. Qed.

Lemma kinds_apart : forall N (kind : nat -> nat) j f, j <> 0%nat -> (forall s, (s < N)%nat -> 0 <= f s) ->
  total N (fun s => on (kind s) j (f s)) <= total N f - total N (fun s => on (kind s) 0 (f s)).
Proof.
  intros N kind j f J H. rewrite <- total_minus. apply total_at_most. intros s L. specialize (H s L). unfold on.
  destruct (Nat.eq_dec (kind s) j), (Nat.eq_dec (kind s) 0); try lra; congruence.
Qed.

(* weights A with sum 1; what drives is g on kind 0, and between -c g and c g elsewhere *)
Section pulls.
Variables (N : nat) (kind : nat -> nat) (A drive : nat -> R) (c g : R).
Hypothesis (c_range : 0 <= c < 1) (g_range : 0 <= g).
Hypothesis weights_of_positions : forall s, (s < N)%nat -> 0 <= A s.
Hypothesis sum_of_weights : total N A = 1.
Hypothesis first : forall s, (s < N)%nat -> kind s = 0%nat -> drive s = g.
Hypothesis others : forall s, (s < N)%nat -> kind s <> 0%nat -> Rabs (drive s) <= c * g.

Definition weight (j : nat) : R := total N (fun s => on (kind s) j (A s)).
Definition average : R := total N (fun s => A s * drive s).
Definition pulled_on (j : nat) : R := total N (fun s => on (kind s) j (A s * (drive s - average))).

Lemma weight_range : forall j, 0 <= weight j <= 1.
Proof.
  intro j. unfold weight. split.
  - apply total_not_negative. intros s L. apply on_below, weights_of_positions, L.
  - rewrite <- sum_of_weights. apply total_at_most. intros s L. apply on_below, weights_of_positions, L.
Qed.

Lemma average_near : Rabs (average - weight 0 * g) <= (1 - weight 0) * (c * g).
Proof.
  unfold average, weight. rewrite <- (total_times N (fun s => on (kind s) 0 (A s)) g), <- total_minus.
  eapply Rle_trans; [ apply total_abs | ]. rewrite <- sum_of_weights, <- total_minus, <- total_times.
  apply total_at_most. intros s L. unfold on. assert (P := weights_of_positions s L). destruct (Nat.eq_dec (kind s) 0).
  - rewrite first by assumption. replace (A s * g - A s * g) with 0 by ring. rewrite Rabs_R0. lra.
  - rewrite Rmult_0_l, !Rminus_0_r, Rabs_mult, (Rabs_right (A s)) by lra. apply Rmult_le_compat_l; [ lra | apply others; assumption ].
Qed.

Lemma pulled_first : pulled_on 0 = weight 0 * (g - average).
Proof.
  unfold pulled_on, weight. rewrite <- total_times. apply total_equal. intros s L. unfold on.
  destruct (Nat.eq_dec (kind s) 0); [ rewrite first by assumption | ]; ring.
Qed.

Lemma gap_range : (1 - weight 0) * (1 - c) * g <= g - average <= (1 - weight 0) * (1 + c) * g.
Proof. assert (H := within _ _ average_near). lra. Qed.

Lemma pulled_first_range : 0 <= weight 0 * ((1 - weight 0) * (1 - c) * g) <= pulled_on 0 /\ Rabs (pulled_on 0) <= weight 0 * ((1 - weight 0) * (1 + c) * g).
Proof.
  rewrite pulled_first. destruct (weight_range 0) as [W V]. destruct gap_range as [L H].
  assert (P : 0 <= (1 - weight 0) * (1 - c) * g) by (apply Rmult_le_pos; [ apply Rmult_le_pos; lra | lra ]).
  split; [ split; [ apply Rmult_le_pos; lra | apply Rmult_le_compat_l; lra ] | ].
  rewrite Rabs_right by (apply Rle_ge, Rmult_le_pos; lra). apply Rmult_le_compat_l; lra.
Qed.

Lemma pulled_other : forall j, j <> 0%nat -> Rabs (pulled_on j) <= weight j * ((weight 0 + c * (2 - weight 0)) * g).
Proof.
  intros j J. unfold pulled_on. eapply Rle_trans; [ apply on_abs | ]. unfold weight at 1. rewrite <- total_times.
  rewrite (total_equal N (fun s => on (kind s) j (A s) * _) (fun s => on (kind s) j (A s * ((weight 0 + c * (2 - weight 0)) * g))))
    by (intros; unfold on; destruct (Nat.eq_dec (kind k) j); ring).
  apply on_at_most. intros s L K. assert (P := weights_of_positions s L). rewrite Rabs_mult, (Rabs_right (A s)) by lra.
  apply Rmult_le_compat_l; [ lra | ]. assert (H := within _ _ average_near). destruct (weight_range 0) as [W V].
  assert (O := within _ _ (others s L ltac:(congruence))).
  assert (P1 : 0 <= weight 0 * g) by (apply Rmult_le_pos; lra). apply Rabs_le. lra.
Qed.
End pulls.

(* the first of the two bounds: other weights are as counts *)
Lemma bound_of_one : forall N kind A drive c g a (count : nat -> R) rho j, 0 <= c < 1 -> 0 <= g -> (forall s, (s < N)%nat -> 0 <= A s) ->
  total N A = 1 -> (forall s, (s < N)%nat -> kind s = 0%nat -> drive s = g) ->
  (forall s, (s < N)%nat -> kind s <> 0%nat -> Rabs (drive s) <= c * g) ->
  (forall s, (s < N)%nat -> 0 < count s) -> (forall s, (s < N)%nat -> kind s <> 0%nat -> A s = rho * count s) ->
  0 < a <= weight N kind A 0 -> j <> 0%nat ->
  Rabs (pulled_on N kind A drive j) <= query_bound a c * (pulled_on N kind A drive 0 *
    (total N (fun s => on (kind s) j (count s)) / (total N count - total N (fun s => on (kind s) 0 (count s))))).
Proof.
  intros N kind A drive c g a count rho j C G0 P S1 F O Q R W J.
  assert (X := pulled_other N kind A drive c g G0 P S1 F O j J).
  destruct (pulled_first_range N kind A drive c g C G0 P S1 F O) as ((Y0 & Y) & _). destruct (weight_range N kind A P S1 0) as [_ V].
  set (A1 := weight N kind A 0) in *. set (rest := total N count - total N (fun s => on (kind s) 0 (count s))).
  assert (E : weight N kind A j = rho * total N (fun s => on (kind s) j (count s))).
  { unfold weight. rewrite <- on_total. apply on_equal. intros s L K. apply R; congruence. }
  assert (E1 : 1 - A1 = rho * rest).
  { unfold A1, weight, rest. rewrite <- S1, <- !total_minus, <- total_scaled. apply total_equal. intros s L. unfold on.
    destruct (Nat.eq_dec (kind s) 0) as [K|K]; [ ring | rewrite (R s L K); ring ]. }
  assert (K0 : 0 <= total N (fun s => on (kind s) j (count s)) <= rest).
  { split; [ | apply kinds_apart; [ exact J | intros; apply Rlt_le, Q; assumption ] ].
    apply total_not_negative. intros s L. apply on_below, Rlt_le, Q, L. }
  set (Sj := total N (fun s => on (kind s) j (count s))) in *. set (U := pulled_on N kind A drive 0) in *.
  assert (C0 : 0 < a * (1 - c)) by (apply Rmult_lt_0_compat; lra).
  destruct (Req_dec rest 0) as [Z|NZ].
  - assert (Sj = 0) by lra. rewrite H in *. rewrite E, Rmult_0_r, Rmult_0_l in X. unfold Rdiv. rewrite Rmult_0_l, !Rmult_0_r. exact X.
  - assert (rest0 : 0 < rest) by lra. set (portion := Sj / rest). assert (po : 0 <= portion) by (apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat; lra ]).
    assert (Ej : weight N kind A j = (1 - A1) * portion) by (rewrite E, E1; unfold portion; field; lra).
    rewrite Ej in X. eapply Rle_trans; [ exact X | ].
    apply Rle_trans with (query_bound a c * (A1 * ((1 - A1) * (1 - c) * g) * portion)).
    + assert (key : A1 + c * (2 - A1) <= query_bound a c * (A1 * (1 - c))).
      { apply Rmult_le_reg_r with a; [ lra | ]. replace (query_bound a c * (A1 * (1 - c)) * a) with ((a + c * (2 - a)) * A1) by (rewrite query_bound_is by lra; field; lra).
        assert (c * a <= c * A1) by (apply Rmult_le_compat_l; lra). lra. }
      assert (Z : 0 <= (1 - A1) * portion * g) by (apply Rmult_le_pos; [ apply Rmult_le_pos; lra | lra ]).
      assert (T := Rmult_le_compat_l _ _ _ Z key).
      replace ((1 - A1) * portion * ((A1 + c * (2 - A1)) * g)) with ((1 - A1) * portion * g * (A1 + c * (2 - A1))) by ring.
      replace (query_bound a c * (A1 * ((1 - A1) * (1 - c) * g) * portion)) with ((1 - A1) * portion * g * (query_bound a c * (A1 * (1 - c)))) by ring. exact T.
    + assert (QB : 0 <= query_bound a c) by (apply query_bound_not_negative; lra).
      apply Rmult_le_compat_l; [ exact QB | ]. apply Rmult_le_compat_r; assumption.
Qed.

(* means over a batch *)
Lemma mean_at_most : forall B f g, (forall n, (n < B)%nat -> f n <= g n) -> mean B f <= mean B g.
Proof.
  intros B f g H. unfold mean. destruct B as [|b]; [ simpl; lra | ]. apply Rmult_le_compat_l; [ | apply total_at_most, H ].
  apply Rlt_le, Rinv_0_lt_compat, lt_0_INR. lia.
Qed.

Lemma mean_abs : forall B f, Rabs (mean B f) <= mean B (fun n => Rabs (f n)).
Proof.
  intros B f. unfold mean. destruct B as [|b]; [ simpl; rewrite Rmult_0_r, Rabs_R0; lra | ].
  assert (0 < / INR (S b)) by (apply Rinv_0_lt_compat, lt_0_INR; lia).
  rewrite Rabs_mult, (Rabs_right (/ INR (S b))) by lra. apply Rmult_le_compat_l; [ lra | apply total_abs ].
Qed.

Lemma mean_scaled : forall B c f, mean B (fun n => c * f n) = c * mean B f.
Proof. intros. unfold mean. rewrite total_scaled. ring. Qed.

Section batches.
Variables (d m_a m_b m M : nat) (slope : weights -> sample -> R) (B : nat) (batch : nat -> sample) (kind : nat -> nat -> nat) (mu : nat -> nat -> R).
Variable w : weights.
Hypothesis patterns : forall n, (n < B)%nat -> of_patterns M mu (batch n) (kind n).
Hypothesis normal : orthonormal d M mu.
Hypothesis some : (0 < M)%nat.
Let key j := key_of d mu w j.
Let query j := query_of d mu w j.
Let move j := gamma' d m_a m_b m slope B batch mu w j.
Let force n j k := G d m_a m_b m slope batch kind w n j k.

(* what queries of pattern 1 meet in a sample: no other value drives it by more than a share c of the first, which drives it up *)
Definition driven_by_first (c : R) : Prop := forall n l s, (n < B)%nat -> (l < size (batch n))%nat -> (s < size (batch n))%nat ->
  kind n l = 0%nat -> 0 <= gain d m_a m_b m slope w (batch n) l l /\
  (kind n s <> 0%nat -> Rabs (gain d m_a m_b m slope w (batch n) s l) <= c * gain d m_a m_b m slope w (batch n) l l).
(* attention of a query of pattern 1 on all tokens of its pattern, in samples that have such a query *)
Definition attended_at_least (a : R) : Prop := forall n l, (n < B)%nat -> (l < size (batch n))%nat -> kind n l = 0%nat ->
  a <= total (size (batch n)) (fun s => on (kind n s) 0 (attention d m_b w (batch n) s l)).
Definition other_logits_equal : Prop := forall i j, (0 < i < M)%nat -> (0 < j < M)%nat -> inner m_b (key i) (query 0%nat) = inner m_b (key j) (query 0%nat).

Lemma logit_of_patterns : forall n s l, (n < B)%nat -> (s < size (batch n))%nat -> (l < size (batch n))%nat ->
  logit d m_b w (batch n) s l = inner m_b (key (kind n s)) (query (kind n l)).
Proof.
  intros n s l N S L. unfold logit, attention.key, attention.query, key, query, key_of, query_of.
  destruct (patterns n N s S) as [-> _]. destruct (patterns n N l L) as [-> _]. reflexivity.
Qed.

Lemma mass_positive_here : forall n l, (n < B)%nat -> (l < size (batch n))%nat -> 0 < mass d m_b w (batch n) l.
Proof.
  intros n l N L. apply total_positive; [ lia | ]. intros s S. destruct (patterns n N s S) as (_ & C & _).
  apply Rmult_lt_0_compat; [ exact C | apply exp_pos ].
Qed.

Lemma attention_not_negative : forall n s l, (n < B)%nat -> (l < size (batch n))%nat -> (s < size (batch n))%nat -> 0 <= attention d m_b w (batch n) s l.
Proof.
  intros n s l N L S. destruct (patterns n N s S) as (_ & C & _). unfold attention, Rdiv. apply Rmult_le_pos.
  - apply Rmult_le_pos; [ lra | apply Rlt_le, exp_pos ].
  - apply Rlt_le, Rinv_0_lt_compat, mass_positive_here; assumption.
Qed.

Lemma attention_total : forall n l, (n < B)%nat -> (l < size (batch n))%nat -> total (size (batch n)) (fun s => attention d m_b w (batch n) s l) = 1.
Proof.
  intros n l N L. unfold attention, Rdiv. rewrite total_times. apply Rinv_r. apply Rgt_not_eq. apply (mass_positive_here n l N L).
Qed.

Lemma gain_of_pattern : forall n s s' l, (n < B)%nat -> (s < size (batch n))%nat -> (s' < size (batch n))%nat -> kind n s = kind n s' ->
  gain d m_a m_b m slope w (batch n) s l = gain d m_a m_b m slope w (batch n) s' l.
Proof.
  intros n s s' l N S S' E. unfold gain, value. destruct (patterns n N s S) as [-> _]. destruct (patterns n N s' S') as [-> _].
  rewrite E. reflexivity.
Qed.

Lemma portion_not_negative : forall n j, (n < B)%nat -> j <> 0%nat -> 0 <= portion (batch n) (kind n) j <= 1.
Proof.
  intros n j N J. assert (C : forall s, (s < size (batch n))%nat -> 0 < count (batch n) s) by (intros s S; apply (patterns n N s S)).
  unfold portion, tokens, all_tokens.
  assert (K := kinds_apart (size (batch n)) (kind n) j (count (batch n)) J ltac:(intros; apply Rlt_le, C; assumption)).
  set (rest := total (size (batch n)) (count (batch n)) - _) in *. set (Sj := total (size (batch n)) (fun s => on (kind n s) j _)) in *.
  assert (S0 : 0 <= Sj) by (apply total_not_negative; intros s S; apply on_below, Rlt_le, C, S).
  destruct (Req_dec rest 0) as [Z|Z]; [ assert (E : Sj = 0) by lra; rewrite E; unfold Rdiv; rewrite Rmult_0_l; lra | ].
  assert (0 < / rest) by (apply Rinv_0_lt_compat; lra). split; [ apply Rmult_le_pos; lra | ].
  apply Rmult_le_reg_r with rest; [ lra | ]. replace (Sj / rest * rest) with Sj by (field; lra). lra.
Qed.

(* one sample *)
Lemma query_of_sample : forall a c, 0 < a -> 0 <= c < 1 -> other_logits_equal -> driven_by_first c -> attended_at_least a ->
  forall n, (n < B)%nat -> 0 <= force n 0 0 /\ forall j, j <> 0%nat -> Rabs (force n j 0) <= query_bound a c * (force n 0 0 * portion (batch n) (kind n) j).
Proof.
  intros a c a0 cr eqs drv att n N.
  assert (C : forall s, (s < size (batch n))%nat -> 0 < count (batch n) s) by (intros s S; apply (patterns n N s S)).
  assert (one : forall l, (l < size (batch n))%nat -> kind n l = 0%nat -> exists rho, forall s, (s < size (batch n))%nat -> kind n s <> 0%nat ->
    attention d m_b w (batch n) s l = rho * count (batch n) s).
  { intros l L K. exists (exp (inner m_b (key 1%nat) (query 0%nat)) / mass d m_b w (batch n) l). intros s S D. destruct (patterns n N s S) as (_ & _ & R). unfold attention.
    rewrite (logit_of_patterns n s l N S L), K, (eqs (kind n s) 1%nat ltac:(lia) ltac:(lia)). unfold Rdiv; ring. }
  split.
  - apply total_not_negative. intros l L. unfold on at 1. destruct (Nat.eq_dec (kind n l) 0) as [K|K]; [ | lra ].
    set (g := gain d m_a m_b m slope w (batch n) l l).
    destruct (pulled_first_range (size (batch n)) (kind n) (fun s => attention d m_b w (batch n) s l) (fun s => gain d m_a m_b m slope w (batch n) s l) c g cr) as ((P & Q) & _).
    + apply (drv n l l N L L K).
    + intros s S. apply attention_not_negative; assumption.
    + apply attention_total; assumption.
    + intros s S E. apply gain_of_pattern; congruence.
    + intros s S E. apply (drv n l s N L S K), E.
    + exact (Rle_trans _ _ _ P Q).
  - intros j J. unfold force, G. eapply Rle_trans; [ apply on_abs | ].
    set (first := fun l => total (size (batch n)) (fun s => on (kind n s) 0 (pull d m_a m_b m slope w (batch n) s l))).
    replace (query_bound a c * _) with (total (size (batch n)) (fun l => on (kind n l) 0 (query_bound a c * (first l * portion (batch n) (kind n) j)))).
    2:{ rewrite (on_total (size (batch n)) (kind n) 0 (query_bound a c) (fun l => first l * portion (batch n) (kind n) j)). f_equal.
        rewrite <- total_times. apply total_equal. intros l _. change (total (size (batch n)) (fun s => on (kind n s) 0 (pull d m_a m_b m slope w (batch n) s l))) with (first l). unfold on. destruct (Nat.eq_dec (kind n l) 0); ring. }
    apply on_at_most. intros l L K. destruct (one l L K) as (rho & R).
    apply (bound_of_one (size (batch n)) (kind n) (fun s => attention d m_b w (batch n) s l) (fun s => gain d m_a m_b m slope w (batch n) s l) c
      (gain d m_a m_b m slope w (batch n) l l) a (count (batch n)) rho j cr).
    + apply (drv n l l N L L K).
    + intros s S. apply attention_not_negative; assumption.
    + apply attention_total; assumption.
    + intros s S E. apply gain_of_pattern; congruence.
    + intros s S E. apply (drv n l s N L S K), E.
    + exact C.
    + exact R.
    + split; [ exact a0 | apply (att n l N L K) ].
    + exact J.
Qed.

(* what holds instead of (146): each sample has its own K_n, and K(t) is their mean *)
Lemma other_components_of_the_query : forall a c, 0 < a -> 0 <= c < 1 -> orthogonal m_b M key -> other_logits_equal -> driven_by_first c -> attended_at_least a ->
  K_t d m_a m_b m slope B batch mu w = mean B (fun n => force n 0 0) /\
  forall j, (0 < j < M)%nat -> Rabs (move j) <= query_bound a c * mean B (fun n => Rabs (force n 0 0) * portion (batch n) (kind n) j).
Proof.
  intros a c a0 cr orth eqs drv att. split; [ exact (along_keys d m_a m_b m M slope B batch kind mu w patterns normal some orth 0%nat some) | ].
  intros j J. unfold move. rewrite (along_keys d m_a m_b m M slope B batch kind mu w patterns normal some orth j (proj2 J)), <- mean_scaled.
  eapply Rle_trans; [ apply mean_abs | ]. apply mean_at_most. intros n N.
  destruct (query_of_sample a c a0 cr eqs drv att n N) as (P & H). rewrite (Rabs_right (force n 0 0)) by lra. apply H. lia.
Qed.

(* keys and queries of patterns, of one length: each query has the logit L >= 0 with its own pattern and 0 with others *)
Definition features_of_one_length (L : R) : Prop := 0 <= L /\ forall i j, (i < M)%nat -> (j < M)%nat -> inner m_b (key i) (query j) = if Nat.eq_dec i j then L else 0.
(* all queries of a sample meet the same neurons, so that what drives them is their fraction times one number for each pattern *)
Definition same_neurons (g : nat -> nat -> R) : Prop := forall n s l, (n < B)%nat -> (s < size (batch n))%nat -> (l < size (batch n))%nat ->
  gain d m_a m_b m slope w (batch n) s l = share (batch n) l * g n (kind n s).
Definition first_drives (c : R) (g : nat -> nat -> R) : Prop := forall n, (n < B)%nat -> 0 <= g n 0%nat /\ forall j, (0 < j < M)%nat -> Rabs (g n j) <= c * g n 0%nat.
Definition first_fraction_at_least (a : R) : Prop := forall n, (n < B)%nat -> 0 < tokens (batch n) (kind n) 0 -> a * all_tokens (batch n) <= tokens (batch n) (kind n) 0.

Lemma key_of_sample : forall a c L g, 0 < a -> 0 <= c < 1 -> features_of_one_length L -> same_neurons g -> first_drives c g -> first_fraction_at_least a ->
  forall n, (n < B)%nat -> 0 <= force n 0 0 /\ forall k, k <> 0%nat -> Rabs (force n 0 k) <= key_bound a c (exp L) * (force n 0 0 * portion (batch n) (kind n) k).
Proof.
  intros a c L g a0 cr [L0 feat] neur drv frac n N. set (x := exp L). assert (x1 : 1 <= x) by (unfold x; assert (H := exp_at_least L); lra).
  set (p := batch n) in *. set (kd := kind n) in *. set (Sz := size p) in *.
  assert (C : forall s, (s < Sz)%nat -> 0 < count p s) by (intros s S; apply (patterns n N s S)).
  set (Sa := all_tokens p). set (S0 := tokens p kd 0). destruct (drv n N) as [g0 gc]. set (gg := g n 0%nat) in *.
  assert (S00 : 0 <= S0) by (apply total_not_negative; intros s S; apply on_below, Rlt_le, C, S).
  assert (fk : forall k, 0 <= tokens p kd k) by (intro k; apply total_not_negative; intros s S; apply on_below, Rlt_le, C, S).
  assert (le : S0 <= Sa) by (apply total_at_most; intros s S; apply on_below, Rlt_le, C, S).
  (* masses and attention *)
  assert (ms : forall l, (l < Sz)%nat -> mass d m_b w p l = Sa + (x - 1) * tokens p kd (kd l)).
  { intros l Ll. unfold mass, Sa, all_tokens, tokens. rewrite <- on_total, <- total_plus. apply total_equal. intros s S.
    unfold p. rewrite (logit_of_patterns n s l N S Ll), feat by (try apply (patterns n N s S); apply (patterns n N l Ll)). fold p kd. unfold on. destruct (Nat.eq_dec (kd s) (kd l)).
    - fold x. ring.
    - rewrite exp_0. ring. }
  assert (wt : forall l, (l < Sz)%nat -> weight Sz kd (fun s => attention d m_b w p s l) 0 =
    (if Nat.eq_dec (kd l) 0 then x else 1) * S0 / (Sa + (x - 1) * tokens p kd (kd l))).
  { intros l Ll. assert (E := ms l Ll). set (D := Sa + (x - 1) * tokens p kd (kd l)) in *. unfold weight, S0, tokens, Rdiv. rewrite <- on_total, <- total_times. apply total_equal. intros s S. unfold attention.
    rewrite E. unfold p. rewrite (logit_of_patterns n s l N S Ll), feat by (try apply (patterns n N s S); apply (patterns n N l Ll)). fold p kd. unfold on, Rdiv.
    destruct (Nat.eq_dec (kd s) 0), (Nat.eq_dec (kd s) (kd l)), (Nat.eq_dec (kd l) 0); try congruence; fold x; rewrite ?exp_0; ring. }
  assert (fs : forall l, share p l = count p l / Sa) by reflexivity.
  assert (sp : forall l, (l < Sz)%nat -> 0 < Sa /\ 0 < share p l).
  { intros l Ll. assert (0 < Sa) by (apply total_positive; [ lia | exact C ]). split; [ assumption | ]. rewrite fs. apply Rdiv_lt_0_compat; [ apply C, Ll | assumption ]. }
  (* what a query pulls on the first *)
  assert (rng : forall l, (l < Sz)%nat ->
    let A := weight Sz kd (fun s => attention d m_b w p s l) 0 in let P := total Sz (fun s => on (kd s) 0 (pull d m_a m_b m slope w p s l)) in
    share p l * (A * ((1 - A) * (1 - c) * gg)) <= P /\ 0 <= share p l * (A * ((1 - A) * (1 - c) * gg)) /\ Rabs P <= share p l * (A * ((1 - A) * (1 + c) * gg)) /\ 0 <= A <= 1).
  { intros l Ll A P. destruct (sp l Ll) as [_ s0].
    destruct (pulled_first_range Sz kd (fun s => attention d m_b w p s l) (fun s => gain d m_a m_b m slope w p s l) c (share p l * gg) cr) as ((P1 & P2) & P3).
    - apply Rmult_le_pos; lra.
    - intros s S. apply attention_not_negative; assumption.
    - apply attention_total; assumption.
    - intros s S E. unfold p. rewrite (neur n s l N S Ll). fold kd. rewrite E. reflexivity.
    - intros s S E. unfold p. rewrite (neur n s l N S Ll). fold p kd. rewrite Rabs_mult, (Rabs_right (share p l)) by lra.
      replace (c * (share p l * gg)) with (share p l * (c * gg)) by ring. apply Rmult_le_compat_l; [ lra | apply gc ]. destruct (patterns n N s S) as (_ & _ & R). fold kd in R. lia.
    - fold A in P1, P2, P3. unfold pulled_on in P2, P3. fold P in P2, P3.
      replace (A * ((1 - A) * (1 - c) * (share p l * gg))) with (share p l * (A * ((1 - A) * (1 - c) * gg))) in P1, P2 by ring.
      replace (A * ((1 - A) * (1 + c) * (share p l * gg))) with (share p l * (A * ((1 - A) * (1 + c) * gg))) in P3 by ring.
      repeat split; try assumption; apply weight_range.
      + intros s S. apply attention_not_negative; assumption.
      + apply attention_total; assumption.
      + intros s S. apply attention_not_negative; assumption.
      + apply attention_total; assumption. }
  set (Z := Sa + (x - 1) * S0). set (A0 := x * S0 / Z).
  assert (low : S0 / Sa * (A0 * ((1 - A0) * (1 - c) * gg)) <= force n 0 0).
  { unfold force, G. fold p kd Sz. unfold S0 at 1, tokens, Rdiv at 1. fold Sz. rewrite <- total_times, <- total_times. apply total_at_most. intros l Ll.
    unfold on at 1 2. destruct (Nat.eq_dec (kd l) 0) as [K|K]; [ | lra ]. destruct (rng l Ll) as (R1 & _). rewrite (wt l Ll), K in R1.
    destruct (Nat.eq_dec 0 0) as [_|X]; [ | congruence ]. exact R1. }
  assert (pos : 0 <= force n 0 0).
  { apply total_not_negative. fold p kd Sz. intros l Ll. unfold on at 1. destruct (Nat.eq_dec (kd l) 0); [ | lra ]. destruct (rng l Ll) as (R1 & R2 & _). lra. }
  split; [ exact pos | ]. intros k K0.
  set (Sk := tokens p kd k). set (Ak := S0 / (Sa + (x - 1) * Sk)).
  assert (up : Rabs (force n 0 k) <= Sk / Sa * (Ak * ((1 - Ak) * (1 + c) * gg))).
  { unfold force, G. fold p kd Sz. eapply Rle_trans; [ apply on_abs | ]. unfold Sk at 1, tokens, Rdiv at 1. fold Sz. rewrite <- total_times, <- total_times.
    apply total_at_most. intros l Ll. unfold on at 1 3. destruct (Nat.eq_dec (kd l) k) as [K|K]; [ | lra ]. destruct (rng l Ll) as (_ & _ & R3 & _).
    rewrite (wt l Ll), K in R3. destruct (Nat.eq_dec k 0) as [X|_]; [ congruence | ]. rewrite Rmult_1_l in R3. exact R3. }
  fold p kd. unfold portion. fold Sk Sa S0. assert (Sk0 := fk k). fold Sk in Sk0.
  assert (apart : Sk <= Sa - S0) by (apply (kinds_apart Sz kd k (count p) K0); intros; apply Rlt_le, C; assumption).
  assert (kb : 0 <= key_bound a c x) by (apply key_bound_not_negative; lra).
  destruct (Req_dec Sk 0) as [Z0|NZ].
  { rewrite Z0 in up |- *. unfold Rdiv in up |- *. rewrite !Rmult_0_l in up. rewrite Rmult_0_l, !Rmult_0_r. exact up. }
  assert (rest0 : 0 < Sa - S0) by lra. assert (Sa0 : 0 < Sa) by lra.
  destruct (Req_dec S0 0) as [Z0|NZ0].
  { unfold Ak in up. rewrite Z0 in up. unfold Rdiv in up. rewrite !Rmult_0_l, !Rmult_0_r in up. eapply Rle_trans; [ exact up | ].
    apply Rmult_le_pos; [ exact kb | apply Rmult_le_pos; [ exact pos | ] ]. apply Rmult_le_pos; [ exact Sk0 | apply Rlt_le, Rinv_0_lt_compat, rest0 ]. }
  assert (S0p : 0 < S0) by lra. assert (fr := frac n N S0p). fold p kd Sa S0 in fr.
  assert (xS : 0 <= (x - 1) * Sk) by (apply Rmult_le_pos; lra). assert (xS0 : 0 <= (x - 1) * S0) by (apply Rmult_le_pos; lra).
  assert (Z0 : 0 < Z) by (unfold Z; lra). assert (Zx : Z <= (1 + x) * Sa).
  { unfold Z. assert ((x - 1) * S0 <= (x - 1) * Sa) by (apply Rmult_le_compat_l; lra). lra. }
  assert (Akf : 0 <= Ak <= S0 / Sa).
  { unfold Ak. split; [ apply Rlt_le, Rdiv_lt_0_compat; lra | ]. unfold Rdiv. apply Rmult_le_compat_l; [ lra | apply Rinv_le_contravar; lra ]. }
  assert (f1 : S0 / Sa <= 1) by (apply Rmult_le_reg_r with Sa; [ lra | replace (S0 / Sa * Sa) with S0 by (field; lra); lra ]).
  eapply Rle_trans; [ exact up | ].
  apply Rle_trans with (Sk / Sa * (S0 / Sa * (1 * (1 + c) * gg))).
  { apply Rmult_le_compat_l; [ apply Rmult_le_pos; [ lra | apply Rlt_le, Rinv_0_lt_compat, Sa0 ] | ].
    apply Rmult_le_compat; [ lra | apply Rmult_le_pos; [ apply Rmult_le_pos; lra | lra ] | lra | ]. apply Rmult_le_compat_r; [ lra | ]. apply Rmult_le_compat_r; lra. }
  apply Rle_trans with (key_bound a c x * (S0 / Sa * (A0 * ((1 - A0) * (1 - c) * gg)) * (Sk / (Sa - S0)))).
  2:{ apply Rmult_le_compat_l; [ exact kb | ]. apply Rmult_le_compat_r; [ | exact low ]. apply Rlt_le, Rdiv_lt_0_compat; lra. }
  assert (E : key_bound a c x * (S0 / Sa * (A0 * ((1 - A0) * (1 - c) * gg)) * (Sk / (Sa - S0))) =
    Sk / Sa * (S0 / Sa * (1 * (1 + c) * gg)) * (((1 + x) * Sa) ^ 2 * S0 / (a * Sa * Z ^ 2))).
  { rewrite key_bound_is by lra. unfold A0. replace (1 - x * S0 / Z) with ((Sa - S0) / Z) by (unfold Z; field; unfold Z in Z0; lra). field. repeat split; lra. }
  rewrite E. rewrite <- (Rmult_1_r (Sk / Sa * (S0 / Sa * (1 * (1 + c) * gg)))) at 1. apply Rmult_le_compat_l.
  { apply Rmult_le_pos; [ apply Rlt_le, Rdiv_lt_0_compat; lra | ]. apply Rmult_le_pos; [ lra | ]. apply Rmult_le_pos; lra. }
  apply Rmult_le_reg_r with (a * Sa * Z ^ 2); [ apply Rmult_lt_0_compat; [ apply Rmult_lt_0_compat; lra | apply pow_lt, Z0 ] | ].
  replace (((1 + x) * Sa) ^ 2 * S0 / (a * Sa * Z ^ 2) * (a * Sa * Z ^ 2)) with (S0 * ((1 + x) * Sa) ^ 2) by (field; split; lra).
  rewrite Rmult_1_l. apply Rmult_le_compat; [ apply Rmult_le_pos; lra | apply pow2_ge_0 | exact fr | apply pow_incr; lra ].
Qed.

(* what holds instead of (164) *)
Lemma other_components_of_the_key : forall a c L g, 0 < a -> 0 <= c < 1 -> orthogonal m_b M query -> features_of_one_length L -> same_neurons g ->
  first_drives c g -> first_fraction_at_least a ->
  Q_t d m_a m_b m slope B batch mu w = mean B (fun n => force n 0 0) /\
  forall k, (0 < k < M)%nat -> Rabs (gamma d m_a m_b m slope B batch mu w k) <= key_bound a c (exp L) * mean B (fun n => Rabs (force n 0 0) * portion (batch n) (kind n) k).
Proof.
  intros a c L g a0 cr orth feat neur drv frac. split; [ exact (along_queries d m_a m_b m M slope B batch kind mu w patterns normal some orth 0%nat some) | ].
  intros k K. rewrite (along_queries d m_a m_b m M slope B batch kind mu w patterns normal some orth k (proj2 K)), <- mean_scaled.
  eapply Rle_trans; [ apply mean_abs | ]. apply mean_at_most. intros n N.
  destruct (key_of_sample a c L g a0 cr feat neur drv frac n N) as (P & H). rewrite (Rabs_right (force n 0 0)) by lra. apply H. lia.
Qed.
End batches.
