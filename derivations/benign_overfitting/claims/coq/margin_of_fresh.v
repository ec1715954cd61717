From Coq Require Import Lia.
From Odesys Require Import sequences.

(* M rows of attention on a fresh sample: p l on the signal, with the value V_+ >= 0, and the rest r l of a row is a mean of
   noise values, at most 1 in size (D.9); the row of the signal has p >= 1/(2M) (D.8). Lemma 5.4 at T_3 is the premise on
   V_+, and L = log(6N^2M^2/delta) is at most eps^(-1/2). *)
Theorem margin : forall (M : nat) (p r : nat -> R) (V eps L C : R),
  (0 < M)%nat -> 0 < eps -> 1 <= C -> 0 < L -> L * sqrt eps <= 1 ->
  (forall l, (l < M)%nat -> 0 <= p l /\ Rabs (r l) <= 1) -> 1 / (2 * INR M) <= p 0%nat -> 0 <= V -> ln (C / (eps * L)) <= V ->
  ln (C / eps) / constant (INR M) - 1 <= total M (fun l => p l * V + r l) / INR M.
Proof.
  intros M p r V eps L C HM E HC HL small rows own HV value.
  assert (N : 1 <= INR M) by (apply (le_INR 1); lia).
  assert (SQ := sqrt_sqrt eps (Rlt_le _ _ E)). assert (Q := sqrt_lt_R0 eps E).
  assert (mono : forall a b, 0 < a -> a <= b -> ln a <= ln b).
  { intros a b HA [X|X]; [ apply Rlt_le, ln_increasing; assumption | subst; lra ]. }
  assert (B : ln (C / eps) / 2 <= V).
  { eapply Rle_trans; [ | exact value ].
    assert (P : 0 < C / eps) by (unfold Rdiv; pos). assert (R0 : 0 < C / sqrt eps) by (unfold Rdiv; pos).
    apply Rle_trans with (ln (C / sqrt eps)).
    - assert (T : ln (C / eps) <= ln (C / sqrt eps * (C / sqrt eps))).
      { apply mono; [ exact P | ]. replace (C / sqrt eps * (C / sqrt eps)) with (C * C / (sqrt eps * sqrt eps)) by (field; lra).
        rewrite SQ. unfold Rdiv. apply Rmult_le_compat_r; [ apply Rlt_le, Rinv_0_lt_compat, E | nra ]. }
      rewrite ln_mult in T by exact R0. lra.
    - apply mono; [ exact R0 | ]. unfold Rdiv. apply Rmult_le_compat_l; [ lra | ].
      apply Rinv_le_contravar; [ apply Rmult_lt_0_compat; assumption | ].
      replace (eps * L) with (sqrt eps * (L * sqrt eps)) by (rewrite <- SQ at 3; ring). nra. }
  assert (T : p 0%nat * V - INR M <= total M (fun l => p l * V + r l)).
  { destruct M as [|n]; [ lia | ]. clear N.
    assert (A : forall k, (k <= n)%nat -> p 0%nat * V - INR (S k) <= total (S k) (fun l => p l * V + r l)).
    { induction k as [|k IH]; intro K.
      - simpl. destruct (rows 0%nat ltac:(lia)) as [_ W]. apply within in W. lra.
      - change (total (S (S k)) (fun l => p l * V + r l)) with (total (S k) (fun l => p l * V + r l) + (p (S k) * V + r (S k))).
        assert (X := IH ltac:(lia)). destruct (rows (S k) ltac:(lia)) as [Y W]. apply within in W. rewrite (S_INR (S k)). nra. }
    apply A. lia. }
  assert (U : ln (C / eps) / constant (INR M) <= V / (2 * INR M ^ 2)).
  { unfold constant. match goal with |- ln ?x / ?y <= _ => replace (ln x / y) with (ln x / 2 / (2 * INR M ^ 2)) by (field; lra) end.
    unfold Rdiv at 1. unfold Rdiv at 3. apply Rmult_le_compat_r; [ apply Rlt_le, Rinv_0_lt_compat; nra | exact B ]. }
  assert (W : V / (2 * INR M ^ 2) - 1 <= total M (fun l => p l * V + r l) / INR M).
  { apply Rmult_le_reg_r with (INR M); [ lra | ].
    replace ((V / (2 * INR M ^ 2) - 1) * INR M) with (1 / (2 * INR M) * V - INR M) by (field; lra).
    replace (total M (fun l => p l * V + r l) / INR M * INR M) with (total M (fun l => p l * V + r l)) by (field; lra). nra. }
  lra.
Qed.
