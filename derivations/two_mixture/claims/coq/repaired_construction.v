(* the heads with opposite signs, and w of both is the sum of all c_k; f is that of Eq. (1), with ReLU and the bias b *)
Definition by_groups (K : nat) (x : word) : R := total K (fun k => along_c k x).
Definition relu (x : R) : R := step x * x.
Definition repaired_f (K : nat) (C b : R) (X : list word) : R := relu (head K (by_groups K) (- (1)) C X + b) - relu (head K (by_groups K) 1 C X + b).

Lemma value_of_group : forall K j, (j < K)%nat -> by_groups K (group j) = 1.
Proof.
  intros K j L. unfold by_groups. rewrite (only K _ j L).
  - apply (along_own j true).
  - intros i _ D. apply (along_other i j true). congruence.
Qed.

Lemma value_of_signal : forall K p j, by_groups K (signal p j) = 0.
Proof. intros K p j. unfold by_groups. rewrite (total_equal K _ (fun _ => 0)) by (intros; reflexivity). apply none. Qed.

Lemma not_negative : forall K x, 0 <= by_groups K x.
Proof.
  intros K x. unfold by_groups. replace 0 with (total K (fun _ => 0)) by apply none. apply total_at_most. intros i _. destruct x as [j|p j]; simpl; [ | lra ].
  destruct (Nat.eqb j i); lra.
Qed.

Lemma head_not_negative : forall K s C X, 0 <= head K (by_groups K) s C X.
Proof.
  intros K s C X. unfold head. destruct X as [|x X]; [ simpl; lra | ]. apply over_not_negative. intro q. unfold row, Rdiv. apply Rmult_le_pos.
  - apply over_not_negative. intro z. apply Rmult_le_pos; [ apply Rlt_le, exp_pos | apply not_negative ].
  - apply Rlt_le, Rinv_0_lt_compat, over_positive; [ congruence | intro z; apply exp_pos ].
Qed.

(* Lemma 6.1: y f > 0 on every sample, for every K, L, b > 0 and C > 0 *)
Theorem solves_every_mixture : forall K k y C b others X, 0 < C -> 0 < b -> drawn K k y others X -> 0 < sign y * repaired_f K C b X.
Proof.
  intros K k y C b others X P B D. unfold repaired_f, relu.
  assert (Z1 := head_not_negative K 1 C X). assert (Z2 := head_not_negative K (- (1)) C X). rewrite !step_on by lra. clear Z1 Z2.
  assert (M := heads_differ_by_the_group K (by_groups K) 1 C _ _ _ _ D).
  rewrite !(row_of_group _ _ _ _ _ _ _ _ D) in M. destruct D as (L & _ & O).
  rewrite value_of_group, value_of_signal in M by exact L.
  rewrite (over_equal others (by_groups K) (fun _ => 0)) in M by (intros x I; destruct (O x I) as (p & j & E & _); rewrite E; apply value_of_signal).
  assert (Z : forall A : list word, over A (fun _ => 0) = 0) by (induction A as [|a A E]; simpl; [ reflexivity | rewrite E; ring ]). rewrite Z in M. clear Z.
  set (low := head K (by_groups K) 1 C X) in *. set (high := head K (by_groups K) (- (1)) C X) in *.
  replace (1 * (high + b) - 1 * (low + b)) with (- (low - high)) by ring. rewrite M. clear M low high.
  assert (U := exp_pos C). assert (N := pos_INR (length others)). set (n := INR (length others)) in *. set (u := exp C) in *.
  assert (G := exp_increasing (- (2 * C)) (2 * C) ltac:(lra)). assert (A := exp_pos (- (2 * C))).
  assert (final : forall a c, 0 < a -> a < c -> 0 < (u * 1 + a * 0 + 0) / (u + a + n) - (u * 1 + c * 0 + 0) / (u + c + n)).
  { intros a c a0 ac. replace ((u * 1 + a * 0 + 0) / (u + a + n) - (u * 1 + c * 0 + 0) / (u + c + n)) with (u * (c - a) * / ((u + a + n) * (u + c + n))) by (field; lra).
    apply Rmult_lt_0_compat; [ apply Rmult_lt_0_compat; lra | ]. apply Rinv_0_lt_compat, Rmult_lt_0_compat; lra. }
  destruct y; simpl sign.
  - replace (2 * 1 * C * 1) with (2 * C) by ring. replace (2 * - (1) * C * 1) with (- (2 * C)) by ring. assert (F := final _ _ A G). lra.
  - replace (2 * 1 * C * -1) with (- (2 * C)) by ring. replace (2 * - (1) * C * -1) with (2 * C) by ring. assert (F := final _ _ A G). lra.
Qed.

(* Lemma 6.1 of weights: whatever the orthonormal vectors and b > 0 are, there are w, W_K and W_Q of both heads of Eq. (1) with y f > 0 on every sample *)
Theorem weights_exist : forall d K c v b, orthonormal d K c v -> 0 < b -> exists m w_p W_K_p W_Q_p w_m W_K_m W_Q_m, forall k y others X, drawn K k y others X ->
  0 < sign y * (relu (head_of_weights d m w_p W_K_p W_Q_p c v X + b) - relu (head_of_weights d m w_m W_K_m W_Q_m c v X + b)).
Proof.
  intros d K c v b N B. set (w := fun a => total K (fun j => c j a)).
  exists (2 * K)%nat, w, (rows_K K c v (- (1)) 1), (rows_Q K c v), w, (rows_K K c v 1 1), (rows_Q K c v). intros k y others X D. assert (G := drawn_of_group K k y others X D).
  assert (W : forall x, of_group K x -> inner d w (vector c v x) = by_groups K x).
  { intros x O. unfold w. rewrite inner_of_total. apply total_equal. intros j J. apply (along_vectors d K c v N j x J O). }
  rewrite !(head_is_head d K c v N _ 1 _ (by_groups K) X G W). apply (solves_every_mixture K k y 1 b others X Rlt_0_1 B D).
Qed.
