From Coq Require Import Lia.
From Odesys Require Import sequences.

(* v_mu and v i are the mean values along mu and along y_i xi_i, which grow by 2 eta |mu| and 2 eta |xi_i|_1 in a step
   (Eq. (14), (15)) and start within 1/2 (Lemma C.7); size is sigma_p s, at least |mu| and all |xi_i|_1, at least e. The
   margin of a sample is (s_11 + s_21) v_mu + (s_12 + s_22) v_i, whose softmax weights a, b are not negative and add up to
   2. With m_k >= log(sigma_p s)^2 and C_3 >= 1 the loss over n samples at t = T_4 is between two positive constants. *)
Lemma total_at_least_constant : forall n f c, (forall k, (k < n)%nat -> c <= f k) -> INR n * c <= total n f.
Proof. intros n f c H. rewrite <- total_constant. apply total_at_most. exact H. Qed.

Lemma total_at_most_constant : forall n f c, (forall k, (k < n)%nat -> f k <= c) -> total n f <= INR n * c.
Proof. intros n f c H. rewrite <- total_constant. apply total_at_most. exact H. Qed.

Lemma softplus_increasing : forall x y, x <= y -> softplus x <= softplus y.
Proof.
  intros x y H. unfold softplus. assert (P := exp_pos x). assert (E : exp x <= exp y).
  { destruct H as [H|H]; [ apply Rlt_le, exp_increasing; exact H | subst; lra ]. }
  destruct (Rle_lt_or_eq_dec _ _ E) as [L|L]; [ apply Rlt_le, ln_increasing; lra | rewrite L; lra ].
Qed.

Lemma time_is_bounded : forall C_3 m_k eta size, 1 <= C_3 -> 0 < eta -> exp 1 <= size -> ln size ^ 2 <= m_k ->
  T_4 C_3 m_k eta size * (eta * size) <= C_3 ^ 2.
Proof.
  intros C_3 m_k eta size C E HS K.
  assert (X : 2 <= exp 1) by (assert (L := exp_at_least 1); lra).
  assert (L1 : 1 <= ln size).
  { rewrite <- (ln_exp 1). destruct HS as [HS|HS]; [ apply Rlt_le, ln_increasing; lra | rewrite HS; lra ]. }
  assert (LC : ln C_3 <= C_3 - 1).
  { assert (G := exp_at_least (ln C_3)). rewrite exp_ln in G by lra. lra. }
  assert (LS : ln (C_3 * size) <= C_3 * ln size) by (rewrite ln_mult by lra; nra).
  assert (RK : ln size <= sqrt m_k).
  { rewrite <- (sqrt_pow2 (ln size)) by lra. apply sqrt_le_1_alt. exact K. }
  assert (Q : T_4 C_3 m_k eta size * (eta * size) = C_3 * (ln (C_3 * size) / sqrt m_k)) by (unfold T_4; field; repeat split; lra).
  rewrite Q. simpl. rewrite Rmult_1_r. apply Rmult_le_compat_l; [ lra | ].
  apply Rmult_le_reg_r with (sqrt m_k); [ lra | ]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra.
Qed.

Theorem loss_is_between_constants :
  forall (n : nat) (v_mu : nat -> R) (v : nat -> nat -> R) (a b norm : nat -> R) (C_3 m_k eta mu size : R) (t : nat),
  (0 < n)%nat -> 1 <= C_3 -> 0 < eta -> 0 < mu -> mu <= size -> exp 1 <= size -> ln size ^ 2 <= m_k ->
  (forall k, v_mu (S k) = v_mu k + 2 * eta * mu) -> Rabs (v_mu 0%nat) <= 1 / 2 ->
  (forall i, (i < n)%nat -> (forall k, v i (S k) = v i k + 2 * eta * norm i) /\ Rabs (v i 0%nat) <= 1 / 2 /\
    0 <= norm i <= size /\ 0 <= a i /\ 0 <= b i /\ a i + b i = 2) ->
  INR t <= T_4 C_3 m_k eta size ->
  0 < softplus (- margin C_3) /\
  softplus (- margin C_3) <= total n (fun i => softplus (- (a i * v_mu t + b i * v i t))) / INR n <= softplus 1.
Proof.
  intros n v_mu v a b norm C_3 m_k eta mu size t N C E M MS HS K step0 start0 samples time.
  assert (B := time_is_bounded C_3 m_k eta size C E HS K). assert (T := pos_INR t).
  assert (X : 0 < size) by (assert (P := exp_pos 1); lra).
  assert (U : INR t * (eta * size) <= C_3 ^ 2).
  { eapply Rle_trans; [ | exact B ]. apply Rmult_le_compat_r; [ apply Rmult_le_pos; lra | exact time ]. }
  assert (H0 : forall (x : nat -> R) h, 0 <= h <= size -> (forall k, x (S k) = x k + 2 * eta * h) ->
    Rabs (x 0%nat) <= 1 / 2 -> - (1 / 2) <= x t <= 1 / 2 + 2 * C_3 ^ 2).
  { intros x h [L1 L2] step start. rewrite (steps_equal x (2 * eta * h) step t). apply within in start.
    assert (0 <= INR t * (eta * h) <= INR t * (eta * size)).
    { split; [ repeat apply Rmult_le_pos; lra | ]. apply Rmult_le_compat_l; [ exact T | ].
      apply Rmult_le_compat_l; lra. }
    lra. }
  assert (V0 := H0 v_mu mu (conj (Rlt_le _ _ M) MS) step0 start0).
  assert (margins : forall i, (i < n)%nat -> -1 <= a i * v_mu t + b i * v i t <= margin C_3).
  { intros i I. destruct (samples i I) as (step & start & size1 & A1 & B1 & S1).
    assert (V1 := H0 (v i) (norm i) size1 step start). unfold margin.
    replace (b i) with (2 - a i) by lra. assert (a i <= 2) by lra. split; nra. }
  assert (PN : 0 < INR n) by (apply lt_0_INR; exact N).
  split; [ | split ].
  - unfold softplus. rewrite <- ln_1. assert (P := exp_pos (- margin C_3)). apply ln_increasing; lra.
  - apply Rmult_le_reg_r with (INR n); [ exact PN | ]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_comm by lra.
    apply total_at_least_constant. intros i I. apply softplus_increasing. assert (G := margins i I). lra.
  - apply Rmult_le_reg_r with (INR n); [ exact PN | ]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_comm by lra.
    rewrite Rmult_comm, (Rmult_comm _ (INR n)).
    apply total_at_most_constant. intros i I. apply softplus_increasing. assert (G := margins i I). lra.
Qed.
