From Coq Require Import Lia.
From Odesys Require Import sequences.

(* x is sgn(k(T_4^-)) k along y_i xi_i of an unaligned key, h is eta (2/pi)^(1/2) sigma_p s, and a step moves x by h up
   to a share e, which is of the order s^(-1/2) (Eq. (9), Lemma C.4). T is T_4^- and F is (1 + theta_c) T_4^-. Up to T it
   is at most T h (1 + e) (Remark E.28), and from F on it falls in each step (D(t)). *)
Theorem after_the_flip : forall (x : nat -> R) (h e : R) (T F : nat),
  0 < h -> 0 <= e -> (T <= F)%nat -> x T <= INR T * h * (1 + e) ->
  (forall k, (T <= k)%nat -> (k < F)%nat -> Rabs (x (S k) - x k) <= h * (1 + e)) ->
  (forall k, (F <= k)%nat -> x (S k) <= x k - h * (1 - e)) ->
  forall t, (F <= t)%nat -> x t <= bound (INR F) (INR t) h e.
Proof.
  intros x h e T F H He TF start moves falls t late.
  assert (A : forall j, (T + j <= F)%nat -> x (T + j)%nat <= INR (T + j) * h * (1 + e)).
  { induction j as [|j IH]; intro L; [ rewrite Nat.add_0_r; exact start | ].
    rewrite Nat.add_succ_r. assert (I := IH ltac:(lia)).
    assert (M := within _ _ (moves (T + j)%nat ltac:(lia) ltac:(lia))). rewrite S_INR. lra. }
  assert (B : forall j, x (F + j)%nat <= INR F * h * (1 + e) - INR j * (h * (1 - e))).
  { induction j as [|j IH]; [ rewrite Nat.add_0_r; simpl | ].
    - replace F with (T + (F - T))%nat at 1 2 by lia. eapply Rle_trans; [ apply A; lia | ].
      replace (T + (F - T))%nat with F by lia. lra.
    - rewrite Nat.add_succ_r, S_INR. assert (C := falls (F + j)%nat ltac:(lia)). lra. }
  assert (C := B (t - F)%nat). replace (F + (t - F))%nat with t in C by lia.
  rewrite minus_INR in C by lia. assert (P := pos_INR F). assert (Q := pos_INR t). unfold bound.
  assert (0 <= INR t * (h * e)) by (apply Rmult_le_pos; [ exact Q | apply Rmult_le_pos; lra ]). nra.
Qed.
