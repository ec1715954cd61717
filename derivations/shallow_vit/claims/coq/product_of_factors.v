From Odesys Require Import sequences.

Fixpoint product (n : nat) (f : nat -> R) : R := match n with O => 1 | S k => product k f * f k end.

Lemma one_factor : forall K, 0 <= K <= 1 -> exp (K / 4) <= sqrt (1 + K).
Proof.
  intros K H. assert (A := exp_at_least (- (K / 2))). rewrite exp_Ropp in A. assert (P := exp_pos (K / 2)).
  assert (B : exp (K / 2) <= 1 + K).
  { apply Rmult_le_compat_l with (r := exp (K / 2)) in A; [ | lra ]. rewrite Rinv_r in A by lra. nra. }
  assert (C : exp (K / 4) * exp (K / 4) = exp (K / 2)) by (rewrite <- exp_plus; f_equal; field).
  rewrite <- (sqrt_square (exp (K / 4))) by (apply Rlt_le, exp_pos). apply sqrt_le_1_alt. lra.
Qed.

(* K(b) in [0, 1] for b < n, and their sum at most s, which is bounded where eta T is; |q(0)| = 1 *)
Theorem product_and_exponential : forall (n : nat) (K : nat -> R) (s : R),
  (forall b, (b < n)%nat -> 0 <= K b <= 1) -> total n K <= s ->
  kept s * exp (total n K) <= product n (fun b => sqrt (1 + K b)) /\
  share * total n K <= product n (fun b => sqrt (1 + K b)) /\ total n K <= exp (total n K).
Proof.
  intros n K s H B.
  assert (A : exp (total n K / 4) <= product n (fun b => sqrt (1 + K b))).
  { clear B. induction n as [|n E]; [ simpl; replace (0 / 4) with 0 by field; rewrite exp_0; lra | simpl ].
    replace ((total n K + K n) / 4) with (total n K / 4 + K n / 4) by field. rewrite exp_plus.
    apply Rmult_le_compat; [ apply Rlt_le, exp_pos | apply Rlt_le, exp_pos | | apply one_factor, H, Nat.lt_succ_diag_r ].
    apply E. intros b L. apply H. apply Nat.lt_lt_succ_r, L. }
  repeat split.
  - eapply Rle_trans; [ | exact A ]. replace (kept s) with (exp (- (3 / 4 * s))).
    + rewrite <- exp_plus. assert (L : - (3 / 4 * s) + total n K <= total n K / 4) by lra.
      destruct L as [L|L]; [ apply Rlt_le, exp_increasing, L | rewrite L; lra ].
    + unfold kept. rewrite <- ?exp_Ropp. f_equal; field.
  - eapply Rle_trans; [ | exact A ]. assert (G := exp_at_least (total n K / 4)). unfold share. lra.
  - assert (G := exp_at_least (total n K)). lra.
Qed.
