From Coq Require Import Lia.
From Odesys Require Import sequences.

Lemma total_but_one : forall n f i b, (i < n)%nat -> (forall k, (k < n)%nat -> f k <= b) -> total n f <= f i + (INR n - 1) * b.
Proof.
  induction n as [|n E]; intros f i b I H; [ lia | rewrite S_INR; simpl ]. destruct (Nat.eq_dec i n) as [->|D].
  - assert (T : total n f <= total n (fun _ => b)) by (apply total_at_most; intros; apply H; lia).
    rewrite total_constant in T. lra.
  - assert (T := E f i b ltac:(lia) ltac:(intros; apply H; lia)). assert (B := H n ltac:(lia)). lra.
Qed.

Lemma total_but_one_low : forall n f i b, (i < n)%nat -> (forall k, (k < n)%nat -> b <= f k) -> f i + (INR n - 1) * b <= total n f.
Proof.
  intros n f i b I H. assert (T := total_but_one n (fun k => -1 * f k) i (- b) I).
  rewrite total_scaled in T. assert (A : forall k, (k < n)%nat -> -1 * f k <= - b) by (intros k K; assert (X := H k K); lra).
  specialize (T A). lra.
Qed.

(* M scores z of size at most a: every weight of softmax is between low and high *)
Theorem weights_are_between : forall (M : nat) (z : nat -> R) (a : R) (i : nat),
  (i < M)%nat -> 0 <= a -> (forall k, (k < M)%nat -> Rabs (z k) <= a) ->
  low (INR M) a <= exp (z i) / total M (fun k => exp (z k)) <= high (INR M) a.
Proof.
  intros M z a i I A H.
  assert (B : forall k, (k < M)%nat -> exp (- a) <= exp (z k) <= exp a).
  { intros k K. assert (W := within _ _ (H k K)).
    assert (mono : forall x y, x <= y -> exp x <= exp y).
    { intros x y [L|L]; [ apply Rlt_le, exp_increasing, L | subst; lra ]. }
    split; apply mono; lra. }
  assert (U := total_but_one M (fun k => exp (z k)) i (exp a) I (fun k K => proj2 (B k K))).
  assert (L := total_but_one_low M (fun k => exp (z k)) i (exp (- a)) I (fun k K => proj1 (B k K))).
  cbv beta in U, L. set (Z := total M (fun k => exp (z k))) in *. set (e := exp (z i)) in *. assert (E := B i I). fold e in E.
  assert (P := exp_pos a). assert (Q := exp_pos (- a)).
  assert (O : exp a * exp (- a) = 1) by (rewrite exp_Ropp; field; lra).
  assert (D : exp (2 * a) = exp a * exp a) by (rewrite <- exp_plus; f_equal; ring).
  assert (F : exp (- (2 * a)) = exp (- a) * exp (- a)) by (rewrite <- exp_plus; f_equal; ring).
  assert (N : 1 <= INR M) by (apply (le_INR 1); lia).
  set (n := INR M - 1) in *. assert (NN : 0 <= n) by (unfold n; lra).
  assert (ZP : 0 < Z) by nra.
  assert (LOW : low (INR M) a = / (1 + n * exp (2 * a))) by (unfold low, n; rewrite D; field; rewrite <- ?D; nra).
  assert (HIGH : high (INR M) a = / (1 + n * exp (- (2 * a)))).
  { unfold high, n. rewrite ?F. repeat rewrite exp_Ropp in *. rewrite ?D in *. field. repeat split; nra. }
  rewrite LOW, HIGH. split.
  - apply Rmult_le_reg_r with (Z * (1 + n * exp (2 * a))); [ apply Rmult_lt_0_compat; [ exact ZP | rewrite D; nra ] | ].
    replace (/ (1 + n * exp (2 * a)) * (Z * (1 + n * exp (2 * a)))) with Z by (field; rewrite D; nra).
    replace (e / Z * (Z * (1 + n * exp (2 * a)))) with (e * (1 + n * exp (2 * a))) by (field; lra).
    rewrite D. assert (n * exp a <= n * (e * exp a * exp a)) by (apply Rmult_le_compat_l; [ exact NN | nra ]). nra.
  - apply Rmult_le_reg_r with (Z * (1 + n * exp (- (2 * a)))); [ apply Rmult_lt_0_compat; [ exact ZP | rewrite F; nra ] | ].
    replace (/ (1 + n * exp (- (2 * a))) * (Z * (1 + n * exp (- (2 * a))))) with Z by (field; rewrite F; nra).
    replace (e / Z * (Z * (1 + n * exp (- (2 * a))))) with (e * (1 + n * exp (- (2 * a)))) by (field; lra).
    rewrite F. assert (n * (e * exp (- a) * exp (- a)) <= n * exp (- a)) by (apply Rmult_le_compat_l; [ exact NN | nra ]). nra.
Qed.
