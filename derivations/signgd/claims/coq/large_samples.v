From Coq Require Import Lia.
From Odesys Require Import sequences.

(* Condition 3.1 as far as it is used here: d is at least n^9, s at least k d^(1/2) n^(-2), and log(12 m_k n/delta) at most p log n, for constants k and p *)
Definition condition (k : R) (p : nat) (n d s m_k delta : R) : Prop :=
  1 <= n /\ n ^ 9 <= d /\ k * sqrt d * / n ^ 2 <= s /\ logarithm n m_k delta <= INR p * ln n.
Definition root_of_log (n m_k delta : R) : R := sqrt (logarithm n m_k delta).

(* for n = z^4 the logarithm is at most 4 p z, and s at least k z^10 *)
Lemma powers : forall k p n d s m_k delta, 0 < k -> condition k p n d s m_k delta -> let z := sqrt (sqrt n) in
  n = z ^ 4 /\ 1 <= z /\ root_of_log n m_k delta ^ 2 <= 4 * INR p * z /\ k * z ^ 10 <= s.
Proof.
  intros k p n d s m_k delta K (N & D & S & P) z. assert (n0 : 0 <= n) by lra.
  assert (Z1 : 1 <= z) by (unfold z; rewrite <- sqrt_1; apply sqrt_le_1_alt; rewrite <- sqrt_1; apply sqrt_le_1_alt, N).
  assert (Z : n = z ^ 4).
  { unfold z. replace (sqrt (sqrt n) ^ 4) with ((sqrt (sqrt n) * sqrt (sqrt n)) * (sqrt (sqrt n) * sqrt (sqrt n))) by ring.
    rewrite !sqrt_sqrt; [ reflexivity | exact n0 | apply sqrt_pos ]. }
  split; [ exact Z | split; [ exact Z1 | split ] ].
  - assert (I := pos_INR p). assert (L : logarithm n m_k delta <= 4 * INR p * z).
    { eapply Rle_trans; [ exact P | ]. rewrite Z, ln_pow by lra. assert (E := exp_at_least (ln z)). rewrite exp_ln in E by lra.
      replace (INR 4) with 4 by (simpl; ring). nra. }
    unfold root_of_log. destruct (Rle_dec 0 (logarithm n m_k delta)) as [H|H].
    + replace (sqrt (logarithm n m_k delta) ^ 2) with (sqrt (logarithm n m_k delta) * sqrt (logarithm n m_k delta)) by ring. rewrite sqrt_sqrt by exact H. exact L.
    + rewrite sqrt_neg_0 by lra. assert (0 <= INR p * z) by (apply Rmult_le_pos; lra). lra.
  - eapply Rle_trans; [ | exact S ]. rewrite Rmult_assoc. apply Rmult_le_compat_l; [ lra | ].
    assert (Q : z ^ 18 <= sqrt d).
    { rewrite <- (sqrt_pow2 (z ^ 18)) by (apply pow_le; lra). apply sqrt_le_1_alt. rewrite <- pow_mult. rewrite Z, <- pow_mult in D. exact D. }
    assert (z8 : 0 < z ^ 8) by (apply pow_lt; lra). rewrite Z, <- pow_mult. simpl (4 * 2)%nat.
    apply Rmult_le_reg_r with (z ^ 8); [ exact z8 | ]. rewrite Rmult_assoc, Rinv_l by lra. replace (z ^ 10 * z ^ 8) with (z ^ 18) by ring. lra.
Qed.

Lemma root_above : forall A n, 0 <= A -> (A + 1) ^ 4 <= n -> A + 1 <= sqrt (sqrt n).
Proof.
  intros A n HA H. replace (A + 1) with (sqrt (sqrt ((A + 1) ^ 4))).
  - apply sqrt_le_1_alt, sqrt_le_1_alt, H.
  - replace ((A + 1) ^ 4) with (((A + 1) ^ 2) ^ 2) by ring. rewrite sqrt_pow2 by (apply pow_le; lra). apply sqrt_pow2. lra.
Qed.
